// SPDX-License-Identifier: BSD-3-Clause
// A program does a few things to its memory in every order, on a simulated kernel: it promotes,
// writes, gives back, unmaps, maps again, moves, grows, protects and forks. After each step its
// memory must hold what private memory would hold, and peers must see what it holds wherever they
// may look. In the last step another thread does one more thing, before each call of the kernel in
// turn. SUMAC_TEST_DEPTH steps (3 without).

#include <array>
#include <string>
#include <utility>

#include "promotion/simulated_kernel.h"

namespace sumac::promotion {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

struct Process {
  SimulatedKernel kernel;
  Born born;
  Forking forking;
  Service service{kernel, born, forking};

  // Returns the child's memory.
  std::unique_ptr<Process> fork() const {
    auto child = std::make_unique<Process>();
    child->kernel = kernel;
    child->kernel.act_at = -1;
    const auto copy = [](void* to, const void* from, std::size_t bytes) {
      std::memcpy(to, from, bytes);
    };
    copy(&child->born, &born, sizeof born);
    copy(&child->forking, &forking, sizeof forking);
    copy(&child->service, &service, sizeof service);
    child->service.kernel = &child->kernel;
    child->service.born = &child->born;
    child->service.forking = &child->forking;
    return child;
  }
};

Process* running = nullptr;

SimulatedKernel& kernel() { return static_cast<SimulatedKernel&>(*service().kernel); }

int next_madvise(void* address, std::size_t bytes, int advice) {
  return kernel().advise(range_of(address, bytes), advice) ? 0 : -1;
}

void* next_mremap(void* address, std::size_t old_bytes, std::size_t bytes, int flags, ...) {
  if (!(flags & MREMAP_FIXED) || bytes != old_bytes) return MAP_FAILED;
  va_list arguments;
  va_start(arguments, flags);
  void* const to = va_arg(arguments, void*);
  va_end(arguments);
  return kernel().move(range_of(address, bytes), range_of(to, 0).begin) ? to : MAP_FAILED;
}

// This is what private memory would hold at some pages: a number in each one that is mapped.
struct Place {
  static constexpr std::size_t kPages = 4;
  struct Page {
    std::optional<int> holds;
    bool read_only = false;
  };
  std::uintptr_t at = 0;
  std::array<Page, kPages> pages = {};

  Range range(std::size_t first, std::size_t end) const {
    return {at + first * kPage, at + end * kPage};
  }
  bool has(std::size_t first, std::size_t end) const {
    bool all = true;
    for (std::size_t i = first; i < end; ++i) all = all && pages[i].holds;
    return all;
  }
  void put(std::size_t first, std::size_t end, const Page& page) {
    for (std::size_t i = first; i < end; ++i) pages[i] = page;
  }
  void map(std::size_t first, std::size_t end) {
    kernel().map(range(first, end), {kReadWrite});
    put(first, end, {0});
    write_page(first, 7);
  }
  void unmap(std::size_t first, std::size_t end) {
    kernel().unmap(range(first, end));
    put(first, end, {});
  }
  void write_page(std::size_t i, int number) {
    if (!pages[i].holds || pages[i].read_only) return;
    pages[i].holds = number;
    EXPECT_TRUE(kernel().write(range(i, i).begin, number));
  }
  void write(int number) {
    for (std::size_t i = 0; i < kPages; ++i) write_page(i, number + static_cast<int>(i));
  }
  void protect(std::size_t i) {
    if (!pages[i].holds) return;
    pages[i].read_only = !pages[i].read_only;
    kernel().protect(range(i, i + 1), pages[i].read_only ? PROT_READ : kReadWrite);
  }
  void give_back(std::size_t first, std::size_t end, int advice) {
    if (!has(first, end)) return;
    advise(pointer(range(first, end).begin), (end - first) * kPage, advice, next_madvise);
    for (std::size_t i = first; i < end; ++i) pages[i].holds = 0;
  }
  void grow(std::size_t first, std::size_t old_end) {
    if (!has(first, old_end) || pages[old_end].holds || pages[old_end - 1].read_only) return;
    const Range old = range(first, old_end);
    void* const there = pointer(old.begin);
    if (remap(there, old.bytes(), old.bytes() + kPage, 0, nullptr, next_mremap) == there) {
      pages[old_end] = {0};
    }
  }
  void move(std::size_t first, std::size_t end, Place& other) {
    if (!has(first, end)) return;
    void* const to = pointer(other.range(first, end).begin);
    if (remap(pointer(range(first, end).begin), (end - first) * kPage, (end - first) * kPage,
              MREMAP_MAYMOVE | MREMAP_FIXED, to, next_mremap) != to) {
      return;
    }
    for (std::size_t i = first; i < end; ++i) other.pages[i] = std::exchange(pages[i], {});
  }
  void promote(std::size_t first, std::size_t end) const {
    promotion::promote(pointer(range(first, end).begin), (end - first) * kPage);
  }
  bool is_right() const {
    for (std::size_t i = 0; i < kPages; ++i) {
      const std::uintptr_t page = range(i, i).begin;
      const bool peers_look = at != 0 && mapped(pointer(page), kPage);
      if (!pages[i].holds ? peers_look : kernel().look(page) != pages[i].holds) return false;
      if (peers_look && kernel().in_file(page) != *pages[i].holds) return false;
    }
    return true;
  }
};

// The memory of a program. That which is born shared is moved to `moved`, and the program maps
// `after` where its second half was. Every second piece is as large as that half.
struct World {
  static constexpr std::size_t kLarge = 2 * kLeastBorn;
  Place a{kApart}, b{kApart + kMega}, born, moved, after;
  Range of_born, of_last{};
  int number = 100;

  void write() {
    number += 100;
    int offset = 0;
    for (Place* place : {&a, &b, &born, &moved, &after}) place->write(number + (offset += 10));
  }
  bool is_right() const {
    return a.is_right() && b.is_right() && born.is_right() && moved.is_right() && after.is_right();
  }
  void allocate() {
    if (!of_born.empty()) return;
    const std::size_t bytes = of_last.bytes() == kLarge ? kLeastBorn : kLarge;
    void* const got = allocate_shared(bytes, 1);
    if (!got) return;
    of_born = range_of(got, bytes);
    // These are pages that a large and a small piece at one address have in common with `after`.
    born = {of_born.begin + kLeastBorn - (bytes == kLarge ? 2 : Place::kPages) * kPage};
    born.put(0, Place::kPages, {0});
    EXPECT_TRUE(born.is_right());
    if (!of_last.empty()) born.write(number);
  }
  void free() {
    if (of_born.empty()) return;
    EXPECT_TRUE(free_shared(pointer(of_born.begin)));
    forget_born();
  }
  void unmap_born() {
    if (of_born.empty()) return;
    kernel().unmap(of_born);
    forget_born();
  }
  void move_born() {
    if (of_born.empty() || moved.at != 0) return;
    void* const from = pointer(of_born.begin);
    void* const to = pointer(kApart + 2 * kMega);
    if (remap(from, of_born.bytes(), of_born.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, to,
              next_mremap) != to) {
      return;
    }
    moved = born;
    moved.at = range_of(to, 0).begin + (born.at - of_born.begin);
    forget_born();
  }
  void forget_born() {
    of_last = std::exchange(of_born, {});
    born = {};
  }
  void map_after() {
    if (after.at != 0 || of_last.bytes() != kLarge) return;
    const Range pages = range_of(pointer(of_last.begin + kLeastBorn), Place::kPages * kPage);
    if (!kernel().map(pages, {kReadWrite}, false)) return;
    after = {pages.begin};
    after.put(0, Place::kPages, {0});
    after.write(number);
  }
};

// The parent writes before the child has begun. The child sees what the parent had, and neither
// sees what the other writes.
bool fork_and_write(World& world) {
  Service& parent = service();
  before_fork();
  World of_child = world;
  const std::unique_ptr<Process> child = running->fork();
  after_fork_in_parent();
  world.write();
  set_service(child->service);
  after_fork_in_child();
  bool right = of_child.is_right();
  of_child.a.give_back(0, 2, MADV_DONTNEED);
  of_child.a.grow(1, 3);
  of_child.number += 1;
  of_child.write();
  right = right && of_child.is_right();
  set_service(parent);
  return right;
}

// A step touches places, of which another thread leaves its hands meanwhile. It may need the lock
// of the service, or not be what another thread may do while this one forks, or forks and leaves
// direct memory (docs/memory.md).
constexpr int kA = 1, kB = 2, kBorn = 4, kAll = kA | kB | kBorn;
constexpr int kLocks = 8, kNotBesideForks = 16, kNotBesideLeaving = 32;
struct Step {
  int what;
  bool (*run)(World&);
};
#define SUMAC_STEP(what, action)                                     \
  {                                                                  \
    what, []([[maybe_unused]] World& world) { return action, true; } \
  }
constexpr Step kSteps[] = {
    SUMAC_STEP(kA | kLocks, world.a.promote(0, 2)),
    SUMAC_STEP(kB | kLocks, world.b.promote(0, 4)),
    SUMAC_STEP(kA, world.a.give_back(1, 3, MADV_DONTNEED)),
    SUMAC_STEP(kB, world.b.give_back(0, 2, MADV_FREE)),
    SUMAC_STEP(kA, world.a.unmap(1, 2)),
    SUMAC_STEP(kA | kNotBesideLeaving, world.a.map(0, 2)),
    SUMAC_STEP(kB | kNotBesideLeaving, world.b.protect(1)),
    SUMAC_STEP(kA | kB, world.a.move(0, 3, world.b)),
    SUMAC_STEP(kA | kB, world.b.move(0, 2, world.a)),
    SUMAC_STEP(kA | kNotBesideLeaving, (world.a.unmap(3, 4), world.a.grow(1, 3))),
    SUMAC_STEP(kBorn | kLocks, world.allocate()),
    SUMAC_STEP(kBorn, world.move_born()),
    SUMAC_STEP(kBorn | kNotBesideLeaving, (world.move_born(), world.map_after())),
    SUMAC_STEP(kBorn | kNotBesideLeaving, (world.unmap_born(), world.map_after())),
    SUMAC_STEP(kBorn, world.unmap_born()),
    SUMAC_STEP(kBorn, world.moved.give_back(0, 4, MADV_DONTNEED)),
    SUMAC_STEP(kBorn | kLocks, world.after.promote(0, 4)),
    SUMAC_STEP(kBorn | kLocks, world.free()),
    SUMAC_STEP(kAll | kNotBesideForks, world.write()),
    SUMAC_STEP(kLocks, sweep(kAllSteps)),
    {kLocks | kNotBesideForks, fork_and_write},
};
#undef SUMAC_STEP
constexpr long kNumSteps = std::size(kSteps);

// The digits of `steps` are the steps, from the last to the first. Another thread does its step
// before a call of the last one.
struct Sequence {
  bool leaves, promoted, born;  // the beginning
  int depth;
  long steps;
  long other = -1;
  int call = -1;

  const Step& step(int i) const {
    long rest = steps;
    while (i-- > 0) rest /= kNumSteps;
    return kSteps[rest % kNumSteps];
  }
  bool is_possible() const {
    const int last = step(depth - 1).what, its = kSteps[other].what;
    if (its & kLocks || last & its & kAll) return false;
    const bool forks = step(depth - 1).run == fork_and_write;
    return !forks || !(its & (leaves ? kNotBesideForks | kNotBesideLeaving : kNotBesideForks));
  }
  std::string text() const {
    std::string text = leaves ? "leaves" : "copies";
    text += std::string(promoted ? ", promoted" : "") + (born ? ", born:" : ":");
    for (int i = 0; i < depth; ++i) text += " " + std::to_string(&step(i) - kSteps);
    if (other >= 0) text += " beside " + std::to_string(other) + " at " + std::to_string(call);
    return text;
  }
  // Returns the number of calls of
  // the last step.
  int run() const {
    Process process;
    running = &process;
    set_service(process.service);
    Settings settings = test_settings();
    if (leaves) settings.most_copied = 0;
    EXPECT_EQ(open(settings), Refusal::none);
    World world;
    world.a.map(0, Place::kPages);
    world.write();
    if (promoted) world.a.promote(1, Place::kPages);
    if (born) world.allocate();
    for (int i = 0; i < depth; ++i) {
      process.kernel.calls = 0;
      if (i == depth - 1) {
        process.kernel.act_at = call;
        process.kernel.act = [&] { kSteps[other].run(world); };
      }
      EXPECT_TRUE(step(i).run(world) && world.is_right()) << text() << ", step " << i;
    }
    const int calls = process.kernel.calls;
    process.kernel.act_at = -1;
    process.kernel.unmap({kApart, ~std::uintptr_t{0} - kPage + 1});
    if (!leaves) sweep(kAllSteps);
    EXPECT_TRUE(leaves || process.kernel.used() == 0) << text();
    return calls;
  }
};

int depth_of_sequences() {
  const char* const wanted = std::getenv("SUMAC_TEST_DEPTH");
  return wanted ? std::atoi(wanted) : kSanitized ? 2 : 3;
}

class Simulation : public testing::Test {
 protected:
  ~Simulation() override { set_service(first_); }

  // Calls act(sequence) for all sequences, until something is wrong.
  template <class Act>
  static void for_sequences(int depth, Act act) {
    long sequences = 1;
    for (int i = 0; i < depth; ++i) sequences *= kNumSteps;
    for (long i = 0; i < 8 * sequences && !HasFailure(); ++i) {
      act(Sequence{i % 2 == 0, i % 4 < 2, i % 8 < 4, depth, i / 8});
    }
  }

 private:
  Service& first_ = service();
};

TEST_F(Simulation, AnyOrderOfSteps) {
  for_sequences(depth_of_sequences(), [](const Sequence& sequence) { sequence.run(); });
}

TEST_F(Simulation, AnotherThreadBeforeAnyCall) {
  for_sequences(depth_of_sequences() - 1, [](Sequence sequence) {
    const int calls = sequence.run();
    for (sequence.other = 0; sequence.other < kNumSteps; ++sequence.other) {
      if (!sequence.is_possible()) continue;
      for (sequence.call = 0; sequence.call < calls && !HasFailure(); ++sequence.call) {
        sequence.run();
      }
    }
  });
}

}  // namespace
}  // namespace sumac::promotion
