// SPDX-License-Identifier: BSD-3-Clause
// The MPI is given the packed bytes of data with gaps (SUMAC_PACK_MESSAGES), as MPI_PACKED.
//
// The standard lets a message of any type be received as MPI_PACKED, and packed data of the right
// signature by any type, in collectives too. So each side decides for itself, and need not know
// what the other does: a message packed here may be received by any type of the same signature,
// probed, or received in part, and a message that the MPI packed may be received here.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"
#include "layout/mover.h"

namespace sumac {

// A program gives this to describe the data of a message, besides its envelope.
struct MessageData {
  void* address;
  int count;
  MpiDatatype type;
  MpiComm comm;
};

class PackedData {
 public:
  // Returns nothing if the MPI has to pack: this is so for types that lie packed, are not known yet
  // or cannot be read, for small data and for those of 2 GiB and more.
  static std::optional<PackedData> judge(const MessageData& data);

  int bytes() const { return bytes_; }
  // `packed` has bytes() bytes, or as many as have arrived. Both functions count a message.
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

// Must be called after the MPI has packed data that judge() left to it, without an error, so that a
// type that is used often is known later.
void note_message(const MessageData& data);

// The MPI sends from this and receives into it until a request of its own has ended.
class Delivery {
 public:
  virtual ~Delivery() = default;
  // Unpacks once what has arrived, as the status tells.
  void deliver(StatusPointer status) {
    if (!std::exchange(delivered_, true)) unpack(status);
  }

 private:
  virtual void unpack(StatusPointer status) = 0;

  bool delivered_ = false;
};

// The data of this point-to-point message are packed here.
class PackedMessage final : public Delivery {
 public:
  // Makes memory for the packed bytes of a message; returns null if the MPI has to pack, also
  // because there is no memory.
  static std::unique_ptr<PackedMessage> make(const MessageData& data);
  ~PackedMessage() override;
  PackedMessage(const PackedMessage&) = delete;
  PackedMessage& operator=(const PackedMessage&) = delete;

  std::byte* packed() const { return packed_; }
  int bytes() const { return data_.bytes(); }

  void pack() const { data_.pack(packed_); }
  // Unpacks the whole message.
  void unpack_all() const { data_.unpack(packed_, data_.bytes()); }

 private:
  PackedMessage(const PackedData& data, std::byte* packed) : data_(data), packed_(packed) {}
  // Unpacks nothing if the receive was cancelled.
  void unpack(StatusPointer status) override;

  const PackedData data_;
  std::byte* const packed_;
};

}  // namespace sumac
