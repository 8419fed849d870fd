// SPDX-License-Identifier: BSD-3-Clause
// A point-to-point message whose datatype has gaps, packed here (SUMAC_PACK_MESSAGES): the MPI
// sends or receives its packed bytes as MPI_PACKED.
//
// The standard lets a message of any type be received as MPI_PACKED, and packed data of the right
// signature by any type. So each side decides for itself, and need not know what the other does: a
// message packed here may be received by any type of the same signature, probed, or received in
// part, and one that the MPI packed may be received here.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "layout/mover.h"

namespace sumac {

// What a program gives to describe a message, besides its envelope.
struct MessageData {
  void* address;
  int count;
  MPI_Datatype type;
  MPI_Comm comm;
};

class PackedMessage {
 public:
  // Memory for the packed bytes of a message; null where the MPI is to pack: for types that lie
  // packed, are not known yet or cannot be read, for small messages and those of 2 GiB and more,
  // and where there is no memory.
  static std::unique_ptr<PackedMessage> make(const MessageData& data);
  ~PackedMessage();
  PackedMessage(const PackedMessage&) = delete;
  PackedMessage& operator=(const PackedMessage&) = delete;

  std::byte* packed() const { return packed_; }
  int bytes() const { return bytes_; }

  void pack();
  // Unpacks what has arrived, as the status of the receive tells, once; nothing of a receive that
  // was cancelled.
  void deliver(const MPI_Status& status);

 private:
  PackedMessage(const MessageData& data, const DataLayout& layout, MPI_Aint extent, int bytes,
                std::byte* packed);

  const DataLayout layout_;  // the type may be freed before the message has arrived
  const LaidOut elements_;
  const int bytes_;
  std::byte* const packed_;
  bool delivered_ = false;
};

// To be called after the MPI has packed a message that make() left to it, without an error: what is
// used often is known later.
void note_message(const MessageData& data);

}  // namespace sumac
