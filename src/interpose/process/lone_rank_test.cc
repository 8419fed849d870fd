// SPDX-License-Identifier: BSD-3-Clause
// The tests check when a program that runs as several jobs of one rank is told of it: for every
// launcher, number of ranks, and way in which a process can be started.
#include "interpose/process/lone_rank.h"

#include <gtest/gtest.h>

#include "interpose/mpi/mpi_functions.h"
#include "machine/presence.h"

namespace sumac {

MpiFunctions mpi;
Family family() { return Family::mpich; }
static bool spawned, by_rank;
bool started_by_rank() { return by_rank; }

namespace {

TEST(LoneRank, IsOneWhomALauncherToldOfOthers) {
  mpi.Comm_get_parent = [](CommPointer parent) {
    parent.set(spawned ? kMpi.comm_self : kMpi.comm_null);
    return kMpiSuccess;
  };
  for (const char* launcher : {static_cast<const char*>(nullptr), "Slurm"}) {
    for (const int told : {0, 1, 2, 1000}) {
      for (const int size : {1, 2, 1000}) {
        for (const int how : {0, 1, 2}) {
          spawned = how == 1;
          by_rank = how == 2;
          const bool meant = how != 0 || size > 1 || told < 2 || !launcher;
          EXPECT_EQ(is_lone_rank({launcher, nullptr, "SIZE", told, 0}, size), !meant)
              << (launcher ? launcher : "no launcher") << ", told of " << told << ", " << size
              << " ranks, " << how;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sumac
