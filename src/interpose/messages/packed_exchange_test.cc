// SPDX-License-Identifier: BSD-3-Clause
// The tests check that exchanges give each rank what was sent to it, whether Sumac packs blocks or
// the MPI does: MPI_Alltoall, MPI_Alltoallw and MPI_Neighbor_alltoallw, blocking and nonblocking,
// with random types, counts and neighbours. All ranks take turns in one thread.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "interpose/messages/fake_exchange_test.h"
#include "interpose/messages/kept_messages.h"
#include "interpose/messages/packing_calls.h"
#include "interpose/messages/typed_data_test.h"
#include "interpose/mpi/fake_requests_test.h"
#include "interpose/process/entry.h"
#include "testing/fibers.h"

namespace sumac {

Family family() { return Family::openmpi; }

namespace {

using testing::Fibers;
using Random = std::mt19937_64;

// One side of a rank's call has these blocks, each in memory of its own, and the arguments.
template <class Place>
struct Side {
  std::vector<std::unique_ptr<TypedMemory>> blocks;
  std::vector<int> counts;
  std::vector<Place> places;
  HandleArray<MpiDatatype> types;

  void add(MpiDatatype type, int count, Random& random) {
    blocks.push_back(std::make_unique<TypedMemory>(type, count, random));
    counts.push_back(count);
    types.push_back(type);
  }
};

}  // namespace
}  // namespace sumac
