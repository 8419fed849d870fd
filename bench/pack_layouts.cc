// SPDX-License-Identifier: BSD-3-Clause
#include "pack_layouts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sumac::bench {
namespace {

constexpr MPI_Aint kDouble = sizeof(double);

struct Particle {
  double place[3];
  int number;
  double charge, mass;
};

Datatype vector(int count, int block, int stride) {
  MPI_Datatype type;
  MPI_Type_vector(count, block, stride, MPI_DOUBLE, &type);
  return Datatype(type);
}

Datatype hvector(int count, int block, MPI_Aint stride, const Datatype& part) {
  MPI_Datatype type;
  MPI_Type_create_hvector(count, block, stride * kDouble, part.get(), &type);
  return Datatype(type);
}

Datatype contiguous(int count, const Datatype& part) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, part.get(), &type);
  return Datatype(type);
}

Datatype resized(const Datatype& part, MPI_Aint extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(part.get(), 0, extent * kDouble, &type);
  return Datatype(type);
}

Datatype irregular(int doubles) {
  std::vector<int> blocks, places;
  for (int i = 0, place = 0; doubles > 0; i++) {
    blocks.push_back(std::min(1 + i * 7LL % 5, static_cast<long long>(doubles)));
    places.push_back(place);
    doubles -= blocks.back();
    place += blocks.back() + 1 + static_cast<int>(i * 3LL % 4);
  }
  MPI_Datatype type;
  MPI_Type_indexed(static_cast<int>(blocks.size()), blocks.data(), places.data(), MPI_DOUBLE,
                   &type);
  return Datatype(type);
}

Datatype particle() {
  const int blocks[] = {3, 1, 1};
  const MPI_Aint places[] = {offsetof(Particle, place), offsetof(Particle, number),
                             offsetof(Particle, mass)};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(3, blocks, places, parts, &type);
  return resized(Datatype(type), sizeof(Particle) / kDouble);
}

// The side of the largest square of so many doubles.
int root(int doubles) { return static_cast<int>(std::sqrt(doubles)); }

Datatype make(Layout layout, int n) {
  switch (layout) {
#define SUMAC_LAYOUT(name, what, made) \
  case Layout::name:                   \
    return made;
#include "pack_layouts.def"
#undef SUMAC_LAYOUT
  }
  return Datatype(MPI_DATATYPE_NULL);
}

}  // namespace

std::size_t Datatype::bytes() const {
  MPI_Count size = 0;
  MPI_Type_size_x(handle_, &size);
  return static_cast<std::size_t>(size);
}

std::size_t Datatype::room() const {
  MPI_Count first = 0, extent = 0;
  MPI_Type_get_true_extent_x(handle_, &first, &extent);
  return static_cast<std::size_t>(first + extent);
}

Datatype make_datatype(Layout layout, std::size_t bytes) {
  Datatype type = make(layout, static_cast<int>(bytes / sizeof(double)));
  type.commit();
  return type;
}

}  // namespace sumac::bench
