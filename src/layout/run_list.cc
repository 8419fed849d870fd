// SPDX-License-Identifier: BSD-3-Clause
#include "layout/run_list.h"

#include <algorithm>
#include <limits>
#include <span>

namespace sumac {
namespace {

constexpr std::size_t kRunsOfGroup = 256;
constexpr std::size_t kMostUnits = std::numeric_limits<std::uint32_t>::max();

// Returns true if the second run of bytes begins behind the first, and no page between them is
// without data.
bool is_close(const LayoutNode::Runs::Run& first, const LayoutNode::Runs::Run& second) {
  constexpr std::int64_t kSmallestPage = 4096;
  const std::int64_t gap = std::int64_t{second.at} - first.at - std::int64_t{first.units};
  return gap >= 0 && gap < kSmallestPage;
}

// Returns Group::wide of a group of these runs of bytes.
std::uint32_t count_wide(std::span<const LayoutNode::Runs::Run> runs) {
  std::size_t last = 0;
  while (last + 1 < runs.size() && is_close(runs[last], runs[last + 1])) ++last;
  const std::int64_t end = std::int64_t{runs[last].at} + runs[last].units;
  std::uint32_t wide = 0;
  constexpr std::int64_t kMost = LayoutNode::Runs::kWideMost;
  while (wide <= last && runs[wide].units <= kMost && runs[wide].at + kMost <= end) ++wide;
  return wide;
}

bool fits(std::ptrdiff_t distance) {
  return distance >= std::numeric_limits<std::int32_t>::min() &&
         distance <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

// Elements that are blocks and adjoin are counted as bytes.
RunList::RunList(const DataLayout& element, std::ptrdiff_t extent, std::size_t expected)
    : element_(element), extent_(extent), expected_(expected) {
  const bool is_block =
      element.node && std::holds_alternative<LayoutNode::Block>(element.node->form);
  if (!is_block || extent != static_cast<std::ptrdiff_t>(element.bytes())) return;
  per_element_ = element.bytes();
  if (per_element_ > 1) element_ = shifted(layout_of_block(1), element.at);
  extent_ = 1;
}

void RunList::add(std::ptrdiff_t at, std::size_t count) {
  if (count == 0 || !element_.node) return;
  const std::size_t units = count * per_element_;
  if (pending_ > 0 && at == pending_at_ + static_cast<std::ptrdiff_t>(pending_) * extent_) {
    pending_ += units;
    return;
  }
  add_pending();
  pending_at_ = at;
  pending_ = units;
}

void RunList::add_pending() {
  if (pending_ == 0) return;
  if (!listed_) {
    if (continues_loop(pending_at_, pending_)) return;
    take_back_loop();
  }
  push(pending_at_, pending_);
}

bool RunList::continues_loop(std::ptrdiff_t at, std::size_t units) {
  if (loop_count_ == 0) {
    loop_at_ = at;
    loop_units_ = units;
  } else if (loop_count_ == 1) {
    loop_stride_ = at - loop_at_;
  }
  const std::ptrdiff_t next = loop_at_ + static_cast<std::ptrdiff_t>(loop_count_) * loop_stride_;
  if (units != loop_units_ || at != next) return false;
  ++loop_count_;
  return true;
}

void RunList::take_back_loop() {
  listed_ = true;
  runs_.runs.reserve(expected_);
  runs_.groups.reserve(expected_ / kRunsOfGroup + 1);
  for (std::size_t i = 0; i < loop_count_; ++i) {
    push(loop_at_ + static_cast<std::ptrdiff_t>(i) * loop_stride_, loop_units_);
  }
}

void RunList::push(std::ptrdiff_t at, std::size_t units) {
  while (units > 0) {
    const std::size_t some = std::min(units, kMostUnits);
    const bool begins_group = runs_.groups.empty() ||
                              runs_.runs.size() - runs_.groups.back().first == kRunsOfGroup ||
                              !fits(at - runs_.groups.back().at);
    if (begins_group) runs_.groups.push_back({at, runs_.runs.size(), units_});
    if (runs_.runs.empty()) runs_.equal = static_cast<std::uint32_t>(some);
    if (runs_.equal != some) runs_.equal = 0;
    runs_.runs.push_back(
        {static_cast<std::int32_t>(at - runs_.groups.back().at), static_cast<std::uint32_t>(some)});
    units_ += some;
    units -= some;
    at += static_cast<std::ptrdiff_t>(some) * extent_;
  }
}

void RunList::note_wide() {
  const std::span<const Runs::Run> runs = runs_.runs;
  for (std::size_t g = 0; g < runs_.groups.size(); ++g) {
    Group& group = runs_.groups[g];
    const bool is_last = g + 1 == runs_.groups.size();
    const std::size_t end = is_last ? runs.size() : runs_.groups[g + 1].first;
    group.wide = count_wide(runs.subspan(group.first, end - group.first));
  }
}

DataLayout RunList::finish() {
  add_pending();
  if (!listed_) {
    if (loop_count_ == 0) return {};
    const DataLayout run = repeated(element_, loop_units_, extent_);
    return shifted(repeated(run, loop_count_, loop_stride_), loop_at_);
  }
  // Gives back memory that merged runs have left unused.
  if (runs_.runs.size() < runs_.runs.capacity() / 8 * 7) runs_.runs.shrink_to_fit();
  if (runs_.groups.size() < runs_.groups.capacity() / 8 * 7) runs_.groups.shrink_to_fit();
  const bool of_bytes = element_.bytes() == 1;
  runs_.unit = element_.bytes();
  runs_.stride = extent_;
  if (of_bytes && extent_ == 1) {
    note_wide();
  } else {
    runs_.child = element_.node;
  }
  const std::size_t blocks = runs_.child ? units_ * element_.blocks() : runs_.runs.size();
  const std::size_t bytes = units_ * runs_.unit;
  return {std::make_shared<const LayoutNode>(LayoutNode{bytes, blocks, std::move(runs_)}),
          element_.at};
}

}  // namespace sumac
