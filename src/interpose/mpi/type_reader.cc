// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_layout.h"

#include <algorithm>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_contents.h"
#include "layout/layouts.h"
#include "layout/run_list.h"

namespace sumac {

namespace {

// Calls step(dimension) for each dimension, the fastest one first.
template <class Step>
void for_dimensions(std::size_t dimensions, MpiCount order, Step step) {
  for (std::size_t i = 0; i < dimensions; ++i) {
    step(order == kMpi.order_fortran ? i : dimensions - 1 - i);
  }
}

// This says which indices of one dimension of a distributed array a process has.
struct Distribution {
  MpiCount kind, argument, size, processes, own;

  // Calls add(first index, how many) for runs of adjoining indices.
  template <class Add>
  void in_runs(Add add) const {
    if (kind == kMpi.distribute_none) return add(0, size);
    const bool is_default = argument == kMpi.distribute_dflt_darg;
    const MpiCount share = (size + processes - 1) / processes;
    const bool cyclic = kind == kMpi.distribute_cyclic;
    const MpiCount block = !is_default ? argument : cyclic ? 1 : share;
    const MpiCount step = cyclic ? block * processes : size;
    for (MpiCount first = own * block; first < size; first += step) {
      add(first, std::min(block, size - first));
      if (!cyclic) return;
    }
  }
  std::size_t most_runs() const {
    return kind == kMpi.distribute_cyclic ? static_cast<std::size_t>(size) : 1;
  }
};

// The numbers are: dimensions, sizes, sizes of the part, where it starts, order.
DataLayout subarray(const TypeContents& contents, const DataLayout& element, MpiAint extent) {
  const std::size_t dimensions = contents.count(0);
  DataLayout layout = element;
  MpiAint stride = extent;
  for_dimensions(dimensions, contents.number(1 + 3 * dimensions), [&](std::size_t i) {
    const MpiCount start = contents.number(1 + 2 * dimensions + i);
    layout = shifted(repeated(layout, contents.count(1 + dimensions + i), stride), start * stride);
    stride *= contents.number(1 + i);
  });
  return layout;
}

// The numbers are: processes, rank, dimensions, sizes, kinds, their arguments, processes in each
// dimension, order. Processes are counted in the order of C, whatever the array's order is.
DataLayout darray(const TypeContents& contents, const DataLayout& element, MpiAint extent) {
  const std::size_t dimensions = contents.count(2);
  std::vector<Distribution> distributions(dimensions);
  MpiCount processes = contents.number(0), rank = contents.number(1);
  for (std::size_t i = 0; i < dimensions; ++i) {
    const auto number = [&](std::size_t which) {
      return contents.number(3 + which * dimensions + i);
    };
    processes /= number(3);
    distributions[i] = {number(1), number(2), number(0), number(3), rank / processes};
    rank %= processes;
  }
  DataLayout layout = element;
  MpiAint stride = extent;
  for_dimensions(dimensions, contents.number(3 + 4 * dimensions), [&](std::size_t i) {
    RunList runs(layout, stride, distributions[i].most_runs());
    distributions[i].in_runs([&](MpiCount first, MpiCount count) {
      runs.add(first * stride, static_cast<std::size_t>(count));
    });
    layout = runs.finish();
    stride *= distributions[i].size;
  });
  return layout;
}

constexpr int kDeepest = 64;  // most levels of types within types

// This says within how many others a type lies that is being read, and what has been met in it.
struct Reading {
  int depth = 0;
  std::size_t element_bytes = 0;  // bytes of the predefined types in it; 0 before the first
  bool uniform = true;

  void meet(const TypeInfo& predefined) {
    if (element_bytes == 0) element_bytes = predefined.size;
    const bool is_pair = (predefined.operations & kLocation) != 0;
    if (is_pair || predefined.size != element_bytes) uniform = false;
  }
};

bool read_nested(MpiDatatype type, Reading& reading, DataLayout& layout);

// This is an inner type, as constructors use it.
struct Inner {
  DataLayout layout;
  MpiAint extent = 0;

  bool read(MpiDatatype type, Reading& reading) {
    MpiAint lower = 0;
    return read_nested(type, reading, layout) &&
           mpi.Type_get_extent(type, &lower, &extent) == kMpiSuccess;
  }
  DataLayout run(std::size_t count) const { return repeated(layout, count, extent); }
};

// Elements are all data, or pairs of a value and an int; a gap may be between the two or after
// them.
bool layout_of_predefined(const TypeInfo& info, DataLayout& layout) {
  if (!info.has_gaps()) {
    layout = layout_of_block(info.size);
    return true;
  }
  constexpr std::size_t kIndex = sizeof(int);
  if (info.operations != kLocation || info.size <= kIndex) return false;
  const std::size_t value = info.size - kIndex;
  const std::size_t place = (value + kIndex - 1) / kIndex * kIndex;
  layout = joined({layout_of_block(value),
                   shifted(layout_of_block(kIndex), static_cast<std::ptrdiff_t>(place))});
  return true;
}

// The numbers are counts, lengths of blocks and places: number(first_place + i) times `unit`.
DataLayout indexed(const TypeContents& contents, const Inner& inner, bool one_length,
                   MpiAint unit) {
  const std::size_t blocks = contents.count(0);
  const std::size_t first_place = one_length ? 2 : 1 + blocks;
  RunList list(inner.layout, inner.extent, blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    list.add(contents.number(first_place + i) * unit, contents.count(one_length ? 1 : 1 + i));
  }
  return list.finish();
}

// A part without data can still have a place, beyond the data: Open MPI 4 then packs the second and
// later elements from elsewhere, and MPICH 4 divides by zero. Such a type is left to the MPI.
bool structure(const TypeContents& contents, Reading& reading, DataLayout& layout) {
  const std::size_t blocks = contents.types();
  std::vector<DataLayout> parts;
  Inner inner;
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool is_new = i == 0 || contents.type(i) != contents.type(i - 1);
    if (is_new && !inner.read(contents.type(i), reading)) return false;
    if (inner.layout.bytes() == 0) return false;
    parts.push_back(shifted(inner.run(contents.count(1 + i)), contents.number(1 + blocks + i)));
  }
  layout = joined(parts);
  return true;
}

bool from_contents(const TypeContents& contents, int combiner, Reading& reading,
                   DataLayout& layout) {
  if (combiner == kMpi.combiner_struct) return structure(contents, reading, layout);
  Inner inner;
  if (contents.types() != 1 || !inner.read(contents.type(0), reading)) return false;
  constexpr bool kOneLength = true;
  if (combiner == kMpi.combiner_dup || combiner == kMpi.combiner_resized) {
    layout = inner.layout;
  } else if (combiner == kMpi.combiner_contiguous) {
    layout = inner.run(contents.count(0));
  } else if (combiner == kMpi.combiner_vector) {
    layout = repeated(inner.run(contents.count(1)), contents.count(0),
                      contents.number(2) * inner.extent);
  } else if (combiner == kMpi.combiner_hvector) {
    layout = repeated(inner.run(contents.count(1)), contents.count(0), contents.number(2));
  } else if (combiner == kMpi.combiner_indexed) {
    layout = indexed(contents, inner, !kOneLength, inner.extent);
  } else if (combiner == kMpi.combiner_hindexed) {
    layout = indexed(contents, inner, !kOneLength, 1);
  } else if (combiner == kMpi.combiner_indexed_block) {
    layout = indexed(contents, inner, kOneLength, inner.extent);
  } else if (combiner == kMpi.combiner_hindexed_block) {
    layout = indexed(contents, inner, kOneLength, 1);
  } else if (combiner == kMpi.combiner_subarray) {
    layout = subarray(contents, inner.layout, inner.extent);
  } else if (combiner == kMpi.combiner_darray) {
    layout = darray(contents, inner.layout, inner.extent);
  } else {
    return false;
  }
  return true;
}

// Returns true if the MPI says the same of the type. Open MPI 4 takes vectors of some negative
// strides for ascending ones.
bool agrees(const DataLayout& layout, MpiDatatype type) {
  std::size_t size = 0;
  MpiAint lower = 0, extent = 0;
  if (!packed_size(type, size) || size != layout.bytes()) return false;
  if (size == 0) return true;
  mpi.Type_get_true_extent(type, &lower, &extent);
  return bounds_of(layout) == DataBounds{lower, lower + extent};
}

bool read_nested(MpiDatatype type, Reading& reading, DataLayout& layout) {
  if (reading.depth > kDeepest) return false;
  if (const TypeInfo* predefined = find_type(type)) {
    reading.meet(*predefined);
    return layout_of_predefined(*predefined, layout);
  }
  TypeEnvelope envelope;
  if (!read_envelope(type, envelope) || envelope.is_predefined()) return false;
  const TypeContents contents(type, envelope);
  if (!contents.valid() || contents.is_mixed()) return false;
  ++reading.depth;
  const bool right = from_contents(contents, envelope.combiner, reading, layout);
  --reading.depth;
  return right && agrees(layout, type);
}

}  // namespace

bool read_layout(MpiDatatype type, DataLayout& layout, bool& is_uniform) {
  Reading reading;
  const bool right = read_nested(type, reading, layout);
  is_uniform = reading.uniform;
  return right;
}

}  // namespace sumac
