// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/blocks.h"

#include <algorithm>
#include <vector>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

MpiAint Blocks::first_place() const {
  MpiAint first = place(0);
  for (int r = 1; r < ranks_; ++r) first = std::min(first, place(r));
  return first;
}

bool Blocks::total(MpiCount& elements) const {
  elements = 0;
  const bool has_places = call_.displacements || !info_of(call_.kind.function).places;
  if (listed() && !(call_.counts && has_places)) return false;
  for (int r = 0; r < ranks_; ++r) {
    const MpiCount count = this->count(r);
    if (count < 0) return false;
    elements += count;
  }
  return true;
}

std::unique_ptr<Part[]> Blocks::adjoining(std::size_t element) const {
  auto parts = std::make_unique_for_overwrite<Part[]>(static_cast<unsigned>(ranks_));
  std::size_t end = 0;
  for (int r = 0; r < ranks_; ++r) {
    const std::size_t bytes = static_cast<std::size_t>(count(r)) * element;
    parts[static_cast<std::size_t>(r)] = {end, bytes};
    end += bytes;
  }
  return parts;
}

std::unique_ptr<Part[]> Blocks::at_places(std::size_t element) const {
  auto parts = adjoining(element);
  const MpiAint first = first_place();
  for (int r = 0; r < ranks_; ++r) {
    parts[static_cast<std::size_t>(r)].offset =
        static_cast<std::size_t>(place(r) - first) * element;
  }
  return parts;
}

DataLayout Blocks::layout(const DataLayout& element, MpiAint extent) const {
  std::vector<DataLayout> parts;
  for (int r = 0; r < ranks_; ++r) {
    const DataLayout part = repeated(element, static_cast<std::size_t>(count(r)), extent);
    parts.push_back(shifted(part, place(r) * extent));
  }
  return joined(parts);
}

MpiDatatype Blocks::make_type(MpiAint extent) const {
  std::vector<int> counts;
  std::vector<MpiAint> places;
  for (int r = 0; r < ranks_; ++r) {
    counts.push_back(static_cast<int>(count(r)));
    places.push_back(place(r) * extent);
  }
  MpiDatatype type = kMpi.datatype_null;
  mpi.Type_create_hindexed(ranks_, counts.data(), places.data(), call_.receive.type, one(type));
  mpi.Type_commit(one(type));
  return type;
}

Data own_data(const Call& call, int rank, int ranks) {
  if (call.send.address != kMpi.in_place) return call.send;
  const Blocks blocks(call, ranks);
  MpiAint lower = 0, extent = 0;
  mpi.Type_get_extent(call.receive.type, &lower, &extent);
  char* const own = static_cast<char*>(call.receive.address) + blocks.place(rank) * extent;
  return {own, blocks.count(rank), call.receive.type};
}

}  // namespace sumac
