// SPDX-License-Identifier: BSD-3-Clause
// The data of this point-to-point message are packed here (packed_data.h).
#pragma once

#include <memory>
#include <utility>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

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
