// SPDX-License-Identifier: BSD-3-Clause
// What the stand-ins (stand_in.h) share: memory, and copies that are done no earlier than they must
// be. Each library has an instance of its own.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "stand_in.h"

namespace stand_in {

enum class Kind { unknown, pinned, managed, device };
enum class State { not_initialised, ready, shut_down };
enum class Copied { well, badly, failed };  // badly: the arguments were wrong

// A stream runs copies of one device. It is identified by its address.
struct Stream {
  int device = 0;
  std::chrono::steady_clock::time_point busy_until{};
};

class Memory {
 public:
  void initialise();
  State state();
  void shut_down();

  // Memory is on the first device.
  void* allocate(std::size_t bytes, bool managed);
  bool free(void* memory);
  void pin(void* pages, std::size_t bytes);
  bool unpin(void* pages);
  void* view(const void* memory) const;
  void set_host(void* memory, bool is_host);

  // Asks about an address, in a call or in the same one as before.
  Kind kind_of(const void* address, bool same_call = false);
  bool is_device(const void* address);  // does not count
  Copied copy(Stream& stream, void* to, const void* from, std::size_t bytes, bool to_host);
  void wait(Stream& stream);

  void note_mistake();
  StandInCounts counts();

  long copies_until_failure = -1;
  unsigned delay = 0, pace = 0;

 private:
  struct Allocation {
    std::size_t bytes;
    bool managed, host;
  };
  struct Copy {
    Stream* stream;
    char* to;
    const char* from;
    std::size_t bytes;
  };
  void map();
  const Allocation* find(const void* address, std::size_t bytes) const;

  std::mutex mutex_;
  State state_ = State::not_initialised;
  char *device_side_ = nullptr, *host_side_ = nullptr;  // of the same memory
  std::map<std::uintptr_t, Allocation> allocations_;
  std::multimap<std::size_t, std::uintptr_t> freed_;
  std::map<std::uintptr_t, std::size_t> pinned_;
  std::size_t used_ = 0;
  std::vector<Copy> waiting_;
  StandInCounts counts_{};
};

Memory& memory();

}  // namespace stand_in
