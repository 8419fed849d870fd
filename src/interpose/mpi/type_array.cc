// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_array.h"

#include <algorithm>

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

}  // namespace

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

}  // namespace sumac
