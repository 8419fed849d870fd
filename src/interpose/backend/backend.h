// SPDX-License-Identifier: BSD-3-Clause
// This header puts a back end together. This folder alone knows every feature.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

// Returns what is active in this process: "Sumac 0.1.0  openmpi  avx3".
const char* description();

// Fills `options` from the environment and the site's files, and applies what the process shares.
// Must be called once, when the process's first MPI call starts the back end. One rule holds for
// every bad value: the default is used, and the job is warned once. The warnings are kept until
// this process's rank is known (observe/log.h).
void read_settings(const sumac_site* site);

// Puts functions before MPI_Init, MPI_Finalize and the calls that end communicators.
void redirect_life_cycle(const sumac_stub& stub);
// Puts functions before the collectives.
void redirect_collectives(const sumac_stub& stub);

}  // namespace sumac
