// SPDX-License-Identifier: BSD-3-Clause
// Cross-memory attach is process_vm_readv and process_vm_writev between the ranks of a node.
#pragma once

#include <sys/types.h>

#include <memory>

#include "transport/peer_memory.h"

namespace sumac {

class CrossMemoryAttach final : public PeerMemory {
 public:
  // pids[rank] is the process of each rank of the group, in this rank's PID namespace.
  CrossMemoryAttach(const pid_t* pids, int ranks);
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override;
  bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) override;

 private:
  std::unique_ptr<pid_t[]> pids_;
};

// Peers read this word, and write it back unchanged, to prove that they reach this process and no
// other.
struct AttachProbe {
  std::uintptr_t address;
  std::uint64_t value;
};

// Returns this process's probe word.
AttachProbe own_attach_probe();

// Returns true if `peer` of `memory` holds `probe` and accepts a write. Only a real transfer is
// proof: Yama's ptrace_scope, seccomp, and user and PID namespaces refuse by different rules.
bool attach_works(PeerMemory& memory, int peer, const AttachProbe& probe);

}  // namespace sumac
