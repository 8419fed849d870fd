// SPDX-License-Identifier: BSD-3-Clause
// What puts a back end together. This folder alone knows every feature.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

// "Sumac 0.1.0  openmpi  avx3": what is active in this process.
const char* description();

// Fills `options` and applies what the whole process shares: once, when the process's first MPI
// call starts the back end. One rule for every bad value: the default is used, and the job is
// warned once. The warnings are kept until this process's rank is known (observe/log.h).
void read_settings();

// MPI_Init, MPI_Finalize and what ends communicators.
void redirect_life_cycle(const sumac_stub& stub);
// The collectives.
void redirect_collectives(const sumac_stub& stub);

}  // namespace sumac
