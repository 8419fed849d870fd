// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/packed_message.h"

#include <cstdlib>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

std::unique_ptr<PackedMessage> PackedMessage::make(const MessageData& data) {
  const std::optional<PackedData> judged = PackedData::judge(data);
  if (!judged) return nullptr;
  auto* const packed =
      static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(judged->bytes())));
  if (!packed) return nullptr;
  return std::unique_ptr<PackedMessage>(new PackedMessage(*judged, packed));
}

PackedMessage::~PackedMessage() { std::free(packed_); }

void PackedMessage::unpack(StatusPointer status) {
  int cancelled = 0, arrived = 0;
  mpi.Test_cancelled(status, &cancelled);
  if (cancelled) return;
  mpi.Get_count(status, kMpi.packed, &arrived);
  data_.unpack(packed_, arrived);
}

}  // namespace sumac
