// SPDX-License-Identifier: BSD-3-Clause
// The program has told Sumac this about handles that it made itself: operations of sumac_op_create,
// and hints. It is consulted if the tables of predefined handles have no entry.
#pragma once

#include "interpose/mpi/handles.h"

namespace sumac {

// Returns null if nothing is known. Takes no lock. The result is valid until the handle is freed.
const TypeInfo* find_hinted_type(MpiDatatype type);
const Op* find_told_op(MpiOp op);

// Does the same for predefined handles and the program's own.
inline const TypeInfo* find_any_type(MpiDatatype type) {
  if (const TypeInfo* info = find_known_type(type)) return info;
  if (const TypeInfo* info = find_hinted_type(type)) return info;
  return find_type(type);
}
inline const Op* find_any_op(MpiOp op) {
  const Op* known = find_op(op);
  return known ? known : find_told_op(op);
}

// Returns false if there is no memory. A type is forgotten when it is freed.
bool tell_type(MpiDatatype type, DType element);
bool tell_op(MpiOp op, Op kind);
void forget_op(MpiOp op);

// Must be called at finalisation: handles mean nothing afterwards.
void forget_user_handles();

}  // namespace sumac
