// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, Reduce, Reduce_scatter_block and Reduce_scatter.
#pragma once

#include "call.h"
#include "operand.h"

namespace test::sweep {

class Reduction : public Call {
 public:
  Reduction(const Spec& spec, const Group& group)
      : Call(spec, group),
        operand_(operand_of(spec)),
        in_place_(spec.in_place && gets()),
        counts_(counts()),
        send_(in_place_ ? 0 : bytes(total()), own(1) & 31),
        receive_(gets() ? bytes(in_place_ ? total() : result()) : 0, own(2) & 63) {}

  void fill(std::uint64_t round) override {
    seed_ = shared(3) + round * 0x1000003;
    receive_.fill(kGap);
    send_.fill(kGap);
    operand_.fold(in_place_ ? at(receive_) : at(send_), 0, total(), me(), me(), seed_);
  }

  void make(MPI_Request* request) override {
    if (spec().large) {
      make_with<MPI_Count>(request);
    } else {
      make_with<int>(request);
    }
  }

  void check(const char* how) override {
    CHECK(send_.guards_hold() && receive_.guards_hold(), "guards; %s; %s", text().c_str(), how);
    if (gets()) {
      std::vector<unsigned char> expected(bytes(result()), kGap);
      operand_.fold(expected.data(), begin(), result(), 0, size() - 1, seed_);
      const std::size_t wrong = operand_.differing(at(receive_), expected.data(), result());
      CHECK(wrong == 0, "%zu of %zu elements; %s; %s", wrong, result(), text().c_str(), how);
    }
    if (in_place_) return;
    std::vector<unsigned char> given(bytes(total()), kGap);
    operand_.fold(given.data(), 0, total(), me(), me(), seed_);
    const std::size_t touched = operand_.differing(at(send_), given.data(), total());
    CHECK(touched == 0, "%zu of %zu given; %s; %s", touched, total(), text().c_str(), how);
  }

  std::string text() const override {
    std::string all = "MPI_" + function() + "(";
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      all += (r ? "," : "") + std::to_string(counts_[r]);
    }
    all += " elements, " + operand_.name;
    if (spec().kind == Kind::reduce) all += ", root " + std::to_string(root());
    return all + (spec().in_place ? ", in place)" : ")");
  }

 private:
  static constexpr unsigned char kGap = 0xee;

  static const Operand& operand_of(const Spec& spec) {
#ifndef OPEN_MPI
    // MPICH 4.0 writes beyond its memory where it scatters types with gaps at their ends.
    if (spec.kind == Kind::reduce_scatter_block || spec.kind == Kind::reduce_scatter) {
      return predefined_operand(spec.what);
    }
#endif
    return operand(spec.what);
  }
  bool gets() const { return spec().kind != Kind::reduce || me() == root(); }
  bool scatters() const {
    return spec().kind == Kind::reduce_scatter || spec().kind == Kind::reduce_scatter_block;
  }
  std::vector<std::size_t> counts() const {
    const std::size_t all = spec().bytes / operand_.extent;
    if (!scatters()) return {all};
    const auto p = static_cast<std::size_t>(size());
    if (spec().kind == Kind::reduce_scatter_block) return std::vector<std::size_t>(p, all / p);
    return draw_counts(all, size(), 1, [this](std::uint64_t r) { return shared(16 + r); });
  }
  std::size_t total() const {
    std::size_t sum = 0;
    for (const std::size_t n : counts_) sum += n;
    return sum;
  }
  // Elements of this rank's result, and the first of them.
  std::size_t result() const { return counts_[scatters() ? static_cast<std::size_t>(me()) : 0]; }
  std::size_t begin() const {
    std::size_t sum = 0;
    for (int r = 0; scatters() && r < me(); ++r) sum += counts_[static_cast<std::size_t>(r)];
    return sum;
  }
  std::size_t bytes(std::size_t n) const { return n * operand_.extent; }
  static unsigned char* at(Buffer& buffer) { return buffer.as<unsigned char>(); }

  template <class Count>
  void make_with(MPI_Request* request) {
    const void* in = in_place_ ? MPI_IN_PLACE : send_.given();
    void* out = gets() ? receive_.given() : nullptr;
    const auto one = static_cast<Count>(counts_[0]);
    if (spec().kind == Kind::reduce) {
      return invoke(request, in, out, one, operand_.type, operand_.operation, root());
    }
    if (spec().kind != Kind::reduce_scatter) {
      return invoke(request, in, out, one, operand_.type, operand_.operation);
    }
    auto& arguments = arguments_of(Count());
    arguments.assign(counts_.begin(), counts_.end());
    const Count* each = arguments.data();
    invoke(request, in, out, each, operand_.type, operand_.operation);
  }
  // Which must stay until the operation has ended.
  std::vector<int>& arguments_of(int) { return int_counts_; }
  std::vector<MPI_Count>& arguments_of(MPI_Count) { return large_counts_; }

  const Operand& operand_;
  const bool in_place_;
  const std::vector<std::size_t> counts_;
  Buffer send_, receive_;
  std::vector<int> int_counts_;
  std::vector<MPI_Count> large_counts_;
  std::uint64_t seed_ = 0;
};

}  // namespace test::sweep
