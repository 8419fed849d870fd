// SPDX-License-Identifier: BSD-3-Clause
// Options, and the processors that other ranks leave to this process, say how many of its threads
// large reductions may use.
#pragma once

#include <vector>

#include "team/hello.h"

namespace sumac {

// Applies SUMAC_THREADS and the options that belong to it. Warns of a value without meaning.
void read_thread_options(const sumac_options& options);

// Guesses what one process knows by itself: by its own processors and the launcher's word.
void guess_processors();

// Learns it from what the ranks of this machine have told each other; this one is at `place`.
void learn_processors(const std::vector<Hello>& machine, std::size_t place);

}  // namespace sumac
