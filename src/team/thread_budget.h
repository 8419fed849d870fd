// SPDX-License-Identifier: BSD-3-Clause
// How many threads of this process large reductions may use: by options, and by the processors that
// other ranks leave to it.
#pragma once

#include <vector>

#include "team/hello.h"

namespace sumac {

// Applies SUMAC_THREADS and the options that belong to it; warns of a value without meaning.
void read_thread_options(const sumac_options& options);

// As far as one process knows by itself: by its own processors and the launcher's word.
void guess_processors();

// From what the ranks of a communicator have told each other.
void learn_processors(const std::vector<Hello>& hellos, int rank);

}  // namespace sumac
