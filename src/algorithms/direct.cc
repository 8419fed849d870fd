// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/direct.h"

#include "algorithms/table.h"

namespace sumac {
namespace {

// Returns the range of a vector of `bytes` bytes of every rank in which other ranks reach into
// buffers: whole pages of all ranks' inputs, and of the outputs into which others store results.
Part common_pages(const ShmGroup& group, std::uint64_t position, Collective collective,
                  const CallArguments& args, std::size_t page) {
  WholePages pages(args.bytes(collective), page);
  for (int r = 0; r < group.size(); ++r) {
    const Buffers buffers = buffers_of(group, r, position);
    pages.narrow(buffers.input);
    const bool is_reduction = info_of(collective).arguments == ArgumentKind::reduction;
    if (is_reduction && gets_result(collective, r, args.reduction.root))
      pages.narrow(buffers.output);
  }
  return pages.inside();
}

// Returns true if the inputs, of bytes_of(rank) bytes each, can be copied in place, each within the
// pages of its own.
template <class BytesOf>
bool inputs_can(const ShmGroup& group, const Direct& direct, BytesOf bytes_of) {
  std::size_t all = 0, edges = 0;
  for (int r = 0; r < group.size(); ++r) {
    const std::size_t bytes = bytes_of(r);
    const std::uintptr_t input = buffers_of(group, r, direct.position).input;
    const Edges own(bytes, inside_of(input, bytes, direct.page));
    if (own.bytes() > group.slot_bytes()) return false;
    all += bytes;
    edges += own.bytes();
  }
  return edges <= all / 2;
}

// Returns true if the call goes direct. The answer is the same on all ranks.
bool all_can(const ShmGroup& group, Collective collective, const CallArguments& args,
             Direct& direct) {
  for (int r = 0; r < group.size(); ++r) {
    if (!buffers_of(group, r, direct.position).mapped) return false;
  }
  const ArgumentKind arguments = info_of(collective).arguments;
  if (arguments == ArgumentKind::allgather) {
    return inputs_can(group, direct, [&](int r) { return args.allgather.parts[r].bytes; });
  }
  if (arguments == ArgumentKind::alltoall) {
    return inputs_can(group, direct, [&](int) { return args.alltoall.sent.bytes; });
  }
  const std::size_t bytes = args.bytes(collective);
  direct.inside = common_pages(group, direct.position, collective, args, direct.page);
  const std::size_t edges = bytes - direct.inside.bytes;
  return edges <= bytes / 2 && edges <= group.slot_bytes();
}

// The buffers of a rank that other ranks reach into, where an algorithm does so.
ReachedMemory reached_in(const ReduceArguments& args, int rank, Collective collective) {
  const bool stored = gets_result(collective, rank, args.root);
  return {{args.input, args.bytes()}, {stored ? args.output : nullptr, stored ? args.bytes() : 0}};
}
ReachedMemory reached_in(const ReduceScatterArguments& args, int, Collective) {
  return {{args.input, args.bytes()}, {}};
}
ReachedMemory reached_in(const BcastArguments& args, int, Collective) {
  if (!args.buffer.contiguous()) return {};
  return {{args.buffer.at(), args.bytes}, {args.buffer.at(), args.bytes}};
}
ReachedMemory reached_in(const AllgatherArguments& args, int rank, Collective) {
  if (!args.input.contiguous() || !args.output.contiguous()) return {};
  return {{args.input.at(), args.parts[rank].bytes}, {}};
}
ReachedMemory reached_in(const AlltoallArguments& args, int, Collective) {
  if (!args.input.contiguous()) return {};
  return {{args.input.at(), args.sent.bytes}, {}};
}

}  // namespace

ReachedMemory reached_memory(int rank, Collective collective, const CallArguments& args) {
  return args.visit(collective, [=](const auto& own) { return reached_in(own, rank, collective); });
}

Buffers shown(const ReachedMemory& own, bool mapped) {
  const ReachedMemory::Buffer &input = own.input, &output = own.output;
  Buffers buffers(input.address, output.address, mapped && input.address);
  buffers.input_place = shared_mappings().place_of(input.address, input.bytes);
  buffers.output_place = shared_mappings().place_of(output.address, output.bytes);
  return buffers;
}

void add_views(SharedViews& views, int rank, const Buffers& buffers, std::size_t bytes) {
  views.add(rank, buffers.input, bytes, buffers.input_place);
  views.add(rank, buffers.output, bytes, buffers.output_place);
}

Task end_fetching(Strand& strand, ShmGroup& group, std::uint64_t position,
                  const SingleCopy& peers) {
  const Claims all(group, position, 1);
  if (peers.refusals->any()) [[unlikely]]
    group.mark_refused(group.rank(), position);
  all.note_done(group.rank());
  co_await strand.until(all.all_done());
  if (group.any_refused(position)) [[unlikely]]
    co_await relay_all(strand, group, position, *peers.refusals);
  group.finish(position);
  group.note_finished_before(position);
}

Task try_direct(Strand& strand, ShmGroup& group, Collective collective, const CallArguments& args,
                const SingleCopy& peers, DirectTry& attempt) {
  // The payload also has room for the edges of buffers.
  Direct direct{group.take_first(relay_use(group)), attempt.page, {0, 0}};
  co_await strand.until(group.slot_free(direct.position));
  const ReachedMemory own = reached_memory(group.rank(), collective, args);
  show_buffers(group, direct.position, shown(own, attempt.mapped));
  co_await strand.until(group.others_in(direct.position));
  attempt.went = all_can(group, collective, args, direct);
  if (attempt.went) {
    group.take(0);
    SharedViews views(*peers.memory);
    const std::size_t bytes = args.bytes(collective);
    for (int r = 0; r < group.size(); ++r) {
      add_views(views, r, buffers_of(group, r, direct.position), bytes);
    }
    SingleCopy mapped = peers;
    mapped.mapped = true;
    if (!views.empty()) mapped.memory = &views;
    co_await entry_of(attempt.algorithm).start_direct(strand, group, args, mapped, direct);
  } else {
    group.finish(direct.position);
    group.note_finished_before(direct.position);
    co_await entry_of(attempt.otherwise).start(strand, group, args, peers);
  }
}

}  // namespace sumac
