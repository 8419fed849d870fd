// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, Reduce, Reduce_scatter_block and Reduce_scatter, and what they reduce.
#pragma once

#include <memory>

#include "mpi/element_oracle.h"
#include "mpi/user_functions.h"
#include "spec.h"

namespace test::sweep {

// These are reduced: element types with the operations on them, predefined ones and the user's, and
// the result of a serial fold in the order of ranks. All results are the same in every order that
// the operation allows, and whoever folds: what MPIs are known to do otherwise is left out.

class Operand {
 public:
  Operand(std::string what, MPI_Datatype of, MPI_Op by, std::size_t bytes)
      : name(std::move(what)), type(of), operation(by), extent(bytes) {}
  virtual ~Operand() = default;
  // Writes elements `begin` to `begin + n` of the fold of ranks `first` to `last`, without touching
  // bytes that hold no data.
  virtual void fold(unsigned char* at, std::size_t begin, std::size_t n, int first, int last,
                    std::uint64_t seed) const = 0;
  // The number of elements whose data differ.
  virtual std::size_t differing(const unsigned char* a, const unsigned char* b,
                                std::size_t n) const = 0;

  const std::string name;
  const MPI_Datatype type;
  const MPI_Op operation;
  const std::size_t extent;
};

class PredefinedOperand : public Operand {
 public:
  PredefinedOperand(const Predefined& p, const PredefinedOp& op)
      : Operand(std::string(op.name) + " of " + p.name, p.type, op.handle, sumac::size_of(p.dtype)),
        dtype_(p.dtype),
        elements_(p, p.dtype),
        op_(op) {}
  void fold(unsigned char* at, std::size_t begin, std::size_t n, int first, int last,
            std::uint64_t seed) const override {
    elements_.fold(at, n, first, last, seed + begin * 64, op_);  // its element i is of seed + 64 i
  }
  std::size_t differing(const unsigned char* a, const unsigned char* b,
                        std::size_t n) const override {
    return sumac::oracle::count_differing(dtype_, a, b, n);
  }

 private:
  DType dtype_;
  Elements elements_;
  PredefinedOp op_;
};

inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{"uint32", MPI_UINT32_T, {0}, 0, 4},
                                      contiguous("2 ints", 2),
                                      contiguous("4 ints", 4),
                                      strided(),
                                      resized("2 of 5 ints", 0, 20)};
  return all;
}

// Yields now and then: a user's function may take its time.
template <int shape, WordFunction function>
void apply(void* in, void* inout, int* count, MPI_Datatype*) {
  const Shape& s = shapes()[shape];
  const std::size_t n = s.words.size();
  std::uint32_t left[4], right[4];
  if (*count % 7 == 3) sched_yield();
  for (int i = 0; i < *count; ++i) {
    const auto* from = static_cast<unsigned char*>(in) + i * s.extent;
    auto* to = static_cast<unsigned char*>(inout) + i * s.extent;
    for (std::size_t w = 0; w < n; ++w) {
      std::memcpy(&left[w], from + s.words[w], 4);
      std::memcpy(&right[w], to + s.words[w], 4);
    }
    function(left, right, n);
    for (std::size_t w = 0; w < n; ++w) {
      std::memcpy(to + s.words[w], &right[w], 4);
    }
  }
}

class UserOperand : public Operand {
 public:
  UserOperand(const char* what, const Shape& shape, WordFunction function, MPI_Op op)
      : Operand(std::string(what) + " of " + shape.name, shape.type, op,
                static_cast<std::size_t>(shape.extent)),
        shape_(shape),
        function_(function) {}
  void fold(unsigned char* at, std::size_t begin, std::size_t n, int first, int last,
            std::uint64_t seed) const override {
    const std::size_t words = shape_.words.size();
    std::uint32_t left[4], right[4];
    for (std::size_t i = begin; i < begin + n; ++i, at += extent) {
      for (std::size_t w = 0; w < words; ++w) left[w] = word(first, i, w, seed);
      for (int r = first + 1; r <= last; ++r) {
        for (std::size_t w = 0; w < words; ++w) right[w] = word(r, i, w, seed);
        function_(left, right, words);
        std::copy(right, right + words, left);
      }
      for (std::size_t w = 0; w < words; ++w) std::memcpy(at + shape_.words[w], &left[w], 4);
    }
  }
  std::size_t differing(const unsigned char* a, const unsigned char* b,
                        std::size_t n) const override {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i, a += extent, b += extent) {
      bool same = true;
      for (const MPI_Aint w : shape_.words) same &= std::memcmp(a + w, b + w, 4) == 0;
      count += !same;
    }
    return count;
  }

 private:
  static std::uint32_t word(int r, std::size_t i, std::size_t w, std::uint64_t seed) {
    return static_cast<std::uint32_t>(
        mix(seed + i * 1024 + w * 64 + static_cast<std::uint64_t>(r)));
  }
  const Shape& shape_;
  WordFunction function_;
};

// Open MPI 4.1 saturates sums of 8 and 16 bits, and is wrong about numbers of 16 bytes; MPIs
// compare unsigned integers as signed ones.
inline bool is_same_everywhere(const Predefined& p, const PredefinedOp& op) {
  if (!(p.allowed & op.needs) || !sumac::is_defined(op.op, p.dtype)) return false;
  const bool orders = op.op == Op::min || op.op == Op::max;
  for (const MPI_Datatype odd : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
    if (orders && p.type == odd) return false;
  }
  for (const DType odd : {DType::none, DType::f16, DType::bf16, DType::f128, DType::c128}) {
    if (p.dtype == odd) return false;
  }
  if (sumac::is_exact(op.op, p.dtype)) return true;
  const sumac::ElementKind kind = sumac::info_of(p.dtype).kind;
  if (kind == sumac::ElementKind::integer) return false;
  return op.op == Op::sum || (op.op == Op::prod && kind == sumac::ElementKind::floating);
}

template <int shape, WordFunction function>
void add_user(std::vector<std::unique_ptr<Operand>>& all, const char* what, bool commutes) {
  MPI_Op op;
  MPI_Op_create(apply<shape, function>, commutes, &op);
  all.push_back(std::make_unique<UserOperand>(what, shapes()[shape], function, op));
}

inline std::vector<std::unique_ptr<Operand>> make_user_operands() {
  std::vector<std::unique_ptr<Operand>> all;
  add_user<0, add_words>(all, "user's sum", true);
  add_user<3, add_words>(all, "user's sum", true);
  add_user<4, add_words>(all, "user's sum", true);
  add_user<1, compose>(all, "composition", false);
  add_user<4, compose>(all, "composition", false);
  add_user<3, compose>(all, "composition", false);
  add_user<2, multiply_matrices>(all, "matrix product", false);
  add_user<0, take_left>(all, "left", false);
  add_user<1, take_right>(all, "right", false);
  return all;
}

inline std::vector<std::unique_ptr<Operand>> make_predefined_operands() {
  std::vector<std::unique_ptr<Operand>> all;
  for (const auto& types : {integer_types(), truth_types(), number_types(), pair_types()}) {
    for (const Predefined& p : types) {
      int size = 0;
      if (p.type != MPI_DATATYPE_NULL) MPI_Type_size(p.type, &size);
      for (const PredefinedOp& by : size > 0 ? operations() : std::vector<PredefinedOp>()) {
        if (is_same_everywhere(p, by)) all.push_back(std::make_unique<PredefinedOperand>(p, by));
      }
    }
  }
  return all;
}

inline const Operand& predefined_operand(std::uint64_t what) {
  static const auto all = make_predefined_operands();
  return *all[what % all.size()];
}

// One of the user's in five.
inline const Operand& operand(std::uint64_t what) {
  static const auto user = make_user_operands();
  return what % 5 == 0 ? *user[what / 5 % user.size()] : predefined_operand(what / 5);
}

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
    const void* in = in_place_ ? MPI_IN_PLACE : send_.data();
    void* out = gets() ? receive_.data() : nullptr;
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
