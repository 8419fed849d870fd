// SPDX-License-Identifier: BSD-3-Clause
// In tests of packed messages, datatypes are lists of the places of their bytes, and the MPI packs
// by these. Sumac has a layout of each, which it may not know at first.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "interpose/mpi/constants.h"
#include "layout/byte_map_test.h"

namespace sumac {

struct FakeType {
  Pair pair;
  MpiAint extent = 0;
  bool uniform = true;
  std::size_t noted = 0;  // bytes that the MPI has packed of it
  bool known = false;     // find_packing() knows it
};

// Makes types for one program, some of which are known.
void make_types(unsigned seed, std::size_t number);

MpiDatatype type_at(std::size_t number);
// Returns null for predefined types.
FakeType* find_fake_type(MpiDatatype type);
// Returns the packed bytes of an element.
std::size_t size_of_type(MpiDatatype type);

// Returns the places of the packed bytes of elements, from the first one's address on.
BytePlaces places_of(MpiDatatype type, int count);

// The MPI packs by these.
std::string pack_by_map(const void* address, int count, MpiDatatype type);
void unpack_by_map(const std::string& packed, void* address, int count, MpiDatatype type);

// This is memory for elements of a type, with bytes around them and in gaps that are not theirs.
class TypedMemory {
 public:
  TypedMemory(MpiDatatype type, int count, std::mt19937_64& random);

  MpiDatatype type() const { return type_; }
  int count() const { return count_; }
  void* address() { return bytes_.data() + origin_; }
  std::size_t packed_bytes() const { return places_.size(); }
  // Returns the packed bytes as they are now.
  std::string packed() const;
  // Puts so many packed bytes where they should come to lie.
  void expect(const std::string& packed);
  // Returns true if all bytes are as they should be, or at least those of the gaps.
  bool is_as_expected() const { return bytes_ == expected_; }
  bool has_kept_gaps() const;

 private:
  const MpiDatatype type_;
  const int count_;
  const BytePlaces places_;
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> bytes_, expected_;
};

}  // namespace sumac
