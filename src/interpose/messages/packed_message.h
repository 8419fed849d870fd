// SPDX-License-Identifier: BSD-3-Clause
// A point-to-point message whose data are packed here (packed_data.h).
#pragma once

#include <memory>
#include <utility>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// What the MPI sends from and receives into until a request of its own has ended.
class Delivery {
 public:
  virtual ~Delivery() = default;
  // Unpacks what has arrived, as the status tells, once.
  void deliver(StatusPointer status) {
    if (!std::exchange(delivered_, true)) unpack(status);
  }

 private:
  virtual void unpack(StatusPointer status) = 0;

  bool delivered_ = false;
};

class PackedMessage final : public Delivery {
 public:
  // Memory for the packed bytes of a message; null where the MPI is to pack, also because there is
  // no memory.
  static std::unique_ptr<PackedMessage> make(const MessageData& data);
  ~PackedMessage() override;
  PackedMessage(const PackedMessage&) = delete;
  PackedMessage& operator=(const PackedMessage&) = delete;

  std::byte* packed() const { return packed_; }
  int bytes() const { return data_.bytes(); }

  void pack() const { data_.pack(packed_); }
  // All of it.
  void unpack_all() const { data_.unpack(packed_, data_.bytes()); }

 private:
  PackedMessage(const PackedData& data, std::byte* packed) : data_(data), packed_(packed) {}
  // Nothing of a receive that was cancelled.
  void unpack(StatusPointer status) override;

  const PackedData data_;
  std::byte* const packed_;
};

}  // namespace sumac
