// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/handles.h"

#include <mutex>

#include "base/hash.h"
#include "interpose/mpi/handle_tables.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_contents.h"
#include "interpose/mpi/type_info.h"
#include "interpose/mpi/world.h"
#include "strands/lock.h"

namespace sumac {
namespace {

constexpr int kHomeBits = 9;
HandleMap<TypeInfo, kHomeBits> types;  // known from the start
HandleMap<TypeInfo, kHomeBits> asked;  // met later
HandleMap<Op, kHomeBits> ops;
ReduceFn kernels[kNumOps + 1][kNumDTypes + 1];  // null if there is none

Lock asking;  // held while a type is added to `asked`
std::uint64_t types_hash = SUMAC_HASH_START;

void learn_type(MpiDatatype type, TypeKind kind) {
  TypeInfo info;
  if (describe_type(type, kind, true, info)) {
    add_extensions(type, info);
    types.insert(type.bits, info);
  }
  const char learnt[] = {static_cast<char>(info.dtype), static_cast<char>(info.size)};
  types_hash = hash_text({learnt, sizeof learnt}, types_hash);
}

void learn_types() {
  for (const PredefinedType& each : predefined_types()) learn_type(each.handle, each.kind);
  keep_extensions();
}

void learn_operations() {
  for (int op = 0; op < kNumOps; ++op) {
    ops.insert(handle_of(static_cast<Op>(op)).bits, static_cast<Op>(op));
  }
  for (const MpiOp none : operations_of_one_sided_calls()) ops.insert(none.bits, Op::none);
}

}  // namespace

void learn_predefined_handles() {
  learn_types();
  learn_operations();
  for (int op = 0; op < kNumOps; ++op) {
    for (int type = 0; type < kNumDTypes; ++type) {
      const Op o = static_cast<Op>(op);
      const DType t = static_cast<DType>(type);
      if (is_defined(o, t)) kernels[op][type] = find_reduce(o, t);
    }
  }
}

std::uint64_t known_types_hash() { return types_hash ^ extensions_hash(); }

const TypeInfo* find_known_type(MpiDatatype type) {
  const TypeInfo* known = types.find(type.bits);
  return known ? known : asked.find(type.bits);
}

const TypeInfo* find_type(MpiDatatype type) {
  if (const TypeInfo* known = find_known_type(type)) return known;
  TypeKind kind;
  if (!find_kind(type, kind)) return nullptr;
  static thread_local TypeInfo info;
  const std::lock_guard<Lock> hold(asking);
  if (const TypeInfo* known = asked.find(type.bits)) return known;
  if (!describe_type(type, kind, false, info)) return nullptr;
  add_extensions(type, info);
  // With sessions only, the handle may belong to another type in a later session.
  if (!world_exists()) return &info;
  const TypeInfo* known = asked.insert(type.bits, info);
  return known ? known : &info;
}

void forget_handles() {
  asked.clear();
  forget_extensions();
}

const Op* find_op(MpiOp op) { return ops.find(op.bits); }

MpiOp handle_of(Op op) { return predefined_op(op); }

ReduceFn find_kernel(const TypeInfo& type, Op op, bool may_ask) {
  if (!(type.operations & class_of(op))) return find_extension(type.row, op, may_ask);
  return kernels[static_cast<int>(op)][static_cast<int>(type.dtype)];
}

bool packed_size(MpiDatatype type, std::size_t& bytes) {
  if (const TypeInfo* info = find_known_type(type)) {
    bytes = info->size;
    return true;
  }
  MpiCount size = 0;
  if (type == kMpi.datatype_null || mpi.Type_size_x(type, &size) != kMpiSuccess) return false;
  if (size < 0) return false;  // the MPI says MPI_UNDEFINED
  bytes = static_cast<std::size_t>(size);
  return true;
}

bool lies_packed(MpiDatatype type) {
  if (const TypeInfo* info = find_type(type)) return !info->has_gaps();
  const RepeatedType made(type);
  return made.inner() != kMpi.datatype_null && lies_packed(made.inner());
}

}  // namespace sumac
