// SPDX-License-Identifier: BSD-3-Clause
// The datatypes of pack_layouts.def.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>

#include "pack_layout_names.h"

namespace sumac::bench {

// A datatype that is freed with its owner.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype handle) : handle_(handle) {}
  Datatype(Datatype&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&&) = delete;
  ~Datatype() {
    if (handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
  }

  MPI_Datatype get() const { return handle_; }
  void commit() { MPI_Type_commit(&handle_); }
  // Packed bytes of one element.
  std::size_t bytes() const;
  // Bytes from the element's address, where its first place is, to the end of its last place.
  std::size_t room() const;

 private:
  MPI_Datatype handle_;
};

// The layout's committed datatype with at most `bytes` packed bytes: with none, if they are too few
// for a block of it.
Datatype make_datatype(Layout layout, std::size_t bytes);

}  // namespace sumac::bench
