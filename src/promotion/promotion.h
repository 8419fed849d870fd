// SPDX-License-Identifier: BSD-3-Clause
// Promotion turns whole pages of ordinary private buffers into pages of a file that other ranks may
// map, at the same addresses and with the same data, without the program's knowledge. This is the
// owner's side; peers open /proc/<pid>/fd/<file>, compare device and inode, and map [address,
// address + bytes) of the file: a byte's offset in it is its address (address_space.h).
//
// A process has one service, which any thread may use. Its parts are: what may be promoted and the
// copy (page_mover.h), memory that is the file's from its beginning (born_shared.h), memory that
// the program gave back (sweep.cc), fork (fork_copies.cc), and when promotion pays (usage.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"
#include "promotion/range.h"
#include "promotion/refusals.h"
#include "promotion/surroundings.h"

namespace sumac::promotion {

struct Settings {
  bool promotes = true;                  // if not, there is only memory that is born shared
  std::size_t budget = ~std::size_t{0};  // bytes of memory that the file may take
  // Mappings of the file at a time. A twentieth of vm.max_map_count is never exceeded.
  std::size_t most_ranges = ~std::size_t{0};
  bool heed_devices = true;  // promote nothing while RDMA or GPU devices or an io_uring are open
  bool heed_tools = true;    // the same for valgrind or a sanitizer
  bool huge_always = false;  // huge pages wherever they fit, not only where the old ones were
  KernelFeatures without;    // features to do without, as on an older kernel
  // At a fork more memory than this is not copied: the process leaves direct memory.
  std::size_t most_copied = std::size_t{16} << 20;
  // True if the program's calls of madvise and mremap come to advise() and remap().
  // Otherwise memory that an allocator gave back by madvise would not read as zeros, so nothing is
  // promoted.
  bool calls_caught = false;
};

// Makes the file and the handlers of fork. Returns none if memory can be promoted; otherwise
// promotion is off for good. Later calls change nothing, and return the same.
Refusal open(const Settings& settings);

// Returns why promotion is off now; none: it is on. It goes off in the child of a fork, in a parent
// with much such memory (fork_copies.cc), and when a device or a userfaultfd is open.
Refusal status();

// Returns why no memory at all may be mapped by others; none: some may. There may be a file where
// nothing is promoted.
Refusal closed();

// Returns what peers must know, after open().
FileIdentity file();

struct Outcome {
  Refusal refusal = Refusal::none;
  std::size_t bytes = 0;  // bytes that this call moved
  std::uint64_t ns = 0;   // time that this took
  bool done() const { return refusal == Refusal::none; }
};
// Promotes the whole pages of the buffer, to which nobody may write meanwhile; those that are
// promoted already stay as they are. It looks first at all descriptors of the process and at how
// the kernel describes the memory now, since both may have changed at any time. It promotes all or
// nothing, unless memory runs out. It does not wait for another thread that promotes, but returns
// Refusal::busy.
Outcome promote(const void* address, std::size_t bytes);

// Returns true if all whole pages of the buffer are promoted now, so that peers' windows show what
// is at these addresses. It asks the kernel, under 1 us (2 to 4 without PROCMAP_QUERY), since the
// program may have unmapped, moved or replaced the memory at any time. The program must not be
// allowed to free the buffer during the call.
bool mapped(const void* address, std::size_t bytes);

// Must stand around an operation in which peers reach into buffers for which mapped() has been
// asked after begin_use(). A fork then leaves the memory as it is.
void begin_use();
void end_use();

// Must be called now and then while there may be such memory: looks at the descriptors of the
// process, and gives memory back that the program has freed. Takes about a hundredth of the time at
// most, and some ns where there is no such memory.
void tend();

// Must be called when peers will not reach into this process any more. Nothing is promoted from
// then on, and what the program frees goes with the last of it.
void end();

// Finds the mapping that holds the address, if it shows a file that other processes may have
// mapped, too, for reading and writing. The file of promoted memory does not count.
bool shared_mapping(const void* address, Mapping& mapping);

// Finds pages of the file whose memory the program has unmapped, and gives them back. Looks at a
// few mappings (`steps`) and goes on there in the next call. Returns the bytes given back.
std::size_t sweep(int steps);
inline constexpr int kAllSteps = 1 << 20;

// The program's madvise() and mremap() come here while promotion is on. The functions do the same
// by `next`, and on promoted memory what the call would have done to private memory. Signal
// handlers may call them, also while another thread promotes; they allocate nothing and take no
// lock.
using Madvise = int (*)(void* address, std::size_t bytes, int advice);
using Mremap = void* (*)(void* old_address, std::size_t old_bytes, std::size_t bytes, int flags,
                         ...);
int advise(void* address, std::size_t bytes, int advice, Madvise next);
void* remap(void* address, std::size_t old_bytes, std::size_t bytes, int flags, void* to,
            Mremap next);

// The statistics show these numbers since open().
struct Counts {
  std::uint64_t promotions = 0, promoted_bytes = 0, huge_bytes = 0;
  std::uint64_t swept_bytes = 0, released_bytes = 0;
  std::uint64_t used_bytes = 0;  // memory of the file, now
  std::uint64_t born = 0, born_bytes = 0;
  std::uint64_t refusals[kRefusals] = {};
};
Counts counts();

}  // namespace sumac::promotion
