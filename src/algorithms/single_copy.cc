// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/single_copy.h"

#include <memory>

namespace sumac {
namespace {

// A copy by way of memory that the kernel reaches goes in pieces of this many bytes.
constexpr std::size_t kPieceBetween = 64 << 10;

// Calls copy(between, offset, bytes) for pieces of `bytes` bytes, as long as it returns true.
template <class Copy>
bool by_memory_between(std::size_t bytes, Copy copy) {
  const std::size_t most = std::min(bytes, kPieceBetween);
  const std::unique_ptr<std::byte[]> between(new std::byte[most]);
  for (std::size_t done = 0; done < bytes; done += most) {
    if (!copy(between.get(), done, std::min(most, bytes - done))) return false;
  }
  return true;
}

}  // namespace

bool read_from(const SingleCopy& peers, int peer, std::uintptr_t address, void* to,
               std::size_t bytes) {
  if (peers.memory->read(peer, address, to, bytes)) [[likely]]
    return true;
  return by_memory_between(bytes, [&](std::byte* between, std::size_t done, std::size_t some) {
    if (!peers.memory->read(peer, address + done, between, some)) return false;
    std::memcpy(static_cast<std::byte*>(to) + done, between, some);
    return true;
  });
}

bool write_to(const SingleCopy& peers, int peer, std::uintptr_t address, const void* from,
              std::size_t bytes) {
  if (peers.memory->write(peer, address, from, bytes)) [[likely]]
    return true;
  return by_memory_between(bytes, [&](std::byte* between, std::size_t done, std::size_t some) {
    std::memcpy(between, static_cast<const std::byte*>(from) + done, some);
    return peers.memory->write(peer, address + done, between, some);
  });
}

// Data in scratch memory are kept with the note, since that memory is used again.
void store_or_note(const SingleCopy& peers, int peer, std::uintptr_t address, const std::byte* from,
                   std::size_t bytes) {
  if (store(peers, peer, address, from, bytes)) [[likely]]
    return;
  Refusals::Write write{peer, address, from, bytes, {}};
  const auto place = reinterpret_cast<std::uintptr_t>(from);
  const auto scratch = reinterpret_cast<std::uintptr_t>(peers.scratch);
  if (place - scratch < peers.scratch_bytes) {
    write.kept.assign(from, from + bytes);
    write.from = nullptr;
  }
  peers.refusals->note(std::move(write));
}

}  // namespace sumac
