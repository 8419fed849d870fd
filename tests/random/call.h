// SPDX-License-Identifier: BSD-3-Clause
// One random call on one communicator, as a case of tests/mpi/cases.h.
#pragma once

#include <utility>

#include "notes.h"
#include "operand.h"
#include "spec.h"

namespace test::sweep {

// Numbers of elements for each rank that sum up to about `total`: some are 0, some are larger.
template <class Draw>
std::vector<std::size_t> draw_counts(std::size_t total, std::size_t ranks_there, std::size_t unit,
                                     Draw draw) {
  std::vector<std::size_t> counts;
  const std::size_t each = total / ranks_there;
  for (std::size_t r = 0; r < ranks_there; ++r) {
    const std::uint64_t way = draw(r);
    const std::size_t n = way % 4 == 0 ? 0 : way % 4 == 1 ? each : (way >> 8) % (2 * each + 2);
    counts.push_back(n / unit * unit);
  }
  return counts;
}

// The case of a spec on a communicator.
class Described {
 public:
  Described(const Spec& spec, const Group& group) : spec_(spec), group_(group) {
    c.what = spec.what_is_called();
    c.form = spec.form;
    c.root = static_cast<int>(spec.root % static_cast<std::uint64_t>(group.size()));
    c.in_place = spec.in_place;
    c.large = spec.large && c.what != What::barrier;
    c.seed = shared(3);
    c.misaligned[0] = own(1) & 31;
    c.misaligned[1] = own(2) & 63;
    if (reduces(c.what)) reduce();
    if (!reduces(c.what) && c.what != What::barrier) move();
  }

  Case c;

 private:
  // A random number that all ranks share.
  std::uint64_t shared(std::uint64_t which) const {
    return mix(spec_.state + which * 0x9e3779b97f);
  }
  // One of this rank's own.
  std::uint64_t own(std::uint64_t which) const {
    return mix(shared(which) + static_cast<std::uint64_t>(group_.rank) * 0x51ed270b);
  }
  std::size_t size() const { return group_.members.size(); }

  void reduce() {
    c.numbers = &operand(spec_.what);
#ifndef OPEN_MPI
    // MPICH 4.0 writes beyond its memory where it scatters types with gaps at their ends.
    if (scatters(c.what)) c.numbers = &predefined_operand(spec_.what);
#endif
    const std::size_t all = spec_.bytes / c.numbers->size;
    c.counts = {c.what == What::reduce_scatter_block ? all / size() : all};
    if (c.what != What::reduce_scatter) return;
    c.counts = draw_counts(all, size(), 1, [this](std::uint64_t r) { return shared(16 + r); });
#ifdef OPEN_MPI
    // Open MPI 4.1's own MPI_Reduce_scatter in place writes to rank 0's memory that gets nothing,
    // and behind the part that a rank gets of a user's operation that does not commute.
    if (c.counts[0] == 0 || spec_.what % 5 == 0) c.in_place = false;
#endif
  }

  // Ranks may describe the same data by different types.
  void move() {
    const Base& base = bases()[spec_.what % bases().size()];
    c.numbers = &base.numbers;
    // The MPIs' own nonblocking all-to-alls in place are wrong.
    if (exchanges(c.what) && spec_.form != Form::blocking) c.in_place = false;
    const std::size_t unit = spec_.fours ? 4 : 1, p = size();
    const std::size_t total = spec_.bytes / base.numbers.size / unit * unit;
    c.counts = {c.what == What::bcast ? total : total / p / unit * unit};
    if (listed(c.what)) c.counts.clear();
    for (std::size_t r = 0; listed(c.what) && r < (exchanges(c.what) ? p : 1); ++r) {
      const auto row = draw_counts(total, p, unit, [&](std::uint64_t to) {
        if (!exchanges(c.what)) return shared(100 + to);
        const std::uint64_t low = c.in_place ? std::min<std::uint64_t>(r, to) : r;
        const std::uint64_t high = c.in_place ? std::max<std::uint64_t>(r, to) : to;
        return shared(100 + low * 64 + high);
      });
      c.counts.insert(c.counts.end(), row.begin(), row.end());
    }
    // Open MPI 4.1 chooses its algorithm by the type that a rank gives and the counts that it gets.
    c.gets = {layout(base, 2)};
    c.gives = {c.what == What::allgatherv ? c.gets[0] : layout(base, 1)};
    if (c.what == What::alltoallw) {
      c.gives.clear(), c.gets.clear();
      for (std::size_t r = 0; r < p; ++r) {
        c.gives.push_back(layout(base, 32 + r));
        c.gets.push_back(layout(base, 64 + r));
      }
    }
    c.apart = listed(c.what) && own(4) % 2 == 0 ? own(5) | 1 : 0;
#ifdef OPEN_MPI
    // Open MPI 4.1's own MPI_Alltoallw among one rank takes displacements for elements.
    if (c.what == What::alltoallw && p == 1) c.apart = 0;
#endif
  }
  LayoutPointer layout(const Base& base, std::uint64_t which) const {
    const auto& all = base.layouts;
    LayoutPointer one = all[own(which) % (spec_.fours ? all.size() : kSingles)];
#ifndef OPEN_MPI
    // MPICH 4.0's own nonblocking all-gathers are wrong on much data of derived types. Its blocking
    // MPI_Allgatherv of 512 KiB and more ends the process where extents differ.
    const bool much = spec_.form != Form::blocking && spec_.bytes > 4096;
    if (!exchanges(c.what) && much) one = all[0];
    if (c.what == What::allgatherv && spec_.bytes * size() >= 256 << 10) one = all[0];
#endif
    if (own(8) % 3 != 0) return one;
    MPI_Datatype copy;  // of the call's own
    MPI_Type_dup(one->type, &copy);
    return std::make_shared<Layout>(one->name, copy, one->offsets, one->extent, true);
  }

  const Spec& spec_;
  const Group& group_;
};

class Call {
 public:
  Call(const Spec& spec, const Group& group)
      : spec_(spec), group_(group), call_(Described(spec, group).c, group) {}

  // Writes this rank's input and clears what it receives. Each start has a `round` of its own.
  void fill(std::uint64_t round) {
    if (spec_.kind == Kind::barrier) number_ = notes->next(spec_.communicator);
    call_.fill(seed_ + round * 0x1000003);
  }
  // Makes the call in its form. Types of its own are freed as early as the MPI bears it: MPICH
  // 4.0's own nonblocking calls use types that have been freed.
  void make(MPI_Request* request) {
    call_.begin();
    if (spec_.form == Form::blocking || was_taken()) call_.free_types();
    if (request) *request = std::exchange(call_.request, MPI_REQUEST_NULL);
  }
  // No rank may leave a barrier that another one has not called.
  void check(const char* how) {
    call_.check(how);
    for (const int member : group_.members) {
      if (spec_.kind != Kind::barrier) break;
      const std::uint64_t note = notes->of(member, spec_.communicator);
      CHECK(note >= number_, "barrier %llx left, rank %d in %llx; %s",
            static_cast<unsigned long long>(number_), member, static_cast<unsigned long long>(note),
            how);
    }
  }
  // True for what Sumac serves on every communicator that it serves at all.
  bool is_simple() const {
    const Case& c = call_.of();
    return c.what == What::barrier || c.what == What::bcast ||
           ((c.what == What::allreduce || c.what == What::reduce) && spec_.what % 5 != 0);
  }
  std::string text() const { return call_.text(); }
  const Group& group() const { return group_; }

 private:
  const Spec spec_;
  const Group& group_;
  test::Call call_;
  const std::uint64_t seed_ = call_.of().seed;
  std::uint64_t number_ = 0;  // of a barrier
};

}  // namespace test::sweep
