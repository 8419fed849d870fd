// SPDX-License-Identifier: BSD-3-Clause
// These are the blocks of an all-to-all, as the call's arguments describe them and as its work
// takes them.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "algorithms/arguments.h"
#include "algorithms/table.h"
#include "interpose/mpi/call.h"
#include "interpose/mpi/packing.h"

namespace sumac {

// This has what a rank gives the others, or what it gets. In place, what it gives lies where it
// gets the result.
class ExchangeSide {
 public:
  ExchangeSide(const Call& call, bool sends)
      : call_(call), sends_(sends && call.send.address != kMpi.in_place) {}

  // Returns true if each block has a count and a place of its own.
  bool listed() const { return call_.kind.function != Function::alltoall; }
  // Returns false if an array is missing.
  bool is_given() const;
  MpiCount count(int rank) const;
  MpiDatatype type(int rank) const;
  // Return the packed bytes of a block whose type is valid, and its data.
  std::size_t bytes(int rank) const;
  Data block(int rank) const;
  const Data& data() const { return sends_ ? call_.send : call_.receive; }

 private:
  const void* counts() const { return sends_ ? call_.send_counts : call_.counts; }
  const void* places() const { return sends_ ? call_.send_displacements : call_.displacements; }
  DatatypePointer types() const { return sends_ ? call_.send_types : call_.types; }
  bool has_types() const { return call_.kind.function == Function::alltoallw; }
  // Returns the displacement of a block, in elements; for MPI_Alltoallw, in bytes.
  MpiAint place(int rank) const;

  const Call& call_;
  bool sends_;
};

// Returns true if input and output are the same memory: the input is then taken from a copy.
inline bool is_in_place(const Call& call) {
  return call.send.address == kMpi.in_place || call.send.address == call.receive.address;
}

// Returns true for an MPI_Alltoall whose data can be taken as they lie.
bool has_equal_packed_blocks(const Call& call);

// This treats blocks anywhere as if they were one behind the other.
class BlockList final : public ByteLayout {
 public:
  void add(const Bytes& block, std::size_t bytes);
  bool all_contiguous() const { return all_contiguous_; }
  const Bytes& block(std::size_t index) const { return blocks_[index].at; }

  void pack(std::size_t offset, std::size_t bytes, std::byte* to) const override;
  void unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const override;

 private:
  struct Block {
    Bytes at;
    std::size_t end;  // offset in the list
  };
  template <class Step>
  void in_blocks(std::size_t offset, std::size_t bytes, Step step) const;

  std::vector<Block> blocks_;
  bool all_contiguous_ = true;
};

// A call needs this memory beside the program's: lists of blocks, and copies of those that must lie
// packed and do not.
class ExchangeData {
 public:
  // Fills the arguments of the call's work on `ranks` ranks.
  ExchangeData(const Call& call, int ranks, TakesGaps takes, AlltoallArguments& args);
  void pack();
  void unpack();

 private:
  // This is a buffer, and a copy of its packed bytes if the buffer is written before these are
  // read.
  struct Side {
    Side(const TypedBuffer& data, std::size_t bytes, const PackedBuffer::Use& use)
        : buffer(data, bytes, use), size(bytes) {}
    PackedBuffer buffer;
    std::size_t size;
    std::unique_ptr<std::byte[]> copy;
  };

  // Both return where the blocks are in the data that begin at `at`.
  Parts add_equal(const Call& call, bool sends, int ranks, Bytes& at);
  Parts add_listed(const Call& call, bool sends, int ranks, Bytes& at);
  Bytes add(const Call& call, bool sends, const Data& data, std::size_t bytes);

  TakesGaps takes_;
  std::vector<Part> listed_[2], scratch_;
  BlockList blocks_[2];
  std::deque<Side> sent_, received_;
};

}  // namespace sumac
