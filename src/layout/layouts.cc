// SPDX-License-Identifier: BSD-3-Clause
#include "layout/layouts.h"

#include <algorithm>
#include <cstdint>

#include "layout/run_list.h"

namespace sumac {
namespace {

using Loop = LayoutNode::Loop;
using Runs = LayoutNode::Runs;
using Sequence = LayoutNode::Sequence;

bool is_block(const LayoutPointer& node) {
  return std::holds_alternative<LayoutNode::Block>(node->form);
}

LayoutPointer make_node(LayoutNode node) {
  return std::make_shared<const LayoutNode>(std::move(node));
}

// Merges a block with the one before it if they adjoin.
void append(std::vector<DataLayout>& parts, const DataLayout& part) {
  if (!part.node) return;
  if (!parts.empty() && is_block(part.node) && is_block(parts.back().node)) {
    DataLayout& last = parts.back();
    if (last.at + static_cast<std::ptrdiff_t>(last.bytes()) == part.at) {
      last = shifted(layout_of_block(last.bytes() + part.bytes()), last.at);
      return;
    }
  }
  parts.push_back(part);
}

// Returns true if the parts are equal ones at one stride, which can be a loop. Blocks are compared
// by their size, other nodes by their pointers.
bool is_loop(const std::vector<DataLayout>& parts) {
  const DataLayout& first = parts[0];
  const std::ptrdiff_t stride = parts[1].at - first.at;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool same =
        parts[i].node == first.node ||
        (is_block(parts[i].node) && is_block(first.node) && parts[i].bytes() == first.bytes());
    if (!same || parts[i].at - parts[i - 1].at != stride) return false;
  }
  return true;
}

DataLayout sequence_of(const std::vector<DataLayout>& parts) {
  Sequence sequence;
  std::size_t bytes = 0, blocks = 0;
  for (const DataLayout& part : parts) {
    sequence.items.push_back({part.at, bytes, part.node});
    bytes += part.bytes();
    blocks += part.blocks();
  }
  return {make_node({bytes, blocks, std::move(sequence)}), 0};
}

DataBounds shifted(DataBounds bounds, std::ptrdiff_t by) {
  return {bounds.low + by, bounds.high + by};
}

DataBounds both(DataBounds a, DataBounds b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

DataBounds bounds_of_loop(DataBounds one, std::size_t count, std::ptrdiff_t stride) {
  return both(one, shifted(one, static_cast<std::ptrdiff_t>(count - 1) * stride));
}

DataBounds bounds_of_runs(const Runs& list) {
  const DataBounds unit = list.child ? bounds_of({list.child, 0}) : DataBounds{0, 1};
  DataBounds all{PTRDIFF_MAX, PTRDIFF_MIN};
  for (std::size_t g = 0; g < list.groups.size(); ++g) {
    const bool is_last = g + 1 == list.groups.size();
    const std::size_t end = is_last ? list.runs.size() : list.groups[g + 1].first;
    for (std::size_t i = list.groups[g].first; i < end; ++i) {
      const DataBounds run = bounds_of_loop(unit, list.runs[i].units, list.stride);
      all = both(all, shifted(run, list.groups[g].at + list.runs[i].at));
    }
  }
  return all;
}

}  // namespace

DataLayout layout_of_block(std::size_t bytes) {
  if (bytes == 0) return {};
  return {make_node({bytes, 1, LayoutNode::Block{}}), 0};
}

DataLayout repeated(const DataLayout& inner, std::size_t count, std::ptrdiff_t stride) {
  const std::size_t bytes = inner.bytes();
  if (bytes == 0 || count == 0) return {};
  if (count == 1) return inner;
  if (is_block(inner.node) && stride == static_cast<std::ptrdiff_t>(bytes)) {
    return shifted(layout_of_block(bytes * count), inner.at);
  }
  if (const auto* loop = std::get_if<Loop>(&inner.node->form)) {
    const auto length = static_cast<std::ptrdiff_t>(loop->count) * loop->stride;
    if (stride == length) {
      Loop longer{loop->child, loop->count * count, loop->stride};
      return {make_node({bytes * count, inner.blocks() * count, std::move(longer)}), inner.at};
    }
  }
  return {make_node({bytes * count, inner.blocks() * count, Loop{inner.node, count, stride}}),
          inner.at};
}

DataLayout joined(const std::vector<DataLayout>& parts) {
  std::vector<DataLayout> merged;
  for (const DataLayout& part : parts) append(merged, part);
  if (merged.empty()) return {};
  if (merged.size() == 1) return merged[0];
  if (is_loop(merged)) return repeated(merged[0], merged.size(), merged[1].at - merged[0].at);
  for (const DataLayout& part : merged) {
    if (!is_block(part.node)) return sequence_of(merged);
  }
  RunList runs(merged.size());
  for (const DataLayout& part : merged) runs.add(part.at, part.bytes());
  return runs.finish();
}

DataBounds bounds_of(const DataLayout& layout) {
  const LayoutNode& node = *layout.node;
  DataBounds bounds{0, static_cast<std::ptrdiff_t>(node.bytes)};
  if (const auto* loop = std::get_if<Loop>(&node.form)) {
    bounds = bounds_of_loop(bounds_of({loop->child, 0}), loop->count, loop->stride);
  } else if (const auto* runs = std::get_if<Runs>(&node.form)) {
    bounds = bounds_of_runs(*runs);
  } else if (const auto* sequence = std::get_if<Sequence>(&node.form)) {
    bounds = {PTRDIFF_MAX, PTRDIFF_MIN};
    for (const Sequence::Item& item : sequence->items) {
      bounds = both(bounds, bounds_of({item.node, item.at}));
    }
  }
  return shifted(bounds, layout.at);
}

std::size_t memory_of(const DataLayout& layout) {
  if (!layout.node) return 0;
  std::size_t bytes = sizeof(LayoutNode);
  if (const auto* loop = std::get_if<Loop>(&layout.node->form)) {
    bytes += memory_of({loop->child, 0});
  } else if (const auto* runs = std::get_if<Runs>(&layout.node->form)) {
    bytes += runs->runs.capacity() * sizeof(Runs::Run);
    bytes += runs->groups.capacity() * sizeof(Runs::Group) + memory_of({runs->child, 0});
  } else if (const auto* sequence = std::get_if<Sequence>(&layout.node->form)) {
    bytes += sequence->items.capacity() * sizeof(Sequence::Item);
    for (const Sequence::Item& item : sequence->items) bytes += memory_of({item.node, 0});
  }
  return bytes;
}

}  // namespace sumac
