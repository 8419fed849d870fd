// SPDX-License-Identifier: BSD-3-Clause
// This is one side of MPI_Alltoallw or MPI_Neighbor_alltoallw, what a rank gives or what it gets.
// Blocks with gaps are packed here (packed_data.h).
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// These are the arguments of the MPI's function. `Place` is int in MPI_Alltoallw, and MPI_Aint in
// MPI_Neighbor_alltoallw; places are in bytes from `address`.
template <class Place>
struct BlockArguments {
  void* address;
  const int* counts;
  const Place* places;
  DatatypePointer types;
};

template <class Place>
class PackedBlocks {
 public:
  // `peers` has for each block the rank that it goes to or comes from, or MPI_PROC_NULL. If places
  // are int, which may not reach from a block to packed bytes, either all blocks with data are
  // packed or none.
  PackedBlocks(const BlockArguments<Place>& given, std::vector<int> peers, MpiComm comm);

  bool any() const { return packed_ != nullptr; }
  // Returns the arguments for the MPI, which are the program's own if nothing is packed.
  BlockArguments<Place> arguments() const;

  void pack() const;
  void unpack() const;
  // Must be called after the MPI's call, without an error.
  void note() const;

 private:
  static constexpr bool kAllOrNone = std::is_same_v<Place, int>;
  struct Block {
    std::size_t index, at;  // index in the lists; offset in `packed_`
    PackedData data;
  };

  MessageData data_of(std::size_t index) const;
  bool has_data(std::size_t index) const;
  void judge();
  void place_blocks();

  const BlockArguments<Place> given_;
  const std::vector<int> peers_;
  const MpiComm comm_;
  std::vector<Block> blocks_;
  std::unique_ptr<std::byte[]> packed_;
  std::vector<int> counts_;
  std::vector<Place> places_;
  HandleArray<MpiDatatype> types_;
};

}  // namespace sumac
