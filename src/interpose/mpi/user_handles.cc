// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/user_handles.h"

#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/handle_tables.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

// Few handles are alive at a time.
constexpr int kHomeBits = 4;
HandleMap<const TypeInfo*, kHomeBits> types;
HandleMap<Op, kHomeBits> ops;

constexpr TypeInfo half_of(DType element) {
  TypeInfo info;
  info.size = info.extent = size_of(element);
  info.dtype = element;
  info.operations = kArithmetic;
  return info;
}
constexpr TypeInfo kFloat16 = half_of(DType::f16), kBfloat16 = half_of(DType::bf16);

// The MPI calls this when the type has ended, since its handle may be given to another one.
void on_end(std::uintptr_t handle, void*) { types.erase(handle); }

// Has the MPI tell when the type is freed. As with communicators, no key is kept.
bool watch_end(MpiDatatype type) {
  int key = kMpi.keyval_invalid;
  if (create_type_keyval(on_end, &key) != kMpiSuccess) return false;
  const bool set = mpi.Type_set_attr(type, key, &types) == kMpiSuccess;
  mpi.Type_free_keyval(&key);
  return set;
}

}  // namespace

const TypeInfo* find_hinted_type(MpiDatatype type) {
  const TypeInfo* const* info = types.find(type.bits);
  return info ? *info : nullptr;
}

const Op* find_told_op(MpiOp op) { return ops.find(op.bits); }

bool tell_type(MpiDatatype type, DType element) {
  const TypeInfo* const info = element == DType::f16 ? &kFloat16 : &kBfloat16;
  const TypeInfo* const hinted = find_hinted_type(type);
  if (hinted == info) return true;
  if (!hinted && !watch_end(type)) return false;
  types.erase(type.bits);  // a second hint replaces the first one
  return types.insert(type.bits, info);
}

bool tell_op(MpiOp op, Op kind) {
  ops.erase(op.bits);
  return ops.insert(op.bits, kind);
}

void forget_op(MpiOp op) { ops.erase(op.bits); }

void forget_user_handles() {
  types.clear();
  ops.clear();
}

}  // namespace sumac
