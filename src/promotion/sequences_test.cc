// SPDX-License-Identifier: BSD-3-Clause
// A program does a few things to its memory in every order: it promotes, writes, gives back,
// unmaps, maps again, moves, grows and forks. After each step its memory must hold what private
// memory would hold, and peers must see what it holds wherever they may look. SUMAC_TEST_DEPTH
// steps (3 without).

#include <array>
#include <optional>
#include <string>

#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

constexpr std::size_t kPages = 6;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

// A place of some pages, and what private memory would hold there: a number in each page, or
// nothing where no page is mapped.
struct Place {
  std::byte* at;
  std::array<std::optional<int>, kPages> holds;

  explicit Place(std::uintptr_t address) : at(pointer(address)) {}
  std::byte* page(std::size_t i) const { return at + i * kPage; }
  bool has(std::size_t first, std::size_t end) const {
    return std::all_of(holds.begin() + static_cast<long>(first),
                       holds.begin() + static_cast<long>(end),
                       [](const auto& page) { return page.has_value(); });
  }
  void put(std::size_t first, std::size_t end, std::optional<int> what) {
    std::fill(holds.begin() + static_cast<long>(first), holds.begin() + static_cast<long>(end),
              what);
  }
  void map(std::size_t first, std::size_t end) {
    mmap(page(first), (end - first) * kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0);
    put(first, end, 0);
  }
  void unmap(std::size_t first, std::size_t end) {
    munmap(page(first), (end - first) * kPage);
    put(first, end, {});
  }
  void write(int number) {
    for (std::size_t i = 0; i < kPages; ++i) {
      if (holds[i]) write_page(i, number + static_cast<int>(i));
    }
  }
  void write_page(std::size_t i, int number) {
    std::memcpy(page(i), &number, sizeof number);
    std::memcpy(page(i) + kPage - sizeof number, &number, sizeof number);
    holds[i] = number;
  }
  // Returns true if all pages hold what they should, here and in the file where peers may look.
  bool is_right() const {
    for (std::size_t i = 0; i < kPages; ++i) {
      if (!holds[i]) {
        if (mapped(page(i), kPage)) return false;
        continue;
      }
      int first = -1, last = -1, seen = -1;
      std::memcpy(&first, page(i), sizeof first);
      std::memcpy(&last, page(i) + kPage - sizeof last, sizeof last);
      const auto offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page(i)));
      const bool shows = !mapped(page(i), kPage) ||
                         (pread(file().descriptor, &seen, sizeof seen, offset) == sizeof seen &&
                          seen == *holds[i]);
      if (first != *holds[i] || last != *holds[i] || !shows) return false;
    }
    return true;
  }
};

struct World {
  Place a{kApart}, b{kApart + kMega};
  int number = 100;

  World() {
    a.map(0, kPages);
    write();
  }
  ~World() {
    a.unmap(0, kPages);
    b.unmap(0, kPages);
  }
  void write() {
    number += 100;
    a.write(number);
    b.write(number + 50);
  }
  bool is_right() const { return a.is_right() && b.is_right(); }
};

// The pages [first, end) of one place go to those of the other, if the kernel can do that.
void move(Place& from, Place& to, std::size_t first, std::size_t end) {
  if (!from.has(first, end)) return;
  const std::size_t bytes = (end - first) * kPage;
  if (remap(from.page(first), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to.page(first),
            system_mremap) != to.page(first)) {
    return;
  }
  for (std::size_t i = first; i < end; ++i) to.holds[i] = from.holds[i];
  from.put(first, end, {});
}

void grow(Place& place) {
  constexpr std::size_t kOld = 4;
  if (!place.has(1, kOld) || place.holds[kOld] || place.holds[kOld + 1]) return;
  if (remap(place.page(1), 3 * kPage, 5 * kPage, 0, nullptr, system_mremap) == place.page(1)) {
    place.put(kOld, kPages, 0);
  }
}

void give_back(Place& place, std::size_t first, std::size_t end, int advice) {
  advise(place.page(first), (end - first) * kPage, advice, system_madvise);
  for (std::size_t i = first; i < end; ++i) {
    if (!place.holds[i]) continue;
    // It is not known when MADV_FREE takes effect.
    if (advice == MADV_FREE) place.write_page(i, 7);
    if (advice == MADV_DONTNEED) place.holds[i] = 0;
  }
}

void promote_pages(Place& place, std::size_t first, std::size_t end) {
  promote(place.page(first), (end - first) * kPage);
}

// The child sees what the parent had, and neither sees what the other writes.
bool fork_and_write(World& world) {
  const int before = world.number;
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    bool right = read(ends[0], &byte, 1) == 1 && world.is_right();
    give_back(world.a, 0, 2, MADV_DONTNEED);
    grow(world.a);
    right = right && world.is_right();
    world.write();
    _exit(right && world.is_right() ? 0 : 1);
  }
  world.number = before + 1;
  world.write();
  bool right = write(ends[1], "", 1) == 1;
  int status = -1;
  right = waitpid(child, &status, 0) == child && status == 0 && right;
  close(ends[0]);
  close(ends[1]);
  return right;
}

constexpr int kSteps = 13;
bool do_step(World& world, int step) {
  switch (step) {
    case 0:
      promote_pages(world.a, 0, 4);
      break;
    case 1:
      promote_pages(world.a, 2, kPages);
      break;
    case 2:
      promote_pages(world.b, 0, kPages);
      break;
    case 3:
      world.write();
      break;
    case 4:
      give_back(world.a, 1, 4, MADV_DONTNEED);
      break;
    case 5:
      give_back(world.a, 3, 5, MADV_FREE);
      break;
    case 6:
      world.a.unmap(2, 4);
      break;
    case 7:
      world.a.map(1, 3);
      break;
    case 8:
      move(world.a, world.b, 0, 4);
      break;
    case 9:
      move(world.b, world.a, 1, 3);
      break;
    case 10:
      world.a.unmap(4, kPages);
      grow(world.a);
      break;
    case 11:
      sweep(kAllSteps);
      break;
    default:
      return fork_and_write(world);
  }
  return world.is_right();
}

// Writes the steps of the sequence as the digits of a number, from the last to the first.
std::string text_of(long sequence, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i, sequence /= kSteps)
    text += std::to_string(sequence % kSteps) + " ";
  return text;
}

int depth_of_sequences() {
  const char* const wanted = std::getenv("SUMAC_TEST_DEPTH");
  return wanted ? std::atoi(wanted) : kSanitized ? 2 : 3;
}

// Calls act(sequence) for all sequences.
template <class Act>
void for_sequences(int depth, Act act) {
  long sequences = 1;
  for (int i = 0; i < depth; ++i) sequences *= kSteps;
  for (long sequence = 0; sequence < sequences; ++sequence) act(sequence);
}

// Something is promoted before half of them. Returns the number of steps that were right.
int run(World& world, long sequence, int depth) {
  if (sequence % 2) promote_pages(world.a, 1, 5);
  for (int i = 0; i < depth; ++i, sequence /= kSteps) {
    if (!do_step(world, static_cast<int>(sequence % kSteps))) return i;
  }
  return depth;
}

bool has_fork(long sequence) {
  for (; sequence > 0; sequence /= kSteps) {
    if (sequence % kSteps == kSteps - 1) return true;
  }
  return false;
}

// Each process leaves direct memory when it forks. This comes first, as nothing may be open before.
TEST(Leaves, AnyOrderOfSteps) {
  const int depth = depth_of_sequences();
  for_sequences(depth, [&](long sequence) {
    if (!has_fork(sequence)) return;
    const int code = in_child([&] {
      Settings settings = test_settings();
      settings.most_copied = 0;
      if (open(settings) != Refusal::none) return closed() != Refusal::forked;
      World world;
      return run(world, sequence, depth) == depth;
    });
    ASSERT_EQ(code, 0) << text_of(sequence, depth);
  });
}

TEST(Sequences, AnyOrderOfSteps) {
  SUMAC_NEED_PROMOTION();
  const int depth = depth_of_sequences();
  for_sequences(depth, [&](long sequence) {
    {
      World world;
      ASSERT_EQ(run(world, sequence, depth), depth) << text_of(sequence, depth);
    }
    sweep(kAllSteps);
    ASSERT_EQ(counts().used_bytes, 0u) << text_of(sequence, depth);
  });
}

}  // namespace
}  // namespace sumac::promotion
