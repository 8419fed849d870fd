// SPDX-License-Identifier: BSD-3-Clause
#include "transport/cma.h"

#include <errno.h>
#include <sys/uio.h>

#include <algorithm>

#include "base/random.h"

namespace sumac {
namespace {

// The kernel moves at most this many bytes in one call (MAX_RW_COUNT).
constexpr std::size_t kMostPerCall = 0x7ffff000;

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

bool transfer_all(Transfer transfer, pid_t pid, std::uintptr_t address, void* local,
                  std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kMostPerCall);
    const iovec here{local, part};
    const iovec there{reinterpret_cast<void*>(address), part};
    const ssize_t moved = transfer(pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    local = static_cast<std::byte*>(local) + moved;
    address += static_cast<std::uintptr_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace

CrossMemoryAttach::CrossMemoryAttach(const pid_t* pids, int ranks)
    : pids_(new pid_t[static_cast<std::size_t>(ranks)]) {
  std::copy_n(pids, ranks, pids_.get());
}

bool CrossMemoryAttach::read(int peer, std::uintptr_t address, void* to, std::size_t bytes) {
  return transfer_all(process_vm_readv, pids_[peer], address, to, bytes);
}

bool CrossMemoryAttach::write(int peer, std::uintptr_t address, const void* from,
                              std::size_t bytes) {
  return transfer_all(process_vm_writev, pids_[peer], address, const_cast<void*>(from), bytes);
}

AttachProbe own_attach_probe() {
  static std::uint64_t word = random_word();  // not const: peers write it, without changing it
  return {reinterpret_cast<std::uintptr_t>(&word), word};
}

bool attach_works(PeerMemory& memory, int peer, const AttachProbe& probe) {
  std::uint64_t seen = 0;
  return memory.read(peer, probe.address, &seen, sizeof seen) && seen == probe.value &&
         memory.write(peer, probe.address, &seen, sizeof seen);
}

}  // namespace sumac
