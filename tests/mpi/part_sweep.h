// SPDX-License-Identifier: BSD-3-Clause
// The sweep over collectives whose ranks give or get parts: sizes, forms, unequal parts, places
// with gaps and in any order, types that differ between ranks; and several calls under way at once.
#pragma once

#include <deque>

#include "cases.h"
#include "mpi_faults.h"

namespace test {

struct PartSweep {
  std::vector<What> whats;
  std::vector<int> sizes;  // elements of all parts
  int all_up_to;           // of larger sizes a third or fourth of the cases are made
  unsigned keeps;
  bool alike = false;           // all ranks use the same types and layouts
  bool never_in_place = false;  // where the MPI serves and its own calls in place are wrong
  Served served = Served::by_rule;

  // Elements of each part, or of each pair of ranks, about `n` in all or from each: equal, all in
  // one part, or of different lengths, many of them 0. Both of a pair give as much in place.
  static std::vector<std::size_t> parts(const Case& c, int pattern, int n) {
    const auto p = static_cast<std::size_t>(ranks), all = static_cast<std::size_t>(n);
    if (pattern == 0 || !listed(c.what)) return {all / p};
    std::vector<std::size_t> counts(exchanges(c.what) ? p * p : p);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t from = i / p, to = i % p;
      const std::size_t key =
          c.in_place && exchanges(c.what) ? std::min(from, to) * p + std::max(from, to) : i;
      const std::uint64_t any = mix(all * 1000 + key);
      const std::size_t most = exchanges(c.what) ? all : 2 * all / p;
      if (pattern == 1) counts[i] = key == all % counts.size() ? all : 0;
      if (pattern == 2) counts[i] = any % 3 == 0 ? 0 : any / 3 % (most + 1);
    }
    return counts;
  }
  // Each rank has layouts of its own, in an MPI_Alltoallw for each block.
  void describe(Case& c, int round) const {
    const auto own = static_cast<unsigned>(round + (alike ? 0 : rank));
    c.apart = c.what == What::allgatherv || own % 2 == 0 ? own + 1 : 0;
    const LayoutPointer usual = plain(ints()), spaced = every_third(ints());
    for (unsigned b = 0; !reduces(c.what) && b < (c.what == What::alltoallw ? 4 : 1); ++b) {
      c.gives.push_back((own + b) % 3 == 0 ? spaced : usual);
      c.gets.push_back((own + b) % 4 == 1 ? spaced : usual);
    }
  }
  Case one(What what, Form form, int variant, int n, int round) const {
    Case c{.what = what,
           .form = form,
           .large = (variant & 1) != 0,
           .seed = static_cast<std::uint64_t>(round)};
    c.in_place = (variant & 2) != 0;
    c.counts = parts(c, variant / 4, n);
    describe(c, round);
    return c;
  }

  void run_all() const {
    int round = 0;
    for (const int n : sizes) {
      for (const What what : whats) {
        for (const Form form : kForms) {
          for (int variant = 0; variant < 12; ++variant) {
            if (n > all_up_to && static_cast<unsigned>(variant + n) % keeps != 0) continue;
            const Case c = one(what, form, variant, n, ++round);
            if (!c.in_place || !never_in_place) test::run(c, world(), served);
          }
        }
      }
    }
  }

  // Several operations under way at once, with blocking ones between them, completed in another
  // order.
  void run_mixed(int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      std::deque<Call> going;
      const auto begin = [&](const Case& c) {
        going.emplace_back(c);
        CHECK(going.back().begin() == MPI_SUCCESS, "%s", going.back().text().c_str());
        going.back().start();
      };
      for (int i = 0; i < 5; ++i) {
        const Form form = (round + i) % 3 == 0 ? Form::persistent : Form::nonblocking;
        const What what = whats[static_cast<std::size_t>(round + i) % whats.size()];
        const int variant = round % 12 & (exchanges(what) ? ~2 : ~0);
        begin(one(what, form, variant, (round % 5 == 0 ? 5000 : 300) * i + round, round));
        if (i == 1) begin({.what = What::allreduce, .counts = {1}, .form = Form::nonblocking});
        if (i == 3) begin({.what = What::bcast, .counts = {1}, .form = Form::nonblocking});
        if ((round + i) % 3 == 0)
          test::run(one(what, Form::blocking, 8, 40 + round, round), world(), served);
      }
      for (std::size_t i = going.size(); i-- > 0;) {
        going[i].wait();
        going[i].check();
      }
    }
  }
};

// A copy of MPI_COMM_WORLD, ready for Sumac, whose calls return their errors.
inline MPI_Comm returning_copy() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
  warm_up(comm);
  return comm;
}

// Calls `each` with a type that was never committed.
template <class Each>
void with_uncommitted(Each each) {
  MPI_Datatype open;
  MPI_Type_vector(2, 1, 2, MPI_INT, &open);
  each(open);
  MPI_Type_free(&open);
}

}  // namespace test
