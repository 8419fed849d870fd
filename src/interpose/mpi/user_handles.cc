// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/user_handles.h"

#include "interpose/mpi/handle_map.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

// Few are alive at a time.
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

int do_not_copy(MPI_Datatype, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

// The type has ended, and its handle may be given to another one.
int on_delete(MPI_Datatype, int, void* handle, void*) {
  types.erase(reinterpret_cast<std::uintptr_t>(handle));
  return MPI_SUCCESS;
}

// Has the MPI tell when the type is freed. No key is kept, as for communicators.
bool watch_end(MPI_Datatype type) {
  int key = MPI_KEYVAL_INVALID;
  if (mpi.Type_create_keyval(do_not_copy, on_delete, &key, nullptr) != MPI_SUCCESS) return false;
  void* handle = reinterpret_cast<void*>(handle_bits(type));
  const bool set = mpi.Type_set_attr(type, key, handle) == MPI_SUCCESS;
  mpi.Type_free_keyval(&key);
  return set;
}

}  // namespace

const TypeInfo* find_hinted_type(MPI_Datatype type) {
  const TypeInfo* const* info = types.find(handle_bits(type));
  return info ? *info : nullptr;
}

const Op* find_told_op(MPI_Op op) { return ops.find(handle_bits(op)); }

bool tell_type(MPI_Datatype type, DType element) {
  const TypeInfo* const info = element == DType::f16 ? &kFloat16 : &kBfloat16;
  const TypeInfo* const hinted = find_hinted_type(type);
  if (hinted == info) return true;
  if (!hinted && !watch_end(type)) return false;
  types.erase(handle_bits(type));  // a second hint replaces the first one
  return types.insert(handle_bits(type), info);
}

bool tell_op(MPI_Op op, Op kind) {
  ops.erase(handle_bits(op));
  return ops.insert(handle_bits(op), kind);
}

void forget_op(MPI_Op op) { ops.erase(handle_bits(op)); }

void forget_user_handles() {
  types.clear();
  ops.clear();
}

}  // namespace sumac
