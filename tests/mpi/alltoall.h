// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls in all their forms, with the expected results.
#pragma once

#include <string>
#include <vector>

#include "parts.h"

namespace test {

// Where a rank has the blocks of one side.
struct Side {
  std::vector<int> counts;  // by rank, in elements
  std::vector<int> starts;  // in ints
  std::vector<Layout> layouts;
  std::vector<int> memory;  // ints that belong to no block are guards

  // As arguments: displacements in elements, or in bytes.
  std::vector<int> places;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_places;
  std::vector<MPI_Datatype> types;

  static constexpr int kGuard = -7;
  // Places the blocks: one behind the other, or, with gaps between them, in reverse order.
  void place(bool apart, bool in_bytes) {
    const std::size_t p = counts.size();
    starts.assign(p, 0);
    int end = apart ? 6 : 0;  // a multiple of each layout's stride
    for (std::size_t i = 0; i < p; ++i) {
      const std::size_t r = apart ? p - 1 - i : i;
      starts[r] = end;
      end += (counts[r] + (apart ? 1 : 0)) * layouts[r].stride;
    }
    memory.assign(static_cast<std::size_t>(end) + 3, kGuard);
    large_counts.assign(counts.begin(), counts.end());
    for (std::size_t r = 0; r < p; ++r) {
      places.push_back(in_bytes ? starts[r] * static_cast<int>(sizeof(int))
                                : starts[r] / layouts[r].stride);
      types.push_back(layouts[r].type);
    }
    large_places.assign(places.begin(), places.end());
  }
  int& at(int r, int k) {
    const auto block = static_cast<std::size_t>(r);
    return memory[static_cast<std::size_t>(starts[block] + k * layouts[block].stride)];
  }
};

// One operation on one communicator.
struct Exchange {
  std::string name;  // Alltoall, Alltoallv or Alltoallw
  Form form;
  bool large, in_place;
  std::vector<int> matrix;  // the elements that rank i gives rank j, at [i * ranks + j]
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = test::rank, ranks = test::ranks;

  Side send = {}, receive = {};
  MPI_Request request = MPI_REQUEST_NULL;

  int count(int from, int to) const { return matrix[static_cast<std::size_t>(from * ranks + to)]; }
  // `mix` chooses layouts, and whether blocks are apart.
  void allocate(unsigned mix) {
    const bool by_block = name == "Alltoallw", equal = name == "Alltoall";
    for (int r = 0; r < ranks; ++r) {
      send.counts.push_back(count(rank, r));
      receive.counts.push_back(count(r, rank));
      const auto other = static_cast<unsigned>(by_block ? r : 0);
      send.layouts.push_back(layout((mix + other) % 3 == 0));
      receive.layouts.push_back(layout((mix + other) % 4 == 1));
    }
    send.place(!equal && mix % 2 == 0, by_block);
    receive.place(!equal && mix % 5 < 3, by_block);
  }

  void fill(int round) {
    std::fill(receive.memory.begin(), receive.memory.end(), Side::kGuard);
    Side& from = in_place ? receive : send;
    for (int r = 0; r < ranks; ++r) {
      for (int k = 0; k < count(rank, r); ++k) from.at(r, k) = word(round, rank, r, k);
    }
  }

  template <class Count, class Place>
  int make_with(std::vector<Count> Side::*counts, std::vector<Place> Side::*places) {
    const void* const in = in_place ? MPI_IN_PLACE : send.memory.data();
    void* const out = receive.memory.data();
    const std::string whole = name + (large ? "_c" : "");
    const auto array = [&](auto& values) {
      return static_cast<const typename std::remove_cvref_t<decltype(values)>::value_type*>(
          values.data());
    };
    const Count* each = in_place ? nullptr : array(send.*counts);
    const Place* at = in_place ? nullptr : array(send.*places);
    const Count *each_in = array(receive.*counts), *each_out = each;
    const Place* at_in = array(receive.*places);
    if (name == "Alltoall") {
      return call(whole, form, comm, &request, in, each_out ? each_out[0] : Count{}, send.types[0],
                  out, each_in[0], receive.types[0]);
    }
    if (name == "Alltoallv") {
      return call(whole, form, comm, &request, in, each_out, at, send.types[0], out, each_in, at_in,
                  receive.types[0]);
    }
    return call(whole, form, comm, &request, in, each_out, at,
                in_place ? nullptr : array(send.types), out, each_in, at_in, array(receive.types));
  }
  int make() {
    return large ? make_with(&Side::large_counts, &Side::large_places)
                 : make_with(&Side::counts, &Side::places);
  }

  void check(int round) const {
    Side expected = receive, given = send;
    std::fill(expected.memory.begin(), expected.memory.end(), Side::kGuard);
    for (int r = 0; r < ranks; ++r) {
      for (int k = 0; k < count(r, rank); ++k) expected.at(r, k) = word(round, r, rank, k);
      for (int k = 0; k < count(rank, r); ++k) given.at(r, k) = word(round, rank, r, k);
    }
    differs("received", expected.memory, receive.memory);
    if (!in_place) differs("sent", given.memory, send.memory);
  }

 private:
  int word(int round, int from, int to, int k) const {
    return value(round, from * ranks + to, static_cast<std::size_t>(k));
  }
  void differs(const char* what, const std::vector<int>& expected,
               const std::vector<int>& got) const {
    const auto wrong = std::mismatch(expected.begin(), expected.end(), got.begin());
    CHECK(wrong.first == expected.end(), "%s: %s form %d large %d in place %d: at %td of %zu", what,
          name.c_str(), static_cast<int>(form), large, in_place, wrong.first - expected.begin(),
          expected.size());
  }
};

}  // namespace test
