// SPDX-License-Identifier: BSD-3-Clause
// This makes the calls of adapt.cc, checks their results, and says how each was served, which
// SUMAC_ADAPT decides.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cases.h"

namespace test {

struct Kind {
  What what;
  const Numbers& numbers;
};
inline const std::array<Kind, 9>& kinds() {
  static const std::array<Kind, 9> all{{{What::allreduce, ints()},
                                        {What::allreduce, doubles()},
                                        {What::reduce, ints()},
                                        {What::bcast, ints()},
                                        {What::barrier, ints()},
                                        {What::reduce_scatter_block, ints()},
                                        {What::allgather, ints()},
                                        {What::alltoall, ints()},
                                        {What::alltoallv, ints()}}};
  return all;
}

// A call was served in one of these ways.
enum class Way {
  rules,         // by Sumac, as the first of its class
  other,         // by Sumac, otherwise
  mpi_timed,     // by the MPI, to compare it
  mpi_kept,      // by the MPI, which was found to be faster
  mpi_by_rules,  // by the MPI, which the rules prefer
  unknown
};
inline const char* const kWays[] = {"by the rules",        "by another algorithm",
                                    "by the MPI, timed",   "by the MPI, faster",
                                    "by the MPI, by rule", "for no known reason"};

// The calls of one class were served so. `first` is how Sumac served the first of them.
struct Seen {
  std::string first;
  std::vector<Way> calls;
  std::vector<std::string> paths;

  // Adds the last call.
  Way add() {
    calls.push_back(last());
    paths.emplace_back(was_taken() ? path() : "MPI");
    return calls.back();
  }
  std::size_t count(Way way, std::size_t from = 0) const {
    return static_cast<std::size_t>(std::count(at(from), calls.end(), way));
  }
  bool all(Way way) const { return count(way) == calls.size(); }
  // How many calls from this one on are served as it is.
  std::size_t alike(std::size_t from) const {
    const auto end = std::find_if(at(from), calls.end(), [&](Way way) { return way != *at(from); });
    return static_cast<std::size_t>(end - at(from));
  }
  bool is_alike(std::size_t from) const {
    return from >= calls.size() || alike(from) == calls.size() - from;
  }
  // "128 by the rules, 1 by another algorithm, ..."
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < calls.size(); i += alike(i)) {
      all += std::to_string(alike(i)) + " " + kWays[static_cast<int>(calls[i])] + ", ";
    }
    return all;
  }

 private:
  std::vector<Way>::const_iterator at(std::size_t place) const {
    return calls.begin() + static_cast<std::ptrdiff_t>(std::min(place, calls.size()));
  }
  Way last() {
    if (was_taken()) {
      if (first.empty()) first = path();
      return first == path() ? Way::rules : Way::other;
    }
    if (was_handed_down("timed, to compare with Sumac at this size (SUMAC_ADAPT)")) {
      return Way::mpi_timed;
    }
    if (was_handed_down("found to be faster at this size (SUMAC_ADAPT)")) return Way::mpi_kept;
    return was_handed_down("the rules prefer the MPI here") ? Way::mpi_by_rules : Way::unknown;
  }
};

struct Caller {
  explicit Caller(MPI_Comm comm) : group(group_of(comm)) {
    // The first calls are the MPI's.
    for (int i = 0; i < 2; ++i) MPI_Barrier(comm);
  }

  // Makes a call of `count` elements, checks its result, and adds how it was served.
  Way call(const Kind& kind, std::size_t count, Seen& seen) {
    Call made({.what = kind.what,
               .numbers = &kind.numbers,
               .counts = {count},
               .root = static_cast<int>(++seed % static_cast<unsigned>(group.size())),
               .seed = seed},
              group);
    made.begin();
    made.check(step_text);
    const Way served = seen.add();
    if (rooted(kind.what)) let_agree();
    return served;
  }

  // Ranks agree on what came of turns in calls that wait for all: here in one of a class of its
  // own.
  void let_agree() const {
    int values[8] = {}, sums[8];
    MPI_Allreduce(values, sums, 8, MPI_INT, MPI_SUM, group.comm);
  }

  // Makes a nonblocking or persistent call, checks its result, and returns how it was served.
  std::string call_deferred(const Kind& kind, std::size_t count, Form form) {
    Call made({.what = kind.what,
               .numbers = &kind.numbers,
               .counts = {count},
               .root = static_cast<int>(++seed % static_cast<unsigned>(group.size())),
               .form = form,
               .seed = seed},
              group);
    made.begin();
    const std::string how = path();
    made.start();
    made.wait();
    made.check(step_text);
    return was_taken() || how.empty() ? how : "MPI";
  }

  // The bytes that decide, and with them the class.
  std::size_t bytes(const Kind& kind, std::size_t count) const {
    if (kind.what == What::barrier) return 0;
    const bool parts =
        scatters(kind.what) || kind.what == What::allgather || kind.what == What::alltoall;
    return kind.numbers.size * count * static_cast<unsigned>(parts ? group.size() : 1);
  }

  Group group;
  std::uint64_t seed = 0;  // of the data: the same on all ranks
};

// A communicator on which nothing has been tried: none of these is freed before the last has been
// made, since a new communicator begins with what a freed one of the same ranks has learnt.
struct OwnComm {
  OwnComm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~OwnComm() { used().push_back(comm); }
  static std::vector<MPI_Comm>& used() {
    static std::vector<MPI_Comm> all;
    return all;
  }
  // Becomes a new communicator of the same ranks after the end of this one.
  void renew() {
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm comm;
};

}  // namespace test
