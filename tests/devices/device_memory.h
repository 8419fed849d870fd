// SPDX-License-Identifier: BSD-3-Clause
// Buffers of tests in the memory of the stand-in for CUDA's driver, at random.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "devices/stand_in.h"
#include "mpi/data.h"

namespace test {

// The functions of the driver that SUMAC_TEST_CUDA names, which is loaded by this.
class StandIn {
 public:
  StandIn() {
    const char* path = std::getenv("SUMAC_TEST_CUDA");
    library_ = path ? dlopen(path, RTLD_NOW) : nullptr;
    if (library_) return;
    std::fprintf(stderr, "SUMAC_TEST_CUDA does not name the stand-in for CUDA's driver\\n");
    std::abort();
  }
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

 private:
  void* library_;
};
#define STAND_IN(stand_in, name) (stand_in).find<decltype(name)>(#name)

// A third of the buffers are in the program's own memory, a third in a device's, and a third in
// memory of the host whose addresses a device's had before.
class RandomMemory final : public OtherMemory {
 public:
  explicit RandomMemory(std::uint64_t seed) : random_(seed) { STAND_IN(stand_in_, cuInit)(0); }

  unsigned char* make(std::size_t bytes, unsigned char*& memory) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::uint64_t kind = random_.below(3);
    unsigned long long address = 0;
    if (kind == 0 || STAND_IN(stand_in_, cuMemAlloc_v2)(&address, bytes) != 0) return nullptr;
    if (kind == 1) STAND_IN(stand_in_, stand_in_set_host)(address, 1);
    memory = reinterpret_cast<unsigned char*>(address);
    return static_cast<unsigned char*>(STAND_IN(stand_in_, stand_in_view)(address));
  }
  void drop(unsigned char* memory) override {
    STAND_IN(stand_in_, cuMemFree_v2)(reinterpret_cast<unsigned long long>(memory));
  }
  const StandIn& stand_in() const { return stand_in_; }

 private:
  const StandIn stand_in_;
  std::mutex mutex_;
  Random random_;
};

inline RandomMemory*& random_memory() {
  static RandomMemory* the_memory = nullptr;
  return the_memory;
}
inline void use_device_memory(std::uint64_t seed) {
  random_memory() = new RandomMemory(mix(seed));
  other_memory() = random_memory();
}

}  // namespace test
