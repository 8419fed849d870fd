// SPDX-License-Identifier: BSD-3-Clause
// All-to-all of blocks of any sizes over slots. A rank knows the sizes of its own blocks alone, so
// it tells the others, with its first data, how many bytes its row has, and before the row where in
// it each block is. The longest row says how many steps there are. A row that fits the lines goes
// through these.
//   Steps    1 a slot of the longest row, pipelined, no entry or exit barrier
//   Bytes    a rank writes its row and 16 bytes a rank (4 in lines), and reads what is for it
//   Wins     wherever the MPI's own copies more or waits more
//   Needs    slots, a ring of 3 or more; that no other operation takes positions before the ranks
//            know how many this one needs
#include "algorithms/slots.h"
#include "algorithms/functions.h"
#include "algorithms/lines.h"
#include "algorithms/rows.h"

namespace sumac::alltoallv {
namespace {

using Head = std::uint64_t;  // bytes of a row, in front of its first lines

// Before a row: where the block of each other rank is, the next rank's first.
template <class Number>
struct Entry {
  Number place, bytes;
};
using LinesEntry = Entry<std::uint16_t>;  // of a row in lines: the place counts from the head
using SlotsEntry = Entry<std::uint64_t>;  // from the first entry

template <class E>
constexpr std::size_t table_bytes(int ranks) {
  return static_cast<std::size_t>(ranks - 1) * sizeof(E);
}

// Head, entries and row.
std::size_t bytes_in_lines(std::size_t row, int ranks) {
  return sizeof(Head) + table_bytes<LinesEntry>(ranks) + row;
}
bool fits_lines(std::size_t row, int ranks) {
  return row <= kLinesData && bytes_in_lines(row, ranks) <= kLinesData;
}
std::size_t steps_for(std::size_t row, int ranks, std::size_t slot_bytes) {
  if (fits_lines(row, ranks)) return 1;
  return div_up(table_bytes<SlotsEntry>(ranks) + row, slot_bytes);
}

// What a rank writes, step by step.
class Output {
 public:
  Output(ShmGroup& group, const AlltoallArguments& args)
      : group_(group),
        args_(args),
        row_(args, group.rank()),
        bytes_(row_bytes(args, group.rank())),
        place_(table_bytes<SlotsEntry>(group.size())),
        left_(place_ + bytes_) {}

  std::size_t steps() const { return steps_for(bytes_, group_.size(), group_.slot_bytes()); }

  void put_first(std::uint64_t position) {
    if (fits_lines(bytes_, group_.size())) return put_in_lines(position);
    put_in_slot(position);
    std::memcpy(group_.line(group_.rank(), position, 0).data, &bytes_, sizeof bytes_);
    group_.note_lines(1);
    group_.publish_in(position);
  }
  void put_next(std::uint64_t position) {
    put_in_slot(position);
    group_.publish_in(position);
  }

 private:
  // Writes the next block's entry; returns the place of the block behind it.
  template <class E>
  std::size_t enter(std::byte* to, std::size_t place) {
    const int rank = rank_after(group_.rank(), ++entered_, group_.size());
    const std::size_t bytes = args_.sent[rank].bytes;
    using Number = decltype(E::place);
    const E entry{static_cast<Number>(place), static_cast<Number>(bytes)};
    std::memcpy(to, &entry, sizeof entry);
    return place + bytes;
  }

  void put_in_lines(std::uint64_t position) {
    alignas(kCacheLine) std::byte packed[round_up(kLinesData, kCacheLine)];
    std::memcpy(packed, &bytes_, sizeof bytes_);
    const std::size_t begin = bytes_in_lines(0, group_.size());
    std::size_t place = begin;
    for (std::size_t at = sizeof(Head); at < begin; at += sizeof(LinesEntry)) {
      place = enter<LinesEntry>(packed + at, place);
    }
    row_.take(bytes_, [&](const ConstBytes& from, std::size_t at, std::size_t n) {
      from.copy_to(packed + begin + at, n);
    });
    put_lines(group_, position, packed, begin + bytes_);
    group_.note_lines(lines_for(begin + bytes_));
  }

  void put_in_slot(std::uint64_t position) {
    const std::size_t room = group_.slot_bytes();
    std::byte* const slot = group_.payload(group_.rank(), position, room);
    std::size_t at = 0;
    for (; at < room && entered_ < group_.size() - 1; at += sizeof(SlotsEntry)) {
      place_ = enter<SlotsEntry>(slot + at, place_);
    }
    const std::size_t bytes = std::min(room, left_) - at;
    row_.take(bytes, [&](const ConstBytes& from, std::size_t place, std::size_t n) {
      put(group_, position, from, slot + at + place, n);
    });
    left_ -= at + bytes;
  }

  ShmGroup& group_;
  const AlltoallArguments& args_;
  Row row_;
  Head bytes_;         // of the row
  int entered_ = 0;    // blocks that have an entry
  std::size_t place_;  // of the next one, and
  std::size_t left_;   // bytes of entries and row, where they go through slots
};

// What is there for this rank of the row of the rank `distance` before it.
class Input {
 public:
  Input(const ShmGroup& group, const AlltoallArguments& args, std::uint64_t first, int distance)
      : group_(group),
        args_(args),
        first_(first),
        index_(static_cast<std::size_t>(distance - 1)),
        from_(rank_before(group.rank(), distance, group.size())) {}

  // The number of steps, and whether the row is in lines, once its first position is in.
  std::size_t steps() const { return steps_for(head(), group_.size(), group_.slot_bytes()); }
  bool in_lines() const { return fits_lines(head(), group_.size()); }

  Wait entry_in_lines() const {
    return lines_with(group_, from_, first_, entry_place(), sizeof(LinesEntry));
  }
  Wait block_in_lines() {
    LinesEntry entry;
    take_lines(group_, from_, first_, reinterpret_cast<std::byte*>(&entry), sizeof entry,
               entry_place());
    note(entry);
    return lines_with(group_, from_, first_, block().offset, block().bytes);
  }
  void take_from_lines() {
    take_lines(group_, from_, first_, output(), block().bytes, block().offset);
    block().offset = kTaken;
  }

  void expect_in_slots() { block() = {}; }
  // True when the step's slot has the entry or some of the block.
  bool has_some(std::size_t step) const {
    const Part chunk = chunk_of(step);
    const Part seen = block();
    if (seen.offset == kTaken) return false;
    const bool entered = index_ * sizeof(SlotsEntry) - chunk.offset < chunk.bytes;
    return entered || (seen.offset < chunk.offset + chunk.bytes &&
                       seen.offset + seen.bytes > chunk.offset);
  }
  Wait in(std::size_t step) const { return group_.in(from_, first_ + step); }
  void take(std::size_t step) {
    const Part chunk = chunk_of(step);
    const std::size_t entry = index_ * sizeof(SlotsEntry) - chunk.offset;
    if (entry < chunk.bytes) {
      SlotsEntry seen;
      std::memcpy(&seen, group_.payload(from_, first_ + step, chunk.bytes) + entry, sizeof seen);
      note(seen);
    }
    take_block(group_, first_ + step, from_, chunk, chunk.bytes, block(), output());
  }

 private:
  static constexpr std::size_t kTaken = SIZE_MAX;
  Head head() const {
    Head head;
    std::memcpy(&head, group_.line(from_, first_, 0).data, sizeof head);
    return head;
  }
  std::size_t entry_place() const { return sizeof(Head) + index_ * sizeof(LinesEntry); }
  Part chunk_of(std::size_t step) const {
    return {step * group_.slot_bytes(), group_.slot_bytes()};
  }
  Part& block() const { return args_.blocks[from_]; }
  Bytes output() const { return args_.output + args_.received[from_].offset; }
  // What a rank gives and what the other expects is the same, unless the program is wrong.
  template <class Number>
  void note(const Entry<Number>& entry) {
    block() = {entry.place, std::min<std::size_t>(entry.bytes, args_.received[from_].bytes)};
  }

  const ShmGroup& group_;
  const AlltoallArguments& args_;
  std::uint64_t first_;
  std::size_t index_;  // of the entry
  int from_;
};

}  // namespace

Task slots(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  const int ranks = group.size();
  const std::uint64_t first = group.take_first();
  co_await strand.until(group.slot_free(first));
  Output output(group, args);
  output.put_first(first);
  group.prefetch_next_slot(first);
  args.keep_own(group.rank());
  co_await strand.until(group.others_in(first));
  const std::size_t own_steps = output.steps();
  std::size_t steps = own_steps;
  for (int d = 1; d < ranks; ++d) steps = std::max(steps, Input(group, args, first, d).steps());
  group.take_more(steps - 1);
  group.note_finished_before(first);
  int rows_in_slots = 0;
  for (int d = 1; d < ranks; ++d) {
    Input input(group, args, first, d);
    if (!input.in_lines()) {
      input.expect_in_slots();
      ++rows_in_slots;
      continue;
    }
    co_await strand.until(input.entry_in_lines());
    co_await strand.until(input.block_in_lines());
    input.take_from_lines();
  }
  for (std::size_t step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      // Also where this rank has nothing more to put: no rank finishes positions a ring ahead.
      co_await strand.until(group.slot_free(first + step + 1));
      if (step + 1 < own_steps) output.put_next(first + step + 1);
    }
    for (int d = 1; rows_in_slots > 0 && d < ranks; ++d) {
      Input input(group, args, first, d);
      if (!input.has_some(step)) continue;
      co_await strand.until(input.in(step));
      input.take(step);
    }
    group.finish(first + step);
  }
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  const std::size_t table = fits_lines(row, call.ranks) ? bytes_in_lines(0, call.ranks)
                                                        : table_bytes<SlotsEntry>(call.ranks);
  return traffic_in_memory(steps_for(row, call.ranks, Layout{}.slot_bytes), 2 * row + table);
}

}  // namespace sumac::alltoallv
