// SPDX-License-Identifier: BSD-3-Clause
// A buffer of the program's in a GPU's memory, and host memory that takes its place for one call.
// The host memory is laid out as the program's, gaps and all, so whatever is done with the call
// only needs another address.
#pragma once

#include <memory>
#include <vector>

#include "devices/copies.h"
#include "devices/staging.h"
#include "interpose/mpi/call.h"

namespace sumac {

// Returns the address of the first byte of typed data: not that of the buffer if the type has a
// lower bound, or places relative to MPI_BOTTOM.
const void* first_byte(const Data& data);
// Returns true if the first byte is in a GPU's memory.
bool is_on_device(const Data& data);

// Data that lie one behind the other on a device, and their place in host memory.
struct DeviceRun {
  std::byte* on_device = nullptr;  // null if there are no such data
  std::byte* on_host = nullptr;
  std::size_t bytes = 0;
  DevicePlace place;
};

class DeviceBuffer {
 public:
  // The call reads or writes these data of the buffer. The type may be freed afterwards.
  void add(const Data& data, bool reads, bool writes);
  // All data are in this memory.
  void place(const DevicePlace& place);
  // Asks where the data are: all of them are where the first are, or `each` may be elsewhere.
  void find_places(bool each);
  // Makes the host memory for data whose places are known. Returns false if there is none.
  bool stage();

  // Returns the distance in bytes from an address of the program's to the one in its place.
  std::ptrdiff_t shift() const { return shift_; }

  // These copy what the call reads, and what it has written, from and to the places that were found
  // last. Gaps in what was written are the program's, and not copied.
  DeviceError load() const;
  DeviceError deliver() const;
  // Returns what the call reads, or what it writes, if that is one run.
  DeviceRun run(bool written) const;

 private:
  struct Run {
    MpiAint at;
    std::size_t bytes;
  };
  // `count` elements with the same runs, one each `extent` bytes.
  struct Piece {
    std::uintptr_t at;
    std::size_t count;
    MpiAint extent;
    std::vector<Run> runs;
    bool reads, writes;
    DevicePlace place;

    // Calls use(address, bytes) for all runs.
    template <class Use>
    void each_run(Use use) const;
    std::uintptr_t low() const;
    std::uintptr_t high() const;
    std::size_t num_runs() const { return count * runs.size(); }
  };

  static std::vector<Run> runs_of(MpiDatatype type, std::size_t element);
  DeviceError load(const Piece& piece) const;
  DeviceError deliver(const Piece& piece) const;
  void* in_place_of(std::uintptr_t at) const;

  std::vector<Piece> pieces_;
  std::unique_ptr<StagingMemory> memory_;
  std::ptrdiff_t shift_ = 0;
};

}  // namespace sumac
