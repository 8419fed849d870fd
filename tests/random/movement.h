// SPDX-License-Identifier: BSD-3-Clause
// Bcast, Allgather, Allgatherv, Alltoall, Alltoallv and Alltoallw. Ranks may describe the same data
// by different types.
#pragma once

#include "layout.h"
#include "spec.h"

namespace test::sweep {

class Movement : public Call {
 public:
  Movement(const Spec& spec, const Group& group)
      : Call(spec, group), base_(bases()[spec.what % bases().size()]) {
    const std::size_t p = static_cast<std::size_t>(size()), unit = spec.fours ? 4 : 1;
    const std::size_t total = spec.bytes / base_.size / unit * unit;
    for (std::size_t r = 0; r < p; ++r) counts_.push_back(row(r, total, unit));
    const bool in_bytes = spec.kind == Kind::alltoallw;
    // Open MPI 4.1 chooses its algorithm by the type that a rank gives and the counts that it gets.
    const Layout *in = layout(2), *out = spec.kind == Kind::allgatherv ? in : layout(1);
    for (std::size_t r = 0; r < p; ++r) {
      const Layout* each_out = in_bytes ? layout(32 + r) : out;
      const Layout* each_in = in_bytes ? layout(64 + r) : in;
      if (exchanges() || r == 0) send_.blocks.push_back({each_out, count(me(), r)});
      if (spec.kind != Kind::bcast || r == 0) receive_.blocks.push_back({each_in, count(r, me())});
    }
    bool apart = listed() && own(4) % 2 == 0;
#ifdef OPEN_MPI
    // Open MPI 4.1's own MPI_Alltoallw among one rank takes displacements for elements.
    if (in_bytes && size() == 1) apart = false;
#endif
    send_.place(exchanges() && apart, own(5), base_.size);
    receive_.place(apart, own(6), base_.size);
  }

  ~Movement() override { free_copies(); }

  void fill(std::uint64_t round) override {
    round_ = round;
    send_.clear();
    for (std::size_t r = 0; r < send_.blocks.size(); ++r) put(send_, r, me(), r);
    receive_.clear();
    if (spec().kind == Kind::bcast && me() == root()) put(receive_, 0, me(), 0);
    if (in_place() && exchanges()) {
      for (std::size_t r = 0; r < receive_.blocks.size(); ++r) put(receive_, r, me(), r);
    } else if (in_place()) {
      put(receive_, static_cast<std::size_t>(me()), me(), 0);
    }
    send_.store();
    receive_.store();
    for (std::size_t r = 0; r < receive_.blocks.size(); ++r) {
      const int from = spec().kind == Kind::bcast ? root() : static_cast<int>(r);
      put(receive_, r, from, static_cast<std::size_t>(me()));
    }
  }

  void make(MPI_Request* request) override {
    if (spec().large) {
      make_with(request, large_send_, large_receive_);
    } else {
      make_with(request, int_send_, int_receive_);
    }
  }

  void check(const char* how) override {
    CHECK(send_.guards_hold() && receive_.guards_hold(), "guards; %s; %s", text().c_str(), how);
    const long got = receive_.differs(), given = send_.differs();
    CHECK(got == Side::kNone, "received byte %ld; %s; %s", got, text().c_str(), how);
    CHECK(given == Side::kNone, "given byte %ld; %s; %s", given, text().c_str(), how);
  }

  std::string text() const override {
    std::string all = "MPI_" + function() + "(";
    for (const Block& block : receive_.blocks) all += std::to_string(block.count) + ",";
    all += std::string(" ") + receive_.blocks[0].layout->name + base_.name;
    if (spec().kind == Kind::bcast) all += ", root " + std::to_string(root());
    return all + (in_place() ? ", in place)" : ")");
  }

 private:
  template <class Count, class Place>
  struct Arguments {
    std::vector<Count> counts;
    std::vector<Place> places;
    std::vector<MPI_Datatype> types;
  };

  bool exchanges() const { return spec().kind >= Kind::alltoall; }
  bool listed() const {
    return spec().kind == Kind::allgatherv || spec().kind == Kind::alltoallv ||
           spec().kind == Kind::alltoallw;
  }
  bool in_place() const {
    // The MPIs' own nonblocking all-to-alls in place are wrong.
    if (exchanges() && spec().form != Form::blocking) return false;
    return spec().in_place && spec().kind != Kind::bcast;
  }
  const Layout* layout(std::uint64_t which) const {
    const auto& all = base_.layouts;
#ifndef OPEN_MPI
    // MPICH 4.0's own nonblocking all-gathers are wrong on much data of derived types.
    if (!exchanges() && spec().form != Form::blocking && spec().bytes > 4096) return &all[0];
    // Its blocking MPI_Allgatherv of 512 KiB and more ends the process where extents differ.
    const std::size_t all_bytes = spec().bytes * static_cast<std::size_t>(size());
    if (spec().kind == Kind::allgatherv && all_bytes >= 256 << 10) return &all[0];
#endif
    return &all[own(which) % (spec().fours ? all.size() : kSingles)];
  }

  // The elements that rank r gives each rank, or all of them.
  std::vector<std::size_t> row(std::size_t r, std::size_t total, std::size_t unit) const {
    const auto p = static_cast<std::size_t>(size());
    if (spec().kind == Kind::bcast) return {total};
    if (!listed()) return std::vector<std::size_t>(p, total / p / unit * unit);
    return draw_counts(total, size(), unit, [&](std::uint64_t to) {
      if (!exchanges()) return shared(100 + r);
      const std::uint64_t low = in_place() ? std::min<std::uint64_t>(r, to) : r;
      const std::uint64_t high = in_place() ? std::max<std::uint64_t>(r, to) : to;
      return shared(100 + low * 64 + high);
    });
  }
  template <class From, class To>
  std::size_t count(From from, To to) const {
    const auto& row = counts_[static_cast<std::size_t>(from)];
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(to)];
  }
  void put(Side& side, std::size_t block, int from, std::size_t to) {
    const std::uint64_t start = shared(7) + round_ * 0x100000001b3 +
                                (static_cast<std::uint64_t>(from) << 48) +
                                (exchanges() ? static_cast<std::uint64_t>(to) << 40 : 0);
    side.put(block, base_.size, [start](std::size_t k) { return mix(start + k); });
  }

  template <class Count, class Place>
  void describe(const Side& side, Arguments<Count, Place>& to) {
    const bool in_bytes = spec().kind == Kind::alltoallw;
    to = {};
    for (const Block& block : side.blocks) {
      to.counts.push_back(static_cast<Count>(block.types()));
      to.places.push_back(
          static_cast<Place>(in_bytes ? block.start : block.start / block.layout->extent));
      to.types.push_back(block.layout->type);
    }
  }
  // Some calls get types of their own, which are freed as early as the MPI bears it: MPICH 4.0's
  // own nonblocking calls use types that have been freed.
  void make_with(MPI_Request* request, auto& out, auto& in) {
    describe(send_, out);
    describe(receive_, in);
    if (own(8) % 3 == 0) {
      for (auto* types : {&out.types, &in.types}) {
        for (MPI_Datatype& type : *types) {
          MPI_Type_dup(MPI_Datatype(type), &type);
          copies_.push_back(type);
        }
      }
    }
    invoke_with(request, out, in);
    if (spec().form == Form::blocking || was_taken()) free_copies();
  }
  void free_copies() {
    for (MPI_Datatype& type : copies_) MPI_Type_free(&type);
    copies_.clear();
  }
  template <class Count, class Place>
  void invoke_with(MPI_Request* request, const Arguments<Count, Place>& out,
                   const Arguments<Count, Place>& in) {
    const void* from = in_place() ? MPI_IN_PLACE : send_.address();
    void* into = receive_.address();
    const Count *out_counts = out.counts.data(), *in_counts = in.counts.data();
    const Place *out_places = out.places.data(), *in_places = in.places.data();
    const MPI_Datatype *out_types = out.types.data(), *in_types = in.types.data();
    switch (spec().kind) {
      case Kind::bcast:
        return invoke(request, into, *in_counts, *in_types, root());
      case Kind::allgather:
      case Kind::alltoall:
        return invoke(request, from, *out_counts, *out_types, into, *in_counts, *in_types);
      case Kind::allgatherv:
        return invoke(request, from, *out_counts, *out_types, into, in_counts, in_places,
                      *in_types);
      case Kind::alltoallv:
        return invoke(request, from, out_counts, out_places, *out_types, into, in_counts, in_places,
                      *in_types);
      case Kind::alltoallw:
        return invoke(request, from, out_counts, out_places, out_types, into, in_counts, in_places,
                      in_types);
      case Kind::allreduce:
      case Kind::reduce:
      case Kind::reduce_scatter_block:
      case Kind::reduce_scatter:
      case Kind::barrier:
      case Kind::message:
        break;
    }
  }

  const Base& base_;
  std::vector<std::vector<std::size_t>> counts_;  // by giver, then by taker
  Side send_, receive_;
  Arguments<int, int> int_send_, int_receive_;
  Arguments<MPI_Count, MPI_Aint> large_send_, large_receive_;
  std::vector<MPI_Datatype> copies_;
  std::uint64_t round_ = 0;
};

}  // namespace test::sweep
