// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/packed_data.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "interpose/calls/device_buffer.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/process/entry.h"
#include "tasks/threads.h"

namespace sumac {

std::optional<PackedData> PackedData::judge(const MessageData& data) {
  // An address of null is MPI_BOTTOM, or an error that the MPI has to report.
  if (data.count <= 0 || !data.address || find_known_type(data.type)) return {};
  if (!mpi_is_up() || is_paused() || device_memory_possible()) return {};
  MpiAint extent = 0;
  const DataLayout* const layout = find_packing(data.type, extent);
  if (!layout || layout->bytes() == 0) return {};
  // MPICH 4.0 loses part of a packed message that is received by a type of elements of several
  // sizes, or of pairs, when it takes the message in pieces that are not whole elements.
  if (family() == Family::mpich && !is_uniform(data.type)) return {};
  if (is_on_device(Data{data.address, data.count, data.type})) return {};
  const std::size_t element = layout->bytes(), count = static_cast<std::size_t>(data.count);
  if (element > INT_MAX / count || element * count < options.pack_messages) return {};
  const bool adjoins = count == 1 || extent == static_cast<MpiAint>(element);
  if (layout->is_contiguous() && adjoins) return {};
  return PackedData(data, *layout, extent);
}

PackedData::PackedData(const MessageData& data, const DataLayout& layout, MpiAint extent)
    : layout_(layout),
      count_(static_cast<std::size_t>(data.count)),
      extent_(extent),
      address_(static_cast<std::byte*>(data.address)),
      bytes_(static_cast<int>(layout.bytes() * count_)) {}

void PackedData::pack(std::byte* packed) const {
  const UseThreads threads(true);
  pack_all({layout_, count_, extent_, address_}, packed);
  count_message_use(MessageUse::sent);
}

void PackedData::unpack(const std::byte* packed, int arrived) const {
  const LaidOut elements{layout_, count_, extent_, address_};
  if (arrived == bytes_) {
    const UseThreads threads(true);
    unpack_all(elements, packed);
  } else if (arrived > 0) {
    sumac::unpack(elements, 0, static_cast<std::size_t>(std::min(arrived, bytes_)), packed);
  }
  count_message_use(MessageUse::received);
}

void note_message(const MessageData& data) {
  std::size_t element = 0;
  if (data.count <= 0 || find_known_type(data.type) || !packed_size(data.type, element)) return;
  const std::size_t bytes = element * static_cast<std::size_t>(data.count);
  if (bytes >= options.pack_messages) note_packed(data.type, data.comm, bytes);
}

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
