// SPDX-License-Identifier: BSD-3-Clause
// What is reduced: element types with the operations on them, predefined ones and the user's, and
// the result of a serial fold in the order of ranks. All results are the same in every order that
// the operation allows, and whoever folds: what MPIs are known to do otherwise is left out.
#pragma once

#include <memory>
#include <numeric>

#include "mpi/element_oracle.h"
#include "mpi/user_functions.h"

namespace test::sweep {

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
    std::vector<int> givers(static_cast<std::size_t>(last - first + 1));
    std::iota(givers.begin(), givers.end(), first);
    elements_.fold(at, begin, n, givers, seed, op_.op);
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

}  // namespace test::sweep
