// SPDX-License-Identifier: BSD-3-Clause
// Data with gaps whose packed bytes the MPI is given instead (SUMAC_PACK_MESSAGES), as MPI_PACKED.
//
// The standard lets a message of any type be received as MPI_PACKED, and packed data of the right
// signature by any type, in collectives too. So each side decides for itself, and need not know
// what the other does: what is packed here may be received by any type of the same signature,
// probed, or received in part, and what the MPI packed may be received here.
#pragma once

#include <cstddef>
#include <optional>

#include "interpose/mpi/constants.h"
#include "layout/mover.h"

namespace sumac {

// What a program gives to describe the data of a message, besides its envelope.
struct MessageData {
  void* address;
  int count;
  MpiDatatype type;
  MpiComm comm;
};

class PackedData {
 public:
  // Nothing where the MPI is to pack: types that lie packed, are not known yet or cannot be read,
  // small data and those of 2 GiB and more.
  static std::optional<PackedData> judge(const MessageData& data);

  int bytes() const { return bytes_; }
  // `packed`: bytes() bytes, or as many as have arrived. Both count a message.
  void pack(std::byte* packed) const;
  void unpack(const std::byte* packed, int arrived) const;

 private:
  PackedData(const MessageData& data, const DataLayout& layout, MpiAint extent);

  DataLayout layout_;  // the type may be freed before the data have arrived
  std::size_t count_;
  MpiAint extent_;
  std::byte* address_;
  int bytes_;
};

// To be called after the MPI has packed data that judge() left to it, without an error: what is
// used often is known later.
void note_message(const MessageData& data);

}  // namespace sumac
