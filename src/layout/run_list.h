// SPDX-License-Identifier: BSD-3-Clause
// Makes the layout of a list of runs, in packing order, as MPI_Type_indexed and similar functions
// describe them.
#pragma once

#include "layout/layouts.h"

namespace sumac {

class RunList {
 public:
  // The runs are made of bytes. `expected` is how many runs will be added at most.
  explicit RunList(std::size_t expected) : RunList(layout_of_block(1), 1, expected) {}
  // The runs are made of elements with this layout, `extent` bytes from one to the next.
  RunList(const DataLayout& element, std::ptrdiff_t extent, std::size_t expected);

  // Adds a run of `count` elements, the first at `at` bytes.
  void add(std::ptrdiff_t at, std::size_t count);
  DataLayout finish();

 private:
  using Runs = LayoutNode::Runs;
  using Group = Runs::Group;

  // Runs of one length at one stride need no list.
  bool continues_loop(std::ptrdiff_t at, std::size_t units);
  void take_back_loop();
  void add_pending();
  void push(std::ptrdiff_t at, std::size_t units);
  void note_wide();

  DataLayout element_;
  std::ptrdiff_t extent_;
  std::size_t expected_;
  std::size_t per_element_ = 1;    // units
  std::ptrdiff_t pending_at_ = 0;  // the last run, which may still grow
  std::size_t pending_ = 0;        // its units
  std::ptrdiff_t loop_at_ = 0, loop_stride_ = 0;
  std::size_t loop_units_ = 0, loop_count_ = 0;
  bool listed_ = false;
  Runs runs_{};
  std::size_t units_ = 0;
};

}  // namespace sumac
