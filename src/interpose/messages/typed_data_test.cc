// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/typed_data_test.h"

#include <algorithm>
#include <cstring>

#include "interpose/calls/device_buffer.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/type_layout.h"
#include "layout/random_pair_test.h"

namespace sumac {
namespace {

constexpr std::uintptr_t kFirstType = 0x10000;
constexpr std::size_t kMostElement = 200, kKnownFrom = 2000;
std::vector<FakeType> types;

bool has_overlaps(BytePlaces places) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

// An element can be received, and so can several, each behind the one before.
Pair random_element(PairRandom& random) {
  for (;;) {
    Pair pair = random_pair(random, 3);
    const std::size_t bytes = pair.places.size();
    if (bytes > 0 && bytes <= kMostElement && !has_overlaps(pair.places)) return pair;
  }
}

}  // namespace

void make_types(unsigned seed, std::size_t number) {
  types.clear();
  PairRandom random(seed);
  while (types.size() < number) {
    FakeType& made = types.emplace_back();
    made.pair = random_element(random);
    const auto [low, high] = std::ranges::minmax(made.pair.places);
    made.extent = high + 1 - low + between(random, 0, 40);
    if (random() % 4 == 0) made.extent = -made.extent;
    made.uniform = random() % 4 != 0;
    made.known = random() % 2 == 0;
  }
}

MpiDatatype type_at(std::size_t number) { return {kFirstType + number}; }

FakeType* find_fake_type(MpiDatatype type) {
  const std::uintptr_t number = type.bits - kFirstType;
  return number < types.size() ? &types[number] : nullptr;
}

std::size_t size_of_type(MpiDatatype type) {
  const FakeType* found = find_fake_type(type);
  return found ? found->pair.places.size() : 1;
}

BytePlaces places_of(MpiDatatype type, int count) {
  const FakeType* found = find_fake_type(type);
  const Pair element = found ? Pair{{}, found->pair.places} : Pair{{}, {0}};
  return repeated_pair(element, static_cast<std::size_t>(count), found ? found->extent : 1).places;
}

std::string pack_by_map(const void* address, int count, MpiDatatype type) {
  std::string packed;
  for (const std::ptrdiff_t place : places_of(type, count)) {
    packed += static_cast<const char*>(address)[place];
  }
  return packed;
}

void unpack_by_map(const std::string& packed, void* address, int count, MpiDatatype type) {
  const BytePlaces places = places_of(type, count);
  for (std::size_t i = 0; i < std::min(packed.size(), places.size()); ++i) {
    static_cast<char*>(address)[places[i]] = packed[i];
  }
}

TypedMemory::TypedMemory(MpiDatatype type, int count, std::mt19937_64& random)
    : type_(type), count_(count), places_(sumac::places_of(type, count)) {
  constexpr std::ptrdiff_t kAround = 16;
  std::ptrdiff_t low = 0, high = 0;
  for (const std::ptrdiff_t place : places_) {
    low = std::min(low, place);
    high = std::max(high, place + 1);
  }
  origin_ = kAround - low;
  // Sanitizers allocate memory of different sizes farther apart than the displacements of
  // MPI_Alltoallw reach.
  constexpr std::size_t kMost = 256 << 10;
  bytes_.reserve(kMost);
  bytes_.resize(static_cast<std::size_t>(high - low + 2 * kAround));
  for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random());
  expected_ = bytes_;
}

std::string TypedMemory::packed() const {
  return pack_by_map(bytes_.data() + origin_, count_, type_);
}

void TypedMemory::expect(const std::string& packed) {
  unpack_by_map(packed, expected_.data() + origin_, count_, type_);
}

bool TypedMemory::has_kept_gaps() const {
  std::vector<std::byte> gaps = bytes_;
  for (const std::ptrdiff_t place : places_) {
    const auto at = static_cast<std::size_t>(origin_ + place);
    gaps[at] = expected_[at];
  }
  return gaps == expected_;
}

// Sumac finds this out about types.

const TypeInfo* find_known_type(MpiDatatype type) {
  static const TypeInfo kByte{1, 1, DType::u8, kNoOperation};
  return type == kMpi.byte || type == kMpi.packed ? &kByte : nullptr;
}
const DataLayout* find_packing(MpiDatatype type, MpiAint& extent) {
  const FakeType* found = find_fake_type(type);
  if (!found || !found->known) return nullptr;
  extent = found->extent;
  return &found->pair.layout;
}
bool is_uniform(MpiDatatype type) { return find_fake_type(type)->uniform; }
bool packed_size(MpiDatatype type, std::size_t& bytes) {
  bytes = size_of_type(type);
  return type != kMpi.datatype_null;
}
void note_packed(MpiDatatype type, MpiComm, std::size_t bytes) {
  FakeType& found = *find_fake_type(type);
  found.noted += bytes;
  found.known |= found.noted >= kKnownFrom;
}
bool is_on_device(const Data&) { return false; }
void pack_all(const LaidOut& elements, std::byte* to) { pack(elements, 0, elements.bytes(), to); }
void unpack_all(const LaidOut& elements, const std::byte* from) {
  unpack(elements, 0, elements.bytes(), from);
}

}  // namespace sumac
