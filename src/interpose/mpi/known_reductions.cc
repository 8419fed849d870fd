// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/known_reductions.h"

#include "interpose/mpi/user_handles.h"
#include "progress/announced.h"

namespace sumac {

PairMap<KnownReduction, 8> known_reductions;

namespace {

void remember(MpiDatatype type, MpiOp op, const KnownReduction& reduction) {
  if (!find_known_type(type) || !find_op(op)) return;  // could be freed, and come back
  known_reductions.insert(type.bits, op.bits, reduction);
}

}  // namespace

[[gnu::cold]] const KnownReduction* find_new_reduction(MpiDatatype type, MpiOp op, Reason& reason) {
  static thread_local KnownReduction found;
  const Op* operation = find_any_op(op);
  const TypeInfo* info = operation ? find_any_type(type) : nullptr;
  found.kernel = info ? find_kernel(*info, *operation) : nullptr;
  reason = operation || op == kMpi.op_null ? Reason::no_kernel : Reason::user_op;
  if (!found.kernel) return nullptr;
  found.type = *info;
  found.op = *operation;
  found.reduces = reduces_by(*operation, info->dtype);
  found.exact = is_exact(*operation, info->dtype);
  remember(type, op, found);
  return &found;
}

void forget_known_reductions() { known_reductions.clear(); }

}  // namespace sumac
