// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/packed_message.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/type_use.h"
#include "interpose/process/process.h"
#include "tasks/threads.h"

namespace sumac {

std::unique_ptr<PackedMessage> PackedMessage::make(const MessageData& data) {
  // An address of null is MPI_BOTTOM, or an error of which the MPI is to tell.
  if (data.count <= 0 || !data.address || find_known_type(data.type)) return nullptr;
  if (!mpi_is_up() || is_paused() || device_memory_possible()) return nullptr;
  MPI_Aint extent = 0;
  const DataLayout* const layout = find_packing(data.type, extent);
  if (!layout || layout->bytes() == 0) return nullptr;
  // MPICH 4.0 loses part of a packed message that is received by a type of elements of several
  // sizes, or of pairs, when it takes the message in pieces that are not whole elements.
  if (family() == Family::mpich && !is_uniform(data.type)) return nullptr;
  const std::size_t element = layout->bytes(), count = static_cast<std::size_t>(data.count);
  if (element > INT_MAX / count || element * count < options.pack_messages) return nullptr;
  const bool adjoins = count == 1 || extent == static_cast<MPI_Aint>(element);
  if (layout->is_contiguous() && adjoins) return nullptr;
  auto* const packed = static_cast<std::byte*>(std::malloc(element * count));
  if (!packed) return nullptr;
  return std::unique_ptr<PackedMessage>(
      new PackedMessage(data, *layout, extent, static_cast<int>(element * count), packed));
}

PackedMessage::PackedMessage(const MessageData& data, const DataLayout& layout, MPI_Aint extent,
                             int bytes, std::byte* packed)
    : layout_(layout),
      elements_{layout_, static_cast<std::size_t>(data.count), extent,
                static_cast<std::byte*>(data.address)},
      bytes_(bytes),
      packed_(packed) {}

PackedMessage::~PackedMessage() { std::free(packed_); }

void PackedMessage::pack() {
  const UseThreads threads(true);
  pack_all(elements_, packed_);
  count_message_use(MessageUse::sent);
}

void PackedMessage::deliver(const MPI_Status& status) {
  if (std::exchange(delivered_, true)) return;
  int cancelled = 0, arrived = 0;
  mpi.Test_cancelled(&status, &cancelled);
  if (cancelled) return;
  mpi.Get_count(&status, MPI_PACKED, &arrived);
  if (arrived == bytes_) {
    const UseThreads threads(true);
    unpack_all(elements_, packed_);
  } else if (arrived > 0) {
    unpack(elements_, 0, static_cast<std::size_t>(std::min(arrived, bytes_)), packed_);
  }
  count_message_use(MessageUse::received);
}

void note_message(const MessageData& data) {
  std::size_t element = 0;
  if (data.count <= 0 || find_known_type(data.type) || !packed_size(data.type, element)) return;
  const std::size_t bytes = element * static_cast<std::size_t>(data.count);
  if (bytes >= options.pack_messages) note_packed(data.type, data.comm, bytes);
}

}  // namespace sumac
