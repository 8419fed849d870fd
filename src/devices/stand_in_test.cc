// SPDX-License-Identifier: BSD-3-Clause
// With a stand-in for a run-time, which the first test loads late: SUMAC_STAND_IN names it, or it
// is that for CUDA's driver.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "../tests/devices/stand_in.h"
#include "devices/copies.h"
#include "devices/staging.h"
#include "devices/where.h"

namespace sumac {
namespace {

int in_data[4];

void* library() {
  const char* const path = std::getenv("SUMAC_STAND_IN");
  static void* const loaded = dlopen(path ? path : SUMAC_STAND_IN, RTLD_NOW);
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

class Allocated {
 public:
  explicit Allocated(std::size_t bytes, bool managed = false)
      : pointer_(CALL(stand_in_allocate)(bytes, managed)) {
    EXPECT_NE(pointer_, nullptr);
  }
  ~Allocated() { CALL(stand_in_free)(pointer_); }
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;

  char* pointer() const { return static_cast<char*>(pointer_); }
  unsigned char* view() const { return static_cast<unsigned char*>(CALL(stand_in_view)(pointer_)); }

 private:
  void* pointer_;
};

// All tests begin so; the driver is loaded after buffers are looked at.
class Devices : public testing::Test {
 protected:
  Devices() {
    static const bool prepared = [] {
      look_at_buffers(false);
      EXPECT_FALSE(looks_at_buffers());
      look_at_buffers(true);
      EXPECT_TRUE(find_runtimes().empty());
      EXPECT_FALSE(is_on_device(shared_));
      EXPECT_NE(library(), nullptr) << dlerror();
      EXPECT_EQ(find_runtimes().size(), 1u) << "a run-time that is loaded late is noticed";
      EXPECT_FALSE(is_on_device(shared_)) << "before it is initialised";
      EXPECT_FALSE(is_unknown_runtime_loaded());
      CALL(stand_in_initialise)();
      return true;
    }();
    EXPECT_TRUE(prepared);
  }
  static inline void* const shared_ = pages();
};

TEST_F(Devices, KindsAreTold) {
  const Allocated memory(10000);
  EXPECT_TRUE(is_on_device(memory.pointer()));
  EXPECT_TRUE(is_on_device(memory.pointer() + 9999));
  EXPECT_FALSE(is_on_device(memory.pointer() + 10000));
  EXPECT_FALSE(is_on_device(nullptr));
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_EQ(place_of(shared_).memory, MemoryKind::host);
  const Allocated managed(100, true);
  EXPECT_EQ(place_of(managed.pointer()).memory, MemoryKind::managed);
}

TEST_F(Devices, KindsChange) {
  const void* first = nullptr;
  for (int round = 0; round < 4; ++round) {
    const Allocated memory(5000);
    if (round == 0) first = memory.pointer();
    EXPECT_EQ(memory.pointer(), first) << "the same address";
    CALL(stand_in_set_host)(memory.pointer(), round % 2);
    EXPECT_EQ(is_on_device(memory.pointer()), round % 2 == 0);
  }
}

TEST_F(Devices, PinnedPagesAreKnown) {
  auto* const area = static_cast<char*>(
      mmap(nullptr, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_FALSE(is_known_to_driver(area, 16 * 4096));
  CALL(stand_in_pin)(area + 5 * 4096, 4096);
  EXPECT_TRUE(is_known_to_driver(area, 16 * 4096)) << "a page in the middle";
  EXPECT_EQ(place_of(area + 5 * 4096).memory, MemoryKind::pinned);
  EXPECT_FALSE(is_on_device(area + 5 * 4096));
  EXPECT_FALSE(is_known_to_driver(area, 5 * 4096));
  CALL(stand_in_unpin)(area + 5 * 4096);
  munmap(area, 16 * 4096);
}

TEST_F(Devices, SomeAddressesNeedNoDriver) {
  const unsigned long before = CALL(stand_in_counts)().queries;
  int on_stack = 0;
  const auto on_heap = std::make_unique<int>(1);
  EXPECT_TRUE(is_sure(&on_stack));
  EXPECT_TRUE(is_sure(in_data));
  EXPECT_FALSE(is_on_device(&on_stack) || is_on_device(in_data));
  EXPECT_EQ(CALL(stand_in_counts)().queries, before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have heaps of their own
  EXPECT_TRUE(is_sure(on_heap.get()));
  EXPECT_FALSE(is_on_device(on_heap.get()));
  EXPECT_EQ(CALL(stand_in_counts)().queries, before);
#endif
  std::thread([&] {
    int on_own_stack = 0;
    EXPECT_TRUE(is_sure(&on_own_stack));
    EXPECT_FALSE(is_sure(shared_));
    const Allocated memory(1);
    EXPECT_TRUE(is_on_device(memory.pointer()));
  }).join();
}

TEST_F(Devices, ManyAddressesAreAskedAboutOnce) {
  const Allocated memory(1);
  const unsigned long before = CALL(stand_in_counts)().queries;
  EXPECT_TRUE(is_on_device(memory.pointer()));
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_EQ(CALL(stand_in_counts)().queries, before + 2);
}

TEST_F(Devices, CopiesGoBothWays) {
  const Allocated memory(100000);
  for (std::size_t i = 0; i < 100000; ++i) memory.view()[i] = static_cast<unsigned char>(i * 7);
  const DevicePlace place = place_of(memory.pointer());
  StagingMemory staging(100000, place);
  ASSERT_NE(staging.data(), nullptr);
  {
    DeviceCopies copies(place, Towards::host);
    copies.begin(staging.data(), memory.pointer(), 60000);
    copies.begin(staging.data() + 60000, memory.pointer() + 60000, 40000);
    EXPECT_FALSE(copies.finish());
  }
  EXPECT_EQ(std::memcmp(staging.data(), memory.view(), 100000), 0);
  std::memset(staging.data(), 5, 100000);
  DeviceCopies copies(place, Towards::device);
  copies.begin(memory.pointer(), staging.data(), 99999);
  EXPECT_FALSE(copies.finish());
  EXPECT_EQ(memory.view()[99998], 5);
  EXPECT_EQ(memory.view()[99999], static_cast<unsigned char>(99999 * 7));
}

TEST_F(Devices, AnyThreadCanCopyAndAsk) {
  const Allocated memory(64);
  memory.view()[63] = 9;
  CALL(stand_in_query_needs_context)(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      EXPECT_TRUE(is_on_device(memory.pointer()));
      for (int round = 0; round < 100; ++round) {
        unsigned char to[64] = {};
        DeviceCopies copies(place_of(memory.pointer()), Towards::host);
        copies.begin(to, memory.pointer(), 64);
        EXPECT_FALSE(copies.finish());
        EXPECT_EQ(to[63], 9);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CALL(stand_in_query_needs_context)(0);
}

TEST_F(Devices, FailuresAreTold) {
  const Allocated memory(64);
  unsigned char to[128] = {};
  const DevicePlace place = place_of(memory.pointer());
  {
    DeviceCopies copies(place, Towards::host);
    copies.begin(to, memory.pointer(), 100000);
    EXPECT_TRUE(copies.finish()) << "more than was allocated";
  }
  CALL(stand_in_fail_copy)(1);
  DeviceCopies copies(place, Towards::host);
  copies.begin(to, memory.pointer(), 8);
  copies.begin(to, memory.pointer(), 8);
  const std::string name = copies.finish().name();
  EXPECT_TRUE(name == "CUDA_ERROR_LAUNCH_FAILED" || name == "hipErrorLaunchFailure" ||
              name == "ZE_RESULT_ERROR_DEVICE_LOST")
      << name;
  CALL(stand_in_fail_copy)(-1);
}

// HIP keeps a thread's last error: questions leave it as the program has it.
TEST_F(Devices, ThreadsKeepTheirErrors) {
  using NoArguments = int();
  auto* const last = find<NoArguments>("hipGetLastError");
  if (!last) GTEST_SKIP() << "the run-time keeps none";
  auto* const set_device = find<int(int)>("hipSetDevice");
  last();  // earlier tests have left one
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_EQ(last(), 0);
  EXPECT_NE(set_device(77), 0);
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_NE(last(), 0);
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
  const unsigned long kept = CALL(stand_in_counts)().registered;
  EXPECT_LE(kept, before + 1);
  const StagingMemory large(std::size_t{1} << 30, place);
  EXPECT_NE(large.data(), nullptr);
  EXPECT_EQ(CALL(stand_in_counts)().registered, kept) << "too large to be kept";
}

// This is the last test: nothing works afterwards.
TEST_F(Devices, ShutDown) {
  const Allocated memory(64);
  const DevicePlace place = place_of(memory.pointer());
  EXPECT_EQ(CALL(stand_in_counts)().mistakes, 0u);
  CALL(stand_in_shut_down)();
  EXPECT_FALSE(is_on_device(shared_));
  EXPECT_FALSE(is_on_device(memory.pointer())) << "there is no device any more";
  unsigned char to[8] = {};
  DeviceCopies copies(place, Towards::host);
  copies.begin(to, memory.pointer(), 8);
  EXPECT_TRUE(copies.finish());
}

}  // namespace
}  // namespace sumac
