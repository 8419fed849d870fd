// SPDX-License-Identifier: BSD-3-Clause
// The tests check what forbids promotion in a whole process, and what bounds it. Each test has its
// own process, in which nothing has been opened before.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/cpu.h"
#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

constexpr std::size_t kBytes = 8 * kPage;

// Each case runs in a process in which nothing has been opened yet.
TEST(Process, IsLeftAlone) {
  const auto opens_with = [](Refusal expected, const std::function<void(Settings&)>& prepare) {
    return in_child([&] {
      Settings settings = test_settings();
      prepare(settings);
      const Refusal first = open(settings);
      const Pages pages(kBytes);
      return first == expected && status() == expected &&
             promote(pages.data(), kBytes).refusal == expected && !mapped(pages.data(), kBytes);
    });
  };
  const auto limit = [](int resource, rlim_t bytes) {
    const rlimit value{bytes, bytes};
    return setrlimit(static_cast<__rlimit_resource>(resource), &value) == 0;
  };
  EXPECT_EQ(opens_with(Refusal::limits, [&](Settings&) { limit(RLIMIT_FSIZE, 1 << 30); }), 0);
  if (!kSanitized) {
    EXPECT_EQ(opens_with(Refusal::limits, [&](Settings&) { limit(RLIMIT_AS, 1ul << 40); }), 0);
  }
  if (kSanitized) {
    EXPECT_EQ(opens_with(Refusal::tools, [](Settings& s) { s.heed_tools = true; }), 0);
  }
  EXPECT_EQ(opens_with(Refusal::releases, [](Settings& s) { s.calls_caught = false; }), 0);
}

// Nothing that was known of the memory before is trusted. The calls are those that Sumac does not
// see.
TEST(Process, MemoryThatBecomesSpecialByUnseenCalls) {
  const int code = in_child([] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    for (int round = 0; round < 50; ++round) {
      const Pages before(kBytes), special(kBytes);
      if (!(promote(before.data(), kBytes).done())) return false;
      syscall(SYS_madvise, special.data() + kPage, kPage, MADV_DONTFORK);
      if (promote(special.data(), kBytes).refusal != Refusal::special) return false;
      const int key = pkey_alloc(0, 0);
      const Pages keyed(kBytes);
      if (key > 0) {
        if (pkey_mprotect(keyed.data(), kBytes, PROT_READ | PROT_WRITE, key) != 0) return false;
        if (promote(keyed.data(), kBytes).refusal != Refusal::special) return false;
        pkey_free(key);
      }
      Refusal of_stack = Refusal::none;
      std::thread([&] {
        std::byte own[kBytes];
        const std::byte* address = own;
        std::thread([&] { of_stack = promote(address, kBytes).refusal; }).join();
      }).join();
      if (of_stack != Refusal::stack) return false;
    }
    return true;
  });
  EXPECT_EQ(code, 0);
}

// An io_uring stands for all devices: its registered buffers are pinned, too.
TEST(Process, OpenDevicesAreHeeded) {
  const auto with_ring = [](bool heed, bool late, Refusal expected) {
    return in_child([=] {
      Settings settings = test_settings();
      settings.heed_devices = heed;
      if (late && open(settings) != Refusal::none) return status() != Refusal::forked;
      char parameters[256] = {};  // struct io_uring_params has 120 bytes
      if (syscall(SYS_io_uring_setup, 1, parameters) < 0) _exit(77);
      if (!late) return open(settings) == expected;
      const Pages pages(kPage);
      return promote(pages.data(), kPage).refusal == expected && status() == expected;
    });
  };
  const int first = with_ring(true, false, Refusal::devices);
  if (first == 77) GTEST_SKIP() << "no io_uring here";
  EXPECT_EQ(first, 0);
  EXPECT_EQ(with_ring(true, true, Refusal::devices), 0);
  EXPECT_EQ(with_ring(false, true, Refusal::none), 0);
}

// If a device is opened later, promoted memory stays where it is, since its pages may be pinned
// now. If a userfaultfd is, peers no longer use it.
TEST(Process, PromotedMemoryAndDescriptorsThatAppear) {
  const auto after = [](bool faults, bool by_advice) {
    return in_child([=] {
      if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
      const Pages pages(kBytes);
      fill(pages.data(), kBytes, 1);
      if (!promote(pages.data(), kBytes).done()) return false;
      tend();
      char parameters[256] = {};
      const long opened =
          faults ? syscall(SYS_userfaultfd, O_CLOEXEC) : syscall(SYS_io_uring_setup, 1, parameters);
      if (opened < 0) _exit(77);
      if (by_advice) {
        advise(pages.data() + kPage, kPage, MADV_DONTNEED, madvise);
      } else {
        const std::uint64_t end = clock_ns() + 30'000'000'000;
        while (status() == Refusal::none && clock_ns() < end) tend();
      }
      return status() == (faults ? Refusal::faults : Refusal::devices) &&
             mapped(pages.data(), kBytes) == !faults && differs(pages.data(), kPage, 1) == kPage;
    });
  };
  for (const bool faults : {false, true}) {
    for (const bool by_advice : {false, true}) {
      const int code = after(faults, by_advice);
      EXPECT_TRUE(code == 0 || code == 77) << faults << by_advice;
    }
  }
}

TEST(Process, Budget) {
  const int code = in_child([] {
    Settings settings = test_settings();
    settings.budget = 10 * kPage;
    if (open(settings) != Refusal::none) return status() != Refusal::forked;
    Pages* first = new Pages(kBytes);
    const Pages second(kBytes), third(kBytes);
    if (!promote(first->data(), kBytes).done()) return false;
    if (promote(second.data(), kBytes).refusal != Refusal::budget) return false;
    if (!promote(second.data(), 2 * kPage).done() || counts().used_bytes != 10 * kPage)
      return false;
    delete first;  // it is swept when the room is needed
    return promote(third.data(), kBytes).done() && counts().swept_bytes == kBytes &&
           promote(second.data(), kBytes).refusal == Refusal::budget;
  });
  EXPECT_EQ(code, 0);
}

TEST(Process, MappingsAreBounded) {
  const int code = in_child([] {
    Settings settings = test_settings();
    settings.most_ranges = 4;
    if (open(settings) != Refusal::none) return status() != Refusal::forked;
    const Pages pages(40 * kPage);
    for (std::size_t i = 0; i < 4; ++i) {
      if (!promote(pages.data() + 2 * i * kPage, kPage).done()) return false;
    }
    if (promote(pages.data() + 8 * kPage, kPage).refusal != Refusal::budget) return false;
    munmap(pages.data(), kPage);
    return promote(pages.data() + 8 * kPage, kPage).done();
  });
  EXPECT_EQ(code, 0);
}

bool is_rest(const std::byte* data) {
  for (std::size_t i = 0; i < kBytes - kPage; ++i) {
    if (data[i] != pattern(i + kPage, 1)) return false;
  }
  return true;
}

// The program closes all descriptors, so the number may be another file's by then.
TEST(Process, AFileThatWasClosedIsLeftAlone) {
  char name[] = "/tmp/sumac_promotion_XXXXXX";
  const int other = mkstemp(name);
  const int code = in_child([&] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    const Pages pages(kBytes);
    fill(pages.data(), kBytes, 1);
    if (!promote(pages.data(), kBytes).done()) return false;
    if (dup2(other, file().descriptor) < 0 || write(other, name, sizeof name) < 0) return false;
    munmap(pages.data(), kPage);
    sweep(1000);
    if (promote(pages.data() + kPage, kPage).refusal != Refusal::file_lost) return false;
    // The data are still there, and a child has copies.
    std::byte* const rest = pages.data() + kPage;
    mprotect(rest, kPage, PROT_NONE);
    const int status = in_child([&] {
      mprotect(rest, kPage, PROT_READ | PROT_WRITE);
      const bool right = is_rest(rest);
      std::memset(rest, 0, kBytes - kPage);
      return right;
    });
    mprotect(rest, kPage, PROT_READ);
    struct stat now = {};
    return status == 0 && is_rest(rest) && fstat(other, &now) == 0 && now.st_size == sizeof name;
  });
  EXPECT_EQ(code, 0);
  close(other);
  unlink(name);
}

// All descriptors are closed, and their numbers are other files'.
TEST(Process, ACallThatGivesMemoryBackWorksWithoutDescriptors) {
  const int code = in_child([&] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    const Pages pages(kBytes);
    fill(pages.data(), kBytes, 1);
    if (!promote(pages.data(), kBytes).done()) return false;
    const int other = ::open("/proc/1/maps", O_RDONLY);
    for (int number = 3; number < 100; ++number) dup2(other, number);
    if (advise(pages.data(), 2 * kPage, MADV_DONTNEED, madvise) != 0) return false;
    const auto is_right = [&] {
      return nonzero(pages.data(), 2 * kPage) == 2 * kPage &&
             pages.data()[2 * kPage] == pattern(2 * kPage, 1);
    };
    const int result = in_child([&] {
      const bool right = is_right();
      std::memset(pages.data(), 9, kBytes);
      return right;
    });
    return result == 0 && is_right();
  });
  EXPECT_EQ(code, 0);
}

// If there is no memory for all of them, the data stay where they are.
TEST(Process, NoMemory) {
  if (kSanitized) GTEST_SKIP() << "a limit on the address space";
  const int code = in_child([] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    const Pages pages(32 * kMega, 16 * kMega);
    std::memset(pages.data(), 1, pages.size());
    std::size_t all_pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file || std::fscanf(file, "%zu", &all_pages) != 1) return false;
    std::fclose(file);
    // Less than a chunk of copies is left.
    rlimit space = {};
    space.rlim_cur = space.rlim_max = all_pages * kPage + 8 * kMega;
    setrlimit(RLIMIT_AS, &space);
    if (promote(pages.data(), pages.size()).refusal != Refusal::memory) return false;
    if (!promote(pages.data(), kMega).done()) return false;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (pages.data()[i] != std::byte{1}) return false;
    }
    return counts().used_bytes == kMega;
  });
  EXPECT_EQ(code, 0);
}

// A core dump shows promoted memory: the kernel's default filter includes shared memory of no file,
// and counts a memfd as such.
TEST(Process, CoreDumpsShowTheData) {
  if (kSanitized) GTEST_SKIP() << "the dump would be large";
  char folder[] = "/tmp/sumac_core_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const rlimit before = [] {
    rlimit value = {};
    getrlimit(RLIMIT_CORE, &value);
    return value;
  }();
  constexpr char kLetters[] = "this text is in promoted memory";
  const int code = in_child([&] {
    rlimit all = before;
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_CORE, &all);
    if (chdir(folder) != 0 || open(test_settings()) != Refusal::none) return true;
    const Pages pages(kBytes);
    for (std::size_t i = 0; i < sizeof kLetters - 1; ++i) {
      pages.data()[kPage + i] = static_cast<std::byte>(kLetters[i] ^ 1);
    }
    if (!promote(pages.data(), kBytes).done()) return false;
    abort();
  });
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    found.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove_all(folder);
  ASSERT_LE(code, 0);
  if (found.empty()) GTEST_SKIP() << "no core dumps here";
  std::string text = kLetters;
  for (char& letter : text) letter ^= 1;
  EXPECT_NE(found.find(text), found.npos);
}

}  // namespace
}  // namespace sumac::promotion
