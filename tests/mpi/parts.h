// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter and all-gather in all their forms, with the expected results.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "data.h"
#include "forms.h"

namespace test {

inline constexpr const char* kFunctions[] = {"Reduce_scatter_block", "Reduce_scatter", "Allgather",
                                             "Allgatherv"};

// Completes a deferred operation, a persistent one twice, and checks what it has done.
template <class Operation>
void complete(Operation& operation, int round) {
  if (operation.form == Form::nonblocking) {
    MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
    return operation.check(round);
  }
  for (int again = 0; again < 2; ++again) {
    operation.fill(round + again);
    MPI_Start(&operation.request);
    MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
    operation.check(round + again);
  }
  MPI_Request_free(&operation.request);
}

// Two layouts of integers: every `stride`-th int of an array.
struct Layout {
  MPI_Datatype type;
  int stride;
};

inline Layout layout(bool spaced) {
  if (!spaced) return {MPI_INT, 1};
  static const MPI_Datatype type = [] {
    MPI_Datatype made;
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &made);
    MPI_Type_commit(&made);
    return made;
  }();
  return {type, 3};
}

inline int value(int round, int r, std::size_t k) {
  return static_cast<int>(
      mix(static_cast<std::uint64_t>(round) << 40 ^ static_cast<std::uint64_t>(r) << 32 ^ k) %
      100000);
}

// One operation on one communicator.
struct Parts {
  std::string name;  // one of kFunctions
  Form form;
  bool large, in_place;
  std::vector<int> counts;  // elements of each rank's part
  std::vector<int> places;  // where an all-gather puts each part: may differ between ranks
  Layout from{}, into{};
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = test::rank;

  std::vector<int> send = {}, receive = {};  // as large as the layout needs
  std::vector<MPI_Count> large_counts = {};
  std::vector<MPI_Aint> large_places = {};
  MPI_Request request = MPI_REQUEST_NULL;

  static constexpr int kGuard = -7;
  bool reduces() const { return name[0] == 'R'; }
  bool listed() const { return name == "Reduce_scatter" || name == "Allgatherv"; }
  int ranks() const { return static_cast<int>(counts.size()); }
  int own() const { return counts[static_cast<std::size_t>(rank)]; }
  int total() const {
    int sum = 0;
    for (const int count : counts) sum += count;
    return sum;
  }
  int begin(int r) const {  // first element of rank r's part
    int sum = 0;
    for (int i = 0; i < r; ++i) sum += counts[static_cast<std::size_t>(i)];
    return sum;
  }
  int place(int r) const { return places.empty() ? begin(r) : places[static_cast<std::size_t>(r)]; }

  void allocate() {
    int end = total();
    for (int r = 0; r < ranks() && !reduces(); ++r) {
      end = std::max(end, place(r) + counts[static_cast<std::size_t>(r)]);
    }
    receive.assign(static_cast<std::size_t>((end + 1) * into.stride), kGuard);
    const int given = reduces() ? total() : own();
    send.assign(static_cast<std::size_t>((given + 1) * from.stride), kGuard);
    large_counts.assign(counts.begin(), counts.end());
    large_places.assign(places.begin(), places.end());
  }

  // Writes this rank's input.
  void fill(int round) {
    std::fill(receive.begin(), receive.end(), kGuard);
    int* to = in_place ? receive.data() : send.data();
    const int stride = in_place ? into.stride : from.stride;
    if (in_place && !reduces()) to += place(rank) * stride;
    const int n = reduces() ? total() : own();
    for (int k = 0; k < n; ++k) to[k * stride] = value(round, rank, static_cast<std::size_t>(k));
  }

  template <class Count, class Place>
  int make_with(const Count* each, const Place* at) {
    const void* in = in_place ? MPI_IN_PLACE : send.data();
    void* out = receive.data();
    const std::string whole = name + (large ? "_c" : "");
    const auto equal = static_cast<Count>(own());
    if (name == "Reduce_scatter_block") {
      return call(whole, form, comm, &request, in, out, equal, into.type, MPI_SUM);
    }
    if (name == "Reduce_scatter") {
      return call(whole, form, comm, &request, in, out, each, into.type, MPI_SUM);
    }
    if (name == "Allgather") {
      return call(whole, form, comm, &request, in, equal, from.type, out, equal, into.type);
    }
    return call(whole, form, comm, &request, in, equal, from.type, out, each, at, into.type);
  }
  int make() {
    return large ? make_with<MPI_Count, MPI_Aint>(large_counts.data(), large_places.data())
                 : make_with<int, int>(counts.data(), places.data());
  }

  void check(int round) const {
    std::vector<int> expected(receive.size(), kGuard);
    if (reduces()) {
      // In place, the vector behind this rank's result stays as it was.
      for (int k = own(); in_place && k < total(); ++k) {
        expected[static_cast<std::size_t>(k)] = value(round, rank, static_cast<std::size_t>(k));
      }
      for (int k = 0; k < own(); ++k) {
        int sum = 0;
        for (int r = 0; r < ranks(); ++r) {
          sum += value(round, r, static_cast<std::size_t>(begin(rank) + k));
        }
        expected[static_cast<std::size_t>(k)] = sum;
      }
    } else {
      for (int r = 0; r < ranks(); ++r) {
        for (int k = 0; k < counts[static_cast<std::size_t>(r)]; ++k) {
          expected[static_cast<std::size_t>((place(r) + k) * into.stride)] =
              value(round, r, static_cast<std::size_t>(k));
        }
      }
    }
    const auto wrong = std::mismatch(expected.begin(), expected.end(), receive.begin());
    CHECK(wrong.first == expected.end(), "%s form %d large %d in place %d of %d: at %td",
          name.c_str(), static_cast<int>(form), large, in_place, total(),
          wrong.first - expected.begin());
  }
};

}  // namespace test
