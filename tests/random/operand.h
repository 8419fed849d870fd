// SPDX-License-Identifier: BSD-3-Clause
// What is reduced: element types with the operations on them, predefined ones and the user's. All
// results are the same in every order that the operation allows, and whoever folds: what MPIs are
// known to do otherwise is left out.
#pragma once

#include <sched.h>

#include "mpi/element_oracle.h"
#include "mpi/user_functions.h"

namespace test::sweep {

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

// Whoever moves elements may move the gaps in them.
inline Numbers predefined_numbers(const Predefined& p, const PredefinedOp& op) {
  Numbers n = numbers_of(p, op, p.dtype);
  if (!n.has_gaps) return n;
  n.stands_for = [dtype = p.dtype](const unsigned char* got, const unsigned char* right) {
    return sumac::oracle::count_differing(dtype, got, right, 1) == 0;
  };
  return n;
}

template <int shape, WordFunction function>
Numbers user_numbers(const char* what, bool commutes) {
  Operation o{what, function, commutes, true, apply<shape, function>};
  MPI_Op_create(o.entry, commutes, &o.op);
  Numbers n = numbers_of(o, shapes()[shape]);
  n.stands_for = [](const unsigned char* got, const unsigned char* right) {
    bool same = true;
    for (const MPI_Aint w : shapes()[shape].words) same &= std::memcmp(got + w, right + w, 4) == 0;
    return same;
  };
  return n;
}

inline std::vector<Numbers> make_predefined_operands() {
  std::vector<Numbers> all;
  for (const auto& types : {integer_types(), truth_types(), number_types(), pair_types()}) {
    for (const Predefined& p : types) {
      int size = 0;
      if (p.type != MPI_DATATYPE_NULL) MPI_Type_size(p.type, &size);
      for (const PredefinedOp& by : size > 0 ? operations() : std::vector<PredefinedOp>()) {
        if (is_same_everywhere(p, by)) all.push_back(predefined_numbers(p, by));
      }
    }
  }
  return all;
}

inline const Numbers& predefined_operand(std::uint64_t what) {
  static const auto all = make_predefined_operands();
  return all[what % all.size()];
}

// One of the user's in five.
inline const Numbers& operand(std::uint64_t what) {
  static const std::vector<Numbers> user{user_numbers<0, add_words>("user's sum", true),
                                         user_numbers<3, add_words>("user's sum", true),
                                         user_numbers<4, add_words>("user's sum", true),
                                         user_numbers<1, compose>("composition", false),
                                         user_numbers<4, compose>("composition", false),
                                         user_numbers<3, compose>("composition", false),
                                         user_numbers<2, multiply_matrices>("product", false),
                                         user_numbers<0, take_left>("left", false),
                                         user_numbers<1, take_right>("right", false)};
  return what % 5 == 0 ? user[what / 5 % user.size()] : predefined_operand(what / 5);
}

}  // namespace test::sweep
