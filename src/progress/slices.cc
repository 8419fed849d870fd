// SPDX-License-Identifier: BSD-3-Clause
#include "progress/slices.h"

#include <algorithm>

#include "algorithms/table.h"

namespace sumac {
namespace {

// The fewer slices, the longer the first one is copied in and the last one out, with nothing beside
// it; each costs a meeting of the ranks, some microseconds.
constexpr std::size_t kLeastCut = 8 << 20, kLeastSlice = 4 << 20, kMostSlices = 8;

bool is_bcast(const ChosenCall& call) {
  return info_of(call.collective).arguments == ArgumentKind::bcast;
}

std::size_t unit_of(const ChosenCall& call) {
  return is_bcast(call) ? kCacheLine : call.reduction.unit;
}

ChosenCall slice_of(const ChosenCall& call, Part slice) {
  ChosenCall part = call;
  part.slice = 0;
  if (is_bcast(call)) {
    part.bcast.buffer = call.bcast.buffer + slice.offset;
    part.bcast.bytes = slice.bytes;
    return part;
  }
  part.reduction.input += slice.offset;
  if (part.reduction.output) part.reduction.output += slice.offset;
  part.reduction.count = slice.bytes / call.reduction.element;
  return part;
}

}  // namespace

std::size_t slice_bytes(Collective collective, std::size_t bytes) {
  if (has_parts(collective) || bytes < kLeastCut) return 0;
  return std::max(kLeastSlice, bytes / kMostSlices);
}

Slices::Slices(const ChosenCall& call)
    : call_(call), all_(call.bytes(), call.slice, unit_of(call)) {}

bool Slices::advance() {
  if (next_ > 0 && call_.copies) call_.copies->after(all_[next_ - 1]);
  if (next_ == all_.count()) return false;
  if (call_.copies) call_.copies->before(all_[next_], all_[next_ + 1]);
  part_ = slice_of(call_, all_[next_++]);
  return true;
}

Task run_slices(Strand& strand, ShmGroup& group, const ChosenCall& call, const SingleCopy& peers) {
  Slices slices(call);
  while (slices.advance()) {
    const ChosenCall& part = slices.part();
    co_await entry_of(part.choice.algorithm).start(strand, group, part, peers);
  }
}

}  // namespace sumac
