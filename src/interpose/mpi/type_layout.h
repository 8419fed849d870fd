// SPDX-License-Identifier: BSD-3-Clause
// The layout says how elements of any type lie in memory.
#pragma once

#include <cstddef>

#include "interpose/mpi/constants.h"
#include "layout/layouts.h"

namespace sumac {

struct DataLayout;

struct TypeLayout {
  std::size_t size = 0;  // packed bytes of an element
  MpiAint extent = 0;    // bytes from one element to the next; may be negative
  // All of an element, gaps included, lies within [low, high) bytes from its address.
  MpiAint low = 0, high = 0;
  // True if an element is all data, from its address on: elements may be copied as `size` bytes
  // each.
  bool dense = false;

  // These return the bytes that `count` elements, at least one, take in memory, and where in these
  // the first element is.
  std::size_t span(std::size_t count) const {
    const MpiAint steps = static_cast<MpiAint>(count - 1) * extent;
    return static_cast<std::size_t>(high - low + (steps < 0 ? -steps : steps));
  }
  MpiAint first(std::size_t count) const {
    const MpiAint steps = static_cast<MpiAint>(count - 1) * extent;
    return (steps < 0 ? -steps : 0) - low;
  }
};

// Finds the layout of `type`, which must not be MPI_DATATYPE_NULL. The MPI is asked when a handle
// first occurs. Returns an MPI error if the type is not committed, or is none; the error handler of
// `comm` has then been told.
int find_layout(MpiDatatype type, MpiComm comm, TypeLayout& layout);

// Returns the places of an element's packed bytes, for a derived type of which find_layout() has
// been asked lately; `extent` is the type's. Returns null for all others, without asking the MPI
// whether they are types, and if the type cannot be read. It is read when this is first asked. The
// layout lasts as long as the type.
const DataLayout* find_packing(MpiDatatype type, MpiAint& extent);

// For a type that find_packing() has read, returns true if all elements that it is made of have one
// size, and none is a pair (MPI_2INT, MPI_DOUBLE_INT and the like).
bool is_uniform(MpiDatatype type);

// Must be called at finalisation.
void forget_layouts();

// Reads a datatype's layout, through MPI_Type_get_envelope and MPI_Type_get_contents. Returns false
// if the type, or one that it is made of, is of a kind that is not known here, or if the MPI takes
// one for something else than the standard says. `is_uniform` is set to what is_uniform() returns.
bool read_layout(MpiDatatype type, DataLayout& layout, bool& is_uniform);

// This header finds the derived types that are used so much that it pays to read them. Reading a
// type costs more than packing an element of it once may gain.

// Must be called when the MPI has packed or unpacked `bytes` packed bytes of a valid type. Once
// this adds up to 8 KiB of a type, find_packing() knows it.
void note_packed(MpiDatatype type, MpiComm comm, std::size_t bytes);

// Does the same as find_packing(), for a type of which `bytes` bytes are to be packed now. If it
// returns null, it notes these bytes.
const DataLayout* use_packing(MpiDatatype type, MpiComm comm, std::size_t bytes, MpiAint& extent);

}  // namespace sumac
