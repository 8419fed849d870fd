// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/charge.h"

#include <smpi/smpi.h>

#include <array>
#include <utility>

namespace sumac::simulated {
namespace {

void fold(Op op, DType type, void* to, const void* const* from, int sources, std::size_t count) {
  find_reduce(op, type)(to, from, sources, count);
  const std::size_t folded = static_cast<std::size_t>(sources - 1) * count * size_of(type);
  if (folded > 0) smpi_execute_flops(static_cast<double>(folded));
}

constexpr std::size_t kPairs = static_cast<std::size_t>(kNumOps) * kNumDTypes;

// The pair of an operation and a type with that number.
template <std::size_t pair>
void fold_pair(void* to, const void* const* from, int sources, std::size_t count) {
  fold(static_cast<Op>(pair / kNumDTypes), static_cast<DType>(pair % kNumDTypes), to, from, sources,
       count);
}
template <std::size_t... pairs>
constexpr std::array<ReduceFn, kPairs> kernels_of(std::index_sequence<pairs...>) {
  return {fold_pair<pairs>...};
}

template <std::size_t op>
void fold_for_mpi(void* from, void* to, int* count, MPI_Datatype* type) {
  const void* both[] = {from, to};
  fold(static_cast<Op>(op), element_of(*type), to, both, 2, static_cast<std::size_t>(*count));
}
template <std::size_t... ops>
constexpr std::array<MPI_User_function*, sizeof...(ops)> functions_of(std::index_sequence<ops...>) {
  return {fold_for_mpi<ops>...};
}

}  // namespace

ReduceFn charged_kernel(Op op, DType type) {
  static constexpr auto kKernels = kernels_of(std::make_index_sequence<kPairs>());
  return kKernels[static_cast<std::size_t>(op) * kNumDTypes + static_cast<std::size_t>(type)];
}

MPI_Op make_charged_op(Op op) {
  static constexpr auto kFunctions = functions_of(std::make_index_sequence<kNumOps>());
  MPI_Op made = MPI_OP_NULL;
  PMPI_Op_create(kFunctions[static_cast<std::size_t>(op)], 1, &made);
  return made;
}

DType element_of(MPI_Datatype type) {
  const std::pair<MPI_Datatype, DType> known[] = {
      {MPI_DOUBLE, DType::f64},        {MPI_FLOAT, DType::f32},
      {MPI_INT, DType::i32},           {MPI_LONG, DType::i64},
      {MPI_LONG_LONG, DType::i64},     {MPI_UNSIGNED, DType::u32},
      {MPI_UNSIGNED_LONG, DType::u64}, {MPI_INT32_T, DType::i32},
      {MPI_INT64_T, DType::i64},       {MPI_UINT32_T, DType::u32},
      {MPI_UINT64_T, DType::u64},      {MPI_DOUBLE_INT, DType::f64_i32},
  };
  for (const auto& [handle, element] : known) {
    if (handle == type) return element;
  }
  return DType::none;
}

Op operation_of(MPI_Op op) {
  const std::pair<MPI_Op, Op> known[] = {
      {MPI_SUM, Op::sum},   {MPI_PROD, Op::prod},     {MPI_MIN, Op::min},
      {MPI_MAX, Op::max},   {MPI_LAND, Op::land},     {MPI_LOR, Op::lor},
      {MPI_BAND, Op::band}, {MPI_BOR, Op::bor},       {MPI_LXOR, Op::lxor},
      {MPI_BXOR, Op::bxor}, {MPI_MINLOC, Op::minloc}, {MPI_MAXLOC, Op::maxloc},
  };
  for (const auto& [handle, operation] : known) {
    if (handle == op) return operation;
  }
  return Op::none;
}

}  // namespace sumac::simulated
