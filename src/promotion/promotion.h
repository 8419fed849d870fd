// SPDX-License-Identifier: BSD-3-Clause
// Promotion turns whole pages of ordinary private buffers into pages of a file that other ranks may
// map, at the same addresses and with the same data, without the program's knowledge. This is the
// owner's side; peers open /proc/<pid>/fd/<file>, compare device and inode, and map [address,
// address + bytes) of the file: a byte's offset in it is its address (memory_file.h).
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
  std::size_t most_ranges = 16384;       // promotions between two sweeps: mappings of the process
  bool heed_devices = true;              // leave a process with RDMA or GPU devices open alone
  bool heed_tools = true;                // the same for valgrind or a sanitizer
  bool huge_always = false;  // huge pages wherever they fit, not only where the old ones were
  KernelFeatures without;    // features to do without, as on an older kernel
  bool exact = false;        // read the mappings' properties each time (properties.h)
  // True if the program's calls of madvise and mremap come to advise() and before_remap().
  // Otherwise memory that an allocator gave back by madvise would not read as zeros, so nothing is
  // promoted.
  bool calls_caught = false;
};

// Makes the file and the handlers of fork. Returns none if memory can be promoted; otherwise
// promotion is off for good. Later calls change nothing, and return the same.
Refusal open(const Settings& settings);

// Returns why promotion is off now; none: it is on. It goes off when the process forks (in the
// child), or opens a device.
Refusal status();

// Returns why there is no file, and so no memory at all that others can map; none: there is. There
// may be a file where nothing is promoted.
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
// promoted already stay as they are. It promotes all or nothing, unless memory runs out. It does
// not wait for another thread that promotes, but returns Refusal::busy.
Outcome promote(const void* address, std::size_t bytes);

// Returns true if all whole pages of the buffer are promoted now, so that peers' windows show what
// is at these addresses. It asks the kernel, under 1 us (2 to 4 without PROCMAP_QUERY), since the
// program may have unmapped, moved or replaced the memory at any time. The program must not be
// allowed to free the buffer during the call.
bool mapped(const void* address, std::size_t bytes);

// Finds the mapping that holds the address, if it shows a file that other processes may have
// mapped, too, for reading and writing. The file of promoted memory does not count.
bool shared_mapping(const void* address, Mapping& mapping);

// Finds pages of the file whose memory the program has unmapped, and gives them back. Looks at a
// few mappings (`steps`) and goes on there in the next call. Returns the bytes given back.
std::size_t sweep(int steps);

// The program's madvise() and mremap() come here while promotion is on. The functions do the same
// by `next`, and on promoted memory what the call would have done to private memory. Signal
// handlers may call them, also while another thread promotes; they allocate nothing and take no
// lock.
using Madvise = int (*)(void* address, std::size_t bytes, int advice);
int advise(void* address, std::size_t bytes, int advice, Madvise next);
// Must be called before mremap(). The memory is made private again, with the same data: if a
// mapping of the file grew, it would show the pages that follow in the file, which are another
// buffer's. Returns false if there is no memory for that; the program's mremap() must then fail.
bool before_remap(void* address, std::size_t bytes);

// The statistics show these numbers since open().
struct Counts {
  std::uint64_t promotions = 0, promoted_bytes = 0, huge_bytes = 0;
  std::uint64_t swept_bytes = 0, released_bytes = 0, demoted_bytes = 0;
  std::uint64_t refusals[kRefusals] = {};
  std::uint64_t used_bytes = 0;  // memory of the file, now
};
Counts counts();

}  // namespace sumac::promotion
