// SPDX-License-Identifier: BSD-3-Clause
// What calls move, and by which layouts they describe it; and what they reduce, which has the same
// result in every order that the operation allows, and whoever folds: what MPIs are known to do
// otherwise is left out.
#pragma once

#include <sched.h>

#include "mpi/cases.h"
#include "mpi/element_oracle.h"
#include "mpi/user_functions.h"

namespace test::sweep {

struct Base {
  Numbers numbers;
  std::vector<LayoutPointer> layouts;  // the first kSingles of one element
};
inline constexpr std::size_t kSingles = 3;

// Random bits.
inline Numbers moved(const char* name, MPI_Datatype type, std::size_t size) {
  Numbers n{name, type, MPI_OP_NULL, size, nullptr};
  n.fold = [size](unsigned char* at, std::size_t first, std::size_t count, Givers givers,
                  std::uint64_t seed) {
    for (std::size_t i = first; i < first + count; ++i, at += size) {
      const std::uint64_t bits = value<std::uint64_t>(givers[0], i, seed), again[] = {bits, ~bits};
      std::memcpy(at, again, size);
    }
  };
  return n;
}

// They live as long as the program, so their types are never freed.
inline LayoutPointer kept(LayoutPointer layout) {
  layout->owns = false;
  return layout;
}

inline std::vector<LayoutPointer> layouts_of(const Numbers& n) {
  const auto s = static_cast<MPI_Aint>(n.size);
  MPI_Datatype vector, indexed, two, shifted, four, structure;
  MPI_Type_vector(2, 1, 2, n.type, &vector);
  const int lengths[] = {2, 1, 1}, places[] = {3, 0, 6};
  MPI_Type_indexed(3, lengths, places, n.type, &indexed);
  MPI_Type_contiguous(2, n.type, &two);
  MPI_Type_create_resized(two, -s, 4 * s, &shifted);
  MPI_Type_contiguous(4, n.type, &four);
  const int counts[] = {1, 1};
  const MPI_Aint starts[] = {0, 4 * s};
  const MPI_Datatype types[] = {vector, two};
  MPI_Type_create_struct(2, counts, starts, types, &structure);
  MPI_Type_free(&two);
  const auto made = [](const char* name, MPI_Datatype type, std::vector<MPI_Aint> offsets,
                       MPI_Aint extent) {
    return kept(std::make_shared<Layout>(name, type, std::move(offsets), extent, true));
  };
  return {plain(n),
          plain(n),
          kept(every_third(n)),
          made("vector of ", vector, {0, 2 * s}, 3 * s),
          made("indexed ", indexed, {3 * s, 4 * s, 0, 6 * s}, 7 * s),
          made("shifted ", shifted, {0, s}, 4 * s),
          made("4 ", four, {0, s, 2 * s, 3 * s}, 4 * s),
          made("struct of ", structure, {0, 2 * s, 4 * s, 5 * s}, 6 * s)};
}

inline const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> made{{moved("byte", MPI_BYTE, 1), {}},
                           {moved("short", MPI_SHORT, 2), {}},
                           {moved("int", MPI_INT, 4), {}},
                           {moved("float", MPI_FLOAT, 4), {}},
                           {moved("double", MPI_DOUBLE, 8), {}},
                           {moved("int64", MPI_INT64_T, 8), {}},
                           {moved("complex", MPI_C_DOUBLE_COMPLEX, 16), {}}};
    for (Base& base : made) base.layouts = layouts_of(base.numbers);
    return made;
  }();
  return all;
}

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
  if (*count % 7 == 3) sched_yield();
  fold_elements(shapes()[shape], function, in, inout, *count, false);
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
        if (is_same_everywhere(p, by)) {
          all.push_back(without_gaps(numbers_of(p, by, p.dtype), p.dtype));
        }
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
