// SPDX-License-Identifier: BSD-3-Clause
// In tests of the profile, this is what is below and beside it: communicators and types by number,
// and an MPI whose calls succeed or fail as the test says.
#pragma once

#include <string>
#include <vector>

#include "interpose/mpi/call.h"
#include "interpose/mpi/constants.h"

namespace sumac {

inline constexpr int kOwnRank = 3;
inline constexpr std::size_t kComms = 4, kTypes = 3;
inline constexpr MpiOp kOwnOp{0x30000};  // an operation of the program's

struct AroundProfile {
  int error = kMpiSuccess;  // the next call returns it, and makes one itself if it `nests`
  bool nests = false;
  std::vector<std::size_t> known;  // communicators in the order in which the profile met them

  // Returns a communicator's number in the profile; -1: it can not be watched.
  int number_of(std::size_t comm) const;
};
inline AroundProfile around_profile;

MpiComm comm_at(std::size_t number);
MpiDatatype type_at(std::size_t number);
std::size_t size_of_type(MpiDatatype type);
std::string name_in_file(MpiDatatype type);

// Sets up a profile into the folder.
void begin_profile(unsigned seed, const char* folder);

// This is the MPI's function for all collectives.
int call_below(const Call& call);

}  // namespace sumac
