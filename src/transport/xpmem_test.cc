// SPDX-License-Identifier: BSD-3-Clause
// Memory is seen through XPMEM's functions, those of a stand-in (tests/xpmem).
#include "transport/xpmem.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/cpu.h"
#include "testing/one_process.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void* found(const char* name) {
  static void* const library = dlopen(SUMAC_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  return dlsym(library, name);
}
template <class Function>
Function* stand_in(const char* name) {
  return reinterpret_cast<Function*>(found(name));
}
std::byte* allocate(std::size_t bytes) {
  return static_cast<std::byte*>(
      stand_in<void*(std::size_t, std::size_t)>("stand_in_allocate")(bytes, 1));
}
void give_back(void* memory) { stand_in<bool(void*)>("stand_in_free")(memory); }
int attachments() { return stand_in<int()>("stand_in_attachments")(); }

const Xpmem& opened() { return *Xpmem::open(SUMAC_STAND_IN); }

// Returns what rank 0, which is this process, sees of others with these segments.
MappedMemory seen_of(std::vector<std::int64_t> segments) {
  segments.insert(segments.begin(), opened().segment());
  return {std::make_unique<LocalPeerMemory>(), opened().windows_on(segments, 0), 0};
}

std::uintptr_t address(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

TEST(Xpmem, IsOpenedOnce) {
  ASSERT_NE(Xpmem::open(SUMAC_STAND_IN), nullptr);
  EXPECT_EQ(Xpmem::open(SUMAC_STAND_IN), Xpmem::opened());
  EXPECT_TRUE(opened().works() && opened().is_stand_in());
  EXPECT_GT(opened().segment(), 0);
}

TEST(Xpmem, ShowsWhatTheOwnerHasAndWhatComesThereLater) {
  MappedMemory memory = seen_of({opened().segment()});
  ASSERT_TRUE(memory.works());
  for (int round = 1; round < 100; ++round) {
    std::byte* const own = allocate(kMiB);
    for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, kMiB - 8}) {
      std::byte* const view = memory.view(1, address(own) + at, 8);
      ASSERT_TRUE(view && view != own + at);
      EXPECT_EQ(view[0], std::byte{0});
      std::memset(own + at, round, 8);
      EXPECT_EQ(std::memcmp(view, own + at, 8), 0);
      view[7] = std::byte{200};
      EXPECT_EQ(own[at + 7], std::byte{200});
    }
    give_back(own);
  }
  EXPECT_EQ(memory.view(0, address(&memory), 8), nullptr);  // it is the rank's own memory
}

TEST(Xpmem, WindowsAreSharedByGroupsAndGoWithTheLast) {
  std::byte* const own = allocate(kMiB);
  {
    MappedMemory first = seen_of({opened().segment()});
    MappedMemory second = seen_of({opened().segment(), opened().segment()});
    EXPECT_EQ(attachments(), 0) << "before they are needed";
    const std::byte* const view = first.view(1, address(own), 8);
    EXPECT_EQ(second.view(2, address(own), 8), view);
    EXPECT_EQ(attachments(), 1);
  }
  EXPECT_EQ(attachments(), 0);
  give_back(own);
}

// The last window is cut off where the addresses of a process end. The stack is there.
TEST(Xpmem, ShowsAddressesUpToTheLast) {
  MappedMemory memory = seen_of({opened().segment()});
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47;
  EXPECT_NE(memory.view(1, kEnd - 2 * kPage, kPage), nullptr);
  EXPECT_EQ(memory.view(1, kEnd + kPeerWindow, 8), nullptr);
}

TEST(Xpmem, WorksOnlyWithSegmentsThatAre) {
  EXPECT_FALSE(seen_of({0}).works());
  EXPECT_FALSE(seen_of({opened().segment() + 1000}).works());
  EXPECT_FALSE(seen_of({opened().segment(), -1}).works());
  EXPECT_TRUE(seen_of({opened().segment(), opened().segment()}).works());
}

TEST(Xpmem, BetweenProcesses) {
  using Make = std::int64_t(void*, std::size_t, int, void*);
  struct Told {
    std::int64_t segment;
    std::byte* memory;
  } told = {};
  opened();
  int pipes[2][2];
  ASSERT_TRUE(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (opened().works()) _exit(2);  // the parent has opened it
    told.segment =
        stand_in<Make>("xpmem_make")(nullptr, ~std::size_t{0}, 1, reinterpret_cast<void*>(0600));
    told.memory = allocate(kMiB);
    std::memset(told.memory, 7, kMiB);
    char go = 0;
    const bool done =
        write(pipes[0][1], &told, sizeof told) == sizeof told && read(pipes[1][0], &go, 1) == 1;
    _exit(done && told.memory[5] == std::byte{9} ? 0 : 3);
  }
  ASSERT_EQ(read(pipes[0][0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
  MappedMemory memory = seen_of({told.segment});
  ASSERT_TRUE(memory.works());
  std::byte* const view = memory.view(1, address(told.memory), kMiB);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view[kMiB - 1], std::byte{7});
  view[5] = std::byte{9};
  EXPECT_EQ(write(pipes[1][1], "", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The module then ends all windows of the process, and they may not be unmapped once more.
TEST(Xpmem, WorksNoMoreOnceItsDescriptorIsClosed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto close_it = [] {
    bool right = opened().works();
    {
      MappedMemory memory = seen_of({opened().segment()});
      right = right && memory.view(1, address(allocate(kMiB)), 8) && attachments() == 1;
      stand_in<void()>("stand_in_close")();
      right = right && !opened().works() && attachments() == 0;
    }
    _exit(right ? 0 : 1);
  };
  EXPECT_EXIT(close_it(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sumac::testing
