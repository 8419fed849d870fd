// SPDX-License-Identifier: BSD-3-Clause
// In tests of decisions and of communicators, this is what is below and beside them: an MPI of one
// process, whose handles are numbers, and the rest of a back end.
#pragma once

#include <cstdint>

#include "interpose/mpi/type_info.h"
#include "rules/choice_table.h"

namespace sumac {

// Handles of predefined types and operations begin here, in the order of DType and Op. Those of the
// program's may be freed, and come back as others.
inline constexpr std::uintptr_t kTypes = 0x1000, kOps = 0x2000;
inline constexpr std::uintptr_t kOwnTypes = 0x3000, kOwnOps = 0x4000;

// These are handles of the two communicators. The second one gets each call behind the first one.
inline constexpr std::uintptr_t kKeeps = 0x10, kForgets = 0x20;

inline std::uintptr_t handle_of(DType type) { return kTypes + static_cast<unsigned>(type); }
inline std::uintptr_t number_of(Op op) { return kOps + static_cast<unsigned>(op); }

// Describes the predefined type that reduces as this element. Two pairs have gaps.
TypeInfo known_type(DType dtype);

struct AroundDecide {
  Family family = Family::openmpi;
  bool has_world = true, promotes = false;
  bool alone = false;              // communicators have one rank
  bool have_met = false;           // their ranks have a board
  bool has_idle = false;           // and an idle team
  int meetings = 0, declined = 0;  // calls of set_up(), in which this rank meets the others or not
  Others others{};                 // an argument of the last meeting
};
inline AroundDecide around_decide;

// The MPI tells Sumac that the object has ended, if Sumac has asked for that.
void free_type(std::uintptr_t handle);
void free_communicator(std::uintptr_t handle);

}  // namespace sumac
