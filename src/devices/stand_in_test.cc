// SPDX-License-Identifier: BSD-3-Clause
// With a stand-in for CUDA's driver, which the first test loads late.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>
#include <vector>

#include "../tests/devices/stand_in.h"
#include "devices/copies.h"
#include "devices/staging.h"
#include "devices/sure_host.h"

namespace sumac {
namespace {

int in_data[4];

void* library() {
  static void* const loaded = dlopen(SUMAC_STAND_IN, RTLD_NOW);
  return loaded;
}

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library(), name));
}
#define CALL(name) (*find<decltype(name)>(#name))

// A buffer is never in the frame of the function that asks.
[[gnu::noinline]] bool is_sure(const void* address) { return is_surely_host(address); }

void* pages() {
  return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// Memory of the device, which is the host's if `is_host`.
struct Allocated {
  unsigned long long address = 0;
  explicit Allocated(std::size_t bytes) { EXPECT_EQ(CALL(cuMemAlloc_v2)(&address, bytes), 0); }
  ~Allocated() { CALL(cuMemFree_v2)(address); }
  void* pointer() const { return reinterpret_cast<void*>(address); }
  unsigned char* view() const { return static_cast<unsigned char*>(CALL(stand_in_view)(address)); }
};

// All tests begin so; the driver is loaded after buffers are looked at.
class Devices : public testing::Test {
 protected:
  Devices() {
    static const bool prepared = [] {
      look_at_buffers(false);
      EXPECT_FALSE(looks_at_buffers());
      look_at_buffers(true);
      EXPECT_EQ(find_driver(), nullptr);
      EXPECT_FALSE(is_on_device(shared_));
      EXPECT_NE(library(), nullptr) << dlerror();
      EXPECT_NE(find_driver(), nullptr) << "a driver that is loaded late is noticed";
      EXPECT_FALSE(is_on_device(shared_)) << "before it is initialised";
      return CALL(cuInit)(0) == 0;
    }();
    EXPECT_TRUE(prepared);
  }
  static inline void* const shared_ = pages();
};

TEST_F(Devices, KindsAreTold) {
  const Allocated memory(10000);
  EXPECT_TRUE(is_on_device(memory.pointer()));
  EXPECT_TRUE(is_on_device(static_cast<char*>(memory.pointer()) + 9999));
  EXPECT_FALSE(is_on_device(nullptr));
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_EQ(place_of(shared_).memory, MemoryKind::host);
  unsigned long long managed = 0;
  ASSERT_EQ(CALL(cuMemAllocManaged)(&managed, 100, 1), 0);
  EXPECT_EQ(place_of(reinterpret_cast<void*>(managed)).memory, MemoryKind::managed);
  CALL(cuMemFree_v2)(managed);
}

TEST_F(Devices, KindsChange) {
  unsigned long long first = 0;
  for (int round = 0; round < 4; ++round) {
    const Allocated memory(5000);
    if (round == 0) first = memory.address;
    EXPECT_EQ(memory.address, first) << "the same address";
    CALL(stand_in_set_host)(memory.address, round % 2);
    EXPECT_EQ(is_on_device(memory.pointer()), round % 2 == 0);
  }
}

TEST_F(Devices, PinnedPagesAreKnown) {
  auto* const area = static_cast<char*>(
      mmap(nullptr, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_FALSE(is_known_to_driver(area, 16 * 4096));
  CALL(cuMemHostRegister_v2)(area + 5 * 4096, 4096, 0);
  EXPECT_TRUE(is_known_to_driver(area, 16 * 4096)) << "a page in the middle";
  EXPECT_EQ(place_of(area + 5 * 4096).memory, MemoryKind::pinned);
  EXPECT_FALSE(is_on_device(area + 5 * 4096));
  EXPECT_FALSE(is_known_to_driver(area, 5 * 4096));
  CALL(cuMemHostUnregister)(area + 5 * 4096);
  munmap(area, 16 * 4096);
}

TEST_F(Devices, SomeAddressesNeedNoDriver) {
  const unsigned long before = CALL(stand_in_counts)().queries;
  int on_stack = 0;
  const auto on_heap = std::make_unique<int>(1);
  EXPECT_TRUE(is_sure(&on_stack));
  EXPECT_TRUE(is_sure(in_data));
  EXPECT_TRUE(is_sure(on_heap.get()));
  EXPECT_FALSE(is_on_device(&on_stack) || is_on_device(in_data) || is_on_device(on_heap.get()));
  EXPECT_EQ(CALL(stand_in_counts)().queries, before);
  std::thread([&] {
    int on_own_stack = 0;
    EXPECT_TRUE(is_sure(&on_own_stack));
    EXPECT_FALSE(is_sure(shared_));
    const Allocated memory(1);
    EXPECT_TRUE(is_on_device(memory.pointer()));
  }).join();
}

TEST_F(Devices, CopiesGoBothWays) {
  const Allocated memory(100000);
  for (std::size_t i = 0; i < 100000; ++i) memory.view()[i] = static_cast<unsigned char>(i * 7);
  const DevicePlace place = place_of(memory.pointer());
  StagingMemory staging(100000, place);
  ASSERT_NE(staging.data(), nullptr);
  {
    DeviceCopies copies(place);
    copies.to_host(staging.data(), memory.pointer(), 60000);
    copies.to_host(staging.data() + 60000, static_cast<char*>(memory.pointer()) + 60000, 40000);
    EXPECT_EQ(copies.finish(), 0);
  }
  EXPECT_EQ(std::memcmp(staging.data(), memory.view(), 100000), 0);
  std::memset(staging.data(), 5, 100000);
  DeviceCopies copies(place);
  copies.to_device(memory.pointer(), staging.data(), 99999);
  EXPECT_EQ(copies.finish(), 0);
  EXPECT_EQ(memory.view()[99998], 5);
  EXPECT_EQ(memory.view()[99999], static_cast<unsigned char>(99999 * 7));
}

TEST_F(Devices, AnyThreadCanCopyAndAsk) {
  const Allocated memory(64);
  memory.view()[63] = 9;
  CALL(stand_in_query_needs_context)(1);
  std::thread([&] {
    EXPECT_TRUE(is_on_device(memory.pointer()));
    unsigned char to[64] = {};
    DeviceCopies copies(place_of(memory.pointer()));
    copies.to_host(to, memory.pointer(), 64);
    EXPECT_EQ(copies.finish(), 0);
    EXPECT_EQ(to[63], 9);
  }).join();
  CALL(stand_in_query_needs_context)(0);
}

TEST_F(Devices, FailuresAreTold) {
  const Allocated memory(64);
  unsigned char to[128] = {};
  const DevicePlace place = place_of(memory.pointer());
  {
    DeviceCopies copies(place);
    copies.to_host(to, memory.pointer(), 100000);
    EXPECT_NE(copies.finish(), 0) << "more than was allocated";
  }
  CALL(stand_in_fail_copy)(1);
  DeviceCopies copies(place);
  copies.to_host(to, memory.pointer(), 8);
  copies.to_host(to, memory.pointer(), 8);
  const int error = copies.finish();
  EXPECT_STREQ(name_of_device_error(error), "CUDA_ERROR_LAUNCH_FAILED");
  CALL(stand_in_fail_copy)(-1);
}

TEST_F(Devices, BlocksAreKept) {
  const Allocated memory(64);
  const DevicePlace place = place_of(memory.pointer());
  const unsigned long before = CALL(stand_in_counts)().registered;
  const std::byte* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    const StagingMemory small(3000000, place);
    if (round == 0) first = small.data();
    EXPECT_EQ(small.data(), first);
  }
  EXPECT_EQ(CALL(stand_in_counts)().registered, before + 1);
  const StagingMemory large(std::size_t{1} << 30, place);
  EXPECT_NE(large.data(), nullptr);
  EXPECT_EQ(CALL(stand_in_counts)().registered, before + 1) << "too large to be kept";
}

// This is the last test: nothing works afterwards.
TEST_F(Devices, ShutDown) {
  const Allocated memory(64);
  const DevicePlace place = place_of(memory.pointer());
  CALL(stand_in_shut_down)();
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_FALSE(is_on_device(memory.pointer())) << "there is no device any more";
  unsigned char to[8] = {};
  DeviceCopies copies(place);
  copies.to_host(to, memory.pointer(), 8);
  EXPECT_NE(copies.finish(), 0);
}

}  // namespace
}  // namespace sumac
