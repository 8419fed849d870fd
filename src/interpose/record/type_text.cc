// SPDX-License-Identifier: BSD-3-Clause
// The text of a datatype in a record: the call that made it, and the types that this was given.
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_contents.h"
#include "interpose/record/definitions.h"
#include "interpose/record/recorder.h"

namespace sumac {
namespace {

constexpr int kDeepest = 64;                   // types within types
constexpr std::size_t kMostNumbers = 1 << 16;  // of a constructor

// Rows of predefined_types.def by handle: an MPI may give two of them one.
using Names = std::unordered_map<std::uintptr_t, const char*>;
const Names& predefined_names() {
  static const auto* const names = [] {
    auto* made = new Names;
#define SUMAC_TYPE_KIND(kind, operations, text)
#define SUMAC_OPTIONAL_TYPE(name, kind)
#define SUMAC_TYPE(handle, kind) \
  if (handle != MPI_DATATYPE_NULL) made->try_emplace(handle_bits(MPI_Datatype(handle)), #handle);
#include "interpose/mpi/predefined_types.def"
    return made;
  }();
  return *names;
}

const char* name_of_combiner(int combiner) {
  static constexpr struct {
    int combiner;
    const char* name;
  } kNames[] = {
      {MPI_COMBINER_DUP, "dup"},
      {MPI_COMBINER_CONTIGUOUS, "contiguous"},
      {MPI_COMBINER_VECTOR, "vector"},
      {MPI_COMBINER_HVECTOR, "hvector"},
      {MPI_COMBINER_INDEXED, "indexed"},
      {MPI_COMBINER_HINDEXED, "hindexed"},
      {MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
      {MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"},
      {MPI_COMBINER_STRUCT, "struct"},
      {MPI_COMBINER_SUBARRAY, "subarray"},
      {MPI_COMBINER_DARRAY, "darray"},
      {MPI_COMBINER_RESIZED, "resized"},
      {MPI_COMBINER_F90_REAL, "f90_real"},
      {MPI_COMBINER_F90_COMPLEX, "f90_complex"},
      {MPI_COMBINER_F90_INTEGER, "f90_integer"},
  };
  for (const auto& row : kNames) {
    if (row.combiner == combiner) return row.name;
  }
  return nullptr;
}

std::string name_of(MPI_Datatype named) {
  const auto at = predefined_names().find(handle_bits(named));
  if (at != predefined_names().end()) return at->second;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  mpi.Type_get_name(named, name, &length);
  return length > 0 ? name : "MPI_BYTE";
}

// What is known of a type whose constructor is not: bytes where its data are.
std::string opaque_text(MPI_Datatype type) {
  std::size_t size = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  packed_size(type, size);
  mpi.Type_get_extent(type, &lower, &extent);
  mpi.Type_get_true_extent(type, &true_lower, &true_extent);
  std::string text = "opaque " + std::to_string(size);
  for (const MPI_Aint number : {true_lower, true_extent, lower, extent}) {
    text += ' ' + std::to_string(number);
  }
  return text;
}

int type_ends(MPI_Datatype type, int, void*, void*) {
  recorder().type_ends(handle_bits(type));
  return MPI_SUCCESS;
}

int do_not_copy(MPI_Datatype, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

bool watch_end(MPI_Datatype type) {
  int key = MPI_KEYVAL_INVALID;
  if (mpi.Type_create_keyval(do_not_copy, type_ends, &key, nullptr) != MPI_SUCCESS) return false;
  const bool set = mpi.Type_set_attr(type, key, nullptr) == MPI_SUCCESS;
  mpi.Type_free_keyval(&key);
  return set;
}

}  // namespace

std::string Definitions::type_text(MPI_Datatype type, int depth) {
  if (type == MPI_DATATYPE_NULL) return "null";
  TypeEnvelope envelope;
  if (!read_envelope(type, envelope)) return "null";
  if (envelope.combiner == MPI_COMBINER_NAMED) return "named " + name_of(type);
  const char* const combiner = name_of_combiner(envelope.combiner);
  const auto numbers =
      static_cast<std::size_t>(envelope.integers + envelope.addresses + envelope.large_counts);
  if (!combiner || depth > kDeepest || numbers > kMostNumbers) return opaque_text(type);
  const TypeContents contents(type, envelope);
  if (!contents.valid() || contents.is_mixed()) return opaque_text(type);
  std::string text = combiner + (' ' + std::to_string(numbers));
  for (std::size_t i = 0; i < numbers; ++i) text += ' ' + std::to_string(contents.number(i));
  for (std::size_t i = 0; i < contents.types(); ++i) {
    text += ' ' + std::to_string(types_.find(type_text(contents.type(i), depth + 1)));
  }
  return text;
}

unsigned Definitions::type(MPI_Datatype type) {
  const std::uintptr_t handle = handle_bits(type);
  if (const auto at = known_types_.find(handle); at != known_types_.end()) return at->second;
  const unsigned number = types_.find(type_text(type, 0));
  const bool lasts = type == MPI_DATATYPE_NULL || find_known_type(type);
  if (lasts || watch_end(type)) known_types_.emplace(handle, number);
  return number;
}

}  // namespace sumac
