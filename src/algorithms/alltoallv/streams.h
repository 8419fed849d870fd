// SPDX-License-Identifier: BSD-3-Clause
// The ranks exchange rows of blocks of any sizes, and tell each other the sizes with the first
// data. See slots.cc.
#pragma once

#include "algorithms/functions.h"
#include "algorithms/lines.h"
#include "algorithms/rows.h"
#include "algorithms/single_copy.h"
#include "algorithms/slots.h"

namespace sumac::alltoallv {

// A row's first lines begin with its bytes, and with a bit that says that it has gaps, so that it
// cannot be fetched.
using Head = std::uint64_t;
inline constexpr Head kHasGaps = Head{1} << 63;

// A table before a row says where the block of each other rank is, the next rank's first.
template <class Number>
struct StreamEntry {
  Number place, bytes;
};
using LinesEntry =
    StreamEntry<std::uint16_t>;  // for a row in lines; the place counts from the head
using SlotsEntry = StreamEntry<std::uint64_t>;  // the place counts from the first entry

template <class E>
constexpr std::size_t table_bytes(int ranks) {
  return static_cast<std::size_t>(ranks - 1) * sizeof(E);
}

// Returns the bytes of head, entries and row.
inline std::size_t bytes_in_lines(std::size_t row, int ranks) {
  return sizeof(Head) + table_bytes<LinesEntry>(ranks) + row;
}

// A row goes to the others by one of these ways. Its own length, which they learn first, decides. A
// row is `fetched` by others that have access to the rank's memory.
enum class ExchangeWay : std::uint8_t { lines, slots, fetched };
// Fetching is worth it for rows that fill at least this many slots, 1 MiB: shorter ones go through
// slots in 0.5 to 0.8 of the time (two ranks, Zen 4, near and far).
inline constexpr std::size_t kLeastSlotsFetched = 32;
struct WayOf {
  int ranks;
  std::size_t slot_bytes;
  bool may_fetch;

  ExchangeWay operator()(std::size_t row) const {
    if (row <= kLinesData && bytes_in_lines(row, ranks) <= kLinesData) return ExchangeWay::lines;
    return may_fetch && row >= kLeastSlotsFetched * slot_bytes ? ExchangeWay::fetched
                                                               : ExchangeWay::slots;
  }
  std::size_t steps(std::size_t row) const {
    if ((*this)(row) != ExchangeWay::slots) return 1;
    return div_up(table_bytes<SlotsEntry>(ranks) + row, slot_bytes);
  }
};

// Behind the head of a row that is fetched are these addresses in the rank's memory.
struct Addresses {
  std::uintptr_t input, blocks;  // the data, and a Part for each rank that says where its block is
};

// The place of this block could not be read: it is a Part, at `entry` in the rank's memory.
struct Unread {
  int from;
  std::uintptr_t entry, input;
};

// This is what a rank writes, step by step.
class Output {
 public:
  // `fetched` says whether a long row may be fetched.
  Output(ShmGroup& group, const AlltoallArguments& args, bool fetched)
      : group_(group),
        args_(args),
        way_of_{group.size(), group.slot_bytes(), fetched},
        row_(args, group.rank()),
        bytes_(row_bytes(args, group.rank())),
        head_(bytes_ | (fetched ? 0 : kHasGaps)),
        place_(table_bytes<SlotsEntry>(group.size())),
        left_(place_ + bytes_) {}

  std::size_t steps() const { return way_of_.steps(bytes_); }
  bool is_fetched() const { return way_of_(bytes_) == ExchangeWay::fetched; }

  void put_first(std::uint64_t position) {
    if (way_of_(bytes_) == ExchangeWay::lines) return put_in_lines(position);
    std::byte* const line = group_.small(group_.rank(), position);
    std::memcpy(line, &head_, sizeof head_);
    if (is_fetched()) {
      const Addresses own{reinterpret_cast<std::uintptr_t>(args_.input.at()),
                          reinterpret_cast<std::uintptr_t>(args_.sent.listed)};
      std::memcpy(line + sizeof(Head), &own, sizeof own);
      end_streaming();  // for the same reason as in show_buffers()
    } else {
      put_in_slot(position);
    }
    group_.note_lines(1);
    group_.publish_in(position);
  }
  void put_next(std::uint64_t position) {
    put_in_slot(position);
    group_.publish_in(position);
  }

 private:
  // Writes the next block's entry. Returns the place of the block behind it.
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
    std::memcpy(packed, &head_, sizeof head_);
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
    std::byte* const slot = group_.payload(group_.rank(), position);
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
  WayOf way_of_;
  Row row_;
  std::size_t bytes_;  // bytes of the row
  Head head_;
  int entered_ = 0;    // blocks that have an entry
  std::size_t place_;  // place of the next block
  std::size_t left_;   // bytes of entries and row that are left, if they go through slots
};

// This rank's share of the row of the rank `distance` before it.
class Input {
 public:
  Input(const ShmGroup& group, const AlltoallArguments& args, const SingleCopy* peers,
        std::uint64_t first, int distance)
      : group_(group),
        args_(args),
        peers_(peers),
        first_(first),
        index_(static_cast<std::size_t>(distance - 1)),
        from_(rank_before(group.rank(), distance, group.size())) {}

  // The number of steps, and the way of the row, are known once its first position is in.
  std::size_t steps() const { return way_of().steps(row_bytes()); }
  ExchangeWay way() const { return way_of()(row_bytes()); }

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
  // The buffer of an empty block may be null, which memcpy() must not get.
  void take_from_lines() {
    const auto [offset, bytes] = block();
    if (bytes > 0) take_lines(group_, from_, first_, output(), bytes, offset);
    block().offset = kTaken;
  }

  // Returns false if it cannot read where the block is.
  bool fetch() {
    block().offset = kTaken;
    const std::size_t bytes = args_.received[from_].bytes;
    if (bytes == 0) return true;
    const Addresses theirs = addresses();
    Part part{};
    if (!read_from(*peers_, from_, entry_address(theirs), &part, sizeof part)) [[unlikely]]
      return false;
    fetch_into(*peers_, from_, theirs.input + part.offset, output(), std::min(bytes, part.bytes));
    return true;
  }
  Unread unread() const { return {from_, entry_address(addresses()), addresses().input}; }

  void expect_in_slots() { block() = {}; }
  // Returns true if the step's slot has the entry or some of the block.
  bool has_some(std::size_t step) const {
    const Part chunk = chunk_of(step);
    const Part seen = block();
    if (seen.offset == kTaken) return false;
    const bool entered = index_ * sizeof(SlotsEntry) - chunk.offset < chunk.bytes;
    return entered ||
           (seen.offset < chunk.offset + chunk.bytes && seen.offset + seen.bytes > chunk.offset);
  }
  Wait in(std::size_t step) const { return group_.in(from_, first_ + step); }
  void take(std::size_t step) {
    const Part chunk = chunk_of(step);
    const std::size_t entry = index_ * sizeof(SlotsEntry) - chunk.offset;
    if (entry < chunk.bytes) {
      SlotsEntry seen;
      std::memcpy(&seen, group_.payload(from_, first_ + step) + entry, sizeof seen);
      note(seen);
    }
    take_block(group_, first_ + step, from_, chunk, block(), output());
  }

 private:
  static constexpr std::size_t kTaken = SIZE_MAX;
  Addresses addresses() const {
    Addresses theirs;
    std::memcpy(&theirs, group_.small(from_, first_) + sizeof(Head), sizeof theirs);
    return theirs;
  }
  std::uintptr_t entry_address(const Addresses& theirs) const {
    return theirs.blocks + static_cast<std::uintptr_t>(group_.rank()) * sizeof(Part);
  }
  WayOf way_of() const {
    return {group_.size(), group_.slot_bytes(), peers_ && !(head() & kHasGaps)};
  }
  std::size_t row_bytes() const { return head() & ~kHasGaps; }
  Head head() const {
    Head head;
    std::memcpy(&head, group_.small(from_, first_), sizeof head);
    return head;
  }
  std::size_t entry_place() const { return sizeof(Head) + index_ * sizeof(LinesEntry); }
  Part chunk_of(std::size_t step) const {
    return {step * group_.slot_bytes(), group_.slot_bytes()};
  }
  Part& block() const { return args_.blocks[from_]; }
  Bytes output() const { return args_.output + args_.received[from_].offset; }
  // A rank gives as many bytes as the other expects, unless the program is wrong.
  template <class Number>
  void note(const StreamEntry<Number>& entry) {
    block() = {entry.place, std::min<std::size_t>(entry.bytes, args_.received[from_].bytes)};
  }

  const ShmGroup& group_;
  const AlltoallArguments& args_;
  const SingleCopy* peers_;
  std::uint64_t first_;
  std::size_t index_;  // index of the entry
  int from_;
};

// Brings all rows to all ranks. `peers` is null if rows cannot be fetched.
Task exchange_rows(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                   const SingleCopy* peers);

}  // namespace sumac::alltoallv
