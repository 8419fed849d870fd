// SPDX-License-Identifier: BSD-3-Clause
// The datatypes and operations of a record, made again.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "record.h"

namespace sumac::replay {

struct Type {
  MPI_Datatype handle = MPI_BYTE;
  DType element = DType::none;  // of a predefined type that operations are defined on
  bool is_truth = false;        // of which only zero and one are values
  bool made = false;            // here, to be freed
  std::int64_t size = 1, extent = 1, true_lower = 0, true_extent = 1;

  bool dense() const { return size == extent && true_lower == 0 && true_extent == size; }
};

// Throws Failure where the MPI lacks a type.
std::vector<Type> make_types(const std::vector<TypeText>& texts);
void free_types(std::vector<Type>& types);

struct Operation {
  MPI_Op handle = MPI_OP_NULL;
  Op op = Op::none;  // none: what stands for a function of the program's
};

// A function of the program's is replaced by one of the same commutativity on the elements' bytes.
std::vector<Operation> make_operations(const std::vector<std::string>& names);
void free_operations(std::vector<Operation>& operations);

}  // namespace sumac::replay
