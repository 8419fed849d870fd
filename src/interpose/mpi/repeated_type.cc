// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/repeated_type.h"

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_envelope.h"

namespace sumac {

RepeatedType::RepeatedType(MpiDatatype type) {
  MpiDatatype inner = kMpi.datatype_null;
  if (read_repetition(type, inner, count_)) inner_ = inner;
}

RepeatedType::~RepeatedType() {
  if (inner_ == kMpi.datatype_null || find_known_type(inner_)) return;
  TypeEnvelope envelope;
  if (read_envelope(inner_, envelope) && !envelope.is_predefined()) mpi.Type_free(one(inner_));
}

}  // namespace sumac
