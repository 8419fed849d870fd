// SPDX-License-Identifier: BSD-3-Clause
// One side of MPI_Alltoallw or MPI_Neighbor_alltoallw, what a rank gives or what it gets, of which
// blocks with gaps are packed here (packed_data.h).
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// The arguments of the MPI's function. `Place`: int in MPI_Alltoallw, MPI_Aint in
// MPI_Neighbor_alltoallw; in bytes from `address`.
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
  // `peers`: of each block the rank that it goes to or comes from, or MPI_PROC_NULL. Where places
  // are int, which may not reach from a block to packed bytes, either all blocks with data are
  // packed or none.
  PackedBlocks(const BlockArguments<Place>& given, std::vector<int> peers, MpiComm comm);

  bool any() const { return packed_ != nullptr; }
  // What the MPI is to be given: the program's own where nothing is packed.
  BlockArguments<Place> arguments() const;

  void pack() const;
  void unpack() const;
  // To be called after the MPI's call, without an error.
  void note() const;

 private:
  static constexpr bool kAllOrNone = std::is_same_v<Place, int>;
  struct Block {
    std::size_t index, at;  // in the lists; in `packed_`
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
