// SPDX-License-Identifier: BSD-3-Clause
// Every collective at sizes around every threshold, at every root, in place and not, aligned and
// not, against a serial result (bit for bit) and the MPI's own. If SUMAC_ALGO or SUMAC_CMA=off is
// set, the algorithms used must match it. Where results depend on a tree (levels, SUMAC_NODE_RADIX)
// all ranks must have the same.
#include <sys/uio.h>

#include <cctype>
#include <set>
#include <sstream>
#include <string>

#include "cases.h"
#include "rules/rules.h"
#include "transport/shm/layout.h"

namespace {

using namespace test;

// Sizes in bytes at which the algorithm or the number of slots, lines or chunks changes.
std::set<std::size_t> thresholds() {
  const sumac::Layout layout;
  std::set<std::size_t> all{64, 1 << 10, 4 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20};
  // Multiples of a cache line, and of a cache line less its 8-byte flag.
  for (std::size_t lines = 1; lines <= 40; ++lines) all.insert({56 * lines, 64 * lines});
  for (const sumac::Rule& rule : sumac::shipped_rules().rules) {
    if (rule.bytes.low > 0) all.insert(rule.bytes.low - 1);
    if (rule.bytes.high != UINT64_MAX) all.insert(rule.bytes.high);
  }
  for (std::size_t slots : {1u, 2u, 3u}) all.insert(slots * layout.slot_bytes);
  all.insert(layout.ring * layout.slot_bytes);
  all.insert((2 * layout.ring + 1) * layout.slot_bytes);
  return all;
}

// Element counts of at most `most` bytes: 0, 1, 2, each threshold and one element to either side, a
// few odd counts, and the largest.
std::vector<std::size_t> counts(std::size_t element, std::size_t most) {
  std::set<std::size_t> all{most / element};
  for (std::size_t n : {0, 1, 2, 13, 1001}) {
    if (n * element <= most) all.insert(n);
  }
  for (std::size_t bytes : thresholds()) {
    for (std::size_t n : {bytes / element - 1, bytes / element, bytes / element + 1}) {
      if (n * element <= most) all.insert(n);
    }
  }
  return {all.begin(), all.end()};
}

// Whether this process may access another process's memory at all. A process may always access its
// own, unless the system call is refused altogether.
bool attach_is_allowed() {
  char from = 1, to = 0;
  const iovec here{&to, 1}, there{&from, 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

std::set<std::string> paths;    // that calls took: "allreduce:flat_lines"
std::uint64_t result_hash = 0;  // of all-reduced data: must be the same on all ranks

void note(Call& call) {
  CHECK_TAKEN();
  std::string taken = std::string(name_of(call.of().what)) + ":" + path();
  taken[0] = static_cast<char>(std::tolower(taken[0]));
  paths.insert(taken);
  const std::size_t bytes = call.receive_bytes();
  if (call.of().what != What::allreduce) return;
  for (std::size_t i = 0; i < bytes; i += 1 + bytes / 64) {
    result_hash = mix(result_hash ^ call.received()[i]);
  }
}

void run_noted(const Case& c) {
  Call call(c);
  call.run(Served::by_sumac);
  note(call);
}

constexpr struct {
  bool in_place;
  std::size_t misaligned[2];
} kVariants[] = {{false, {0, 0}}, {true, {0, 0}}, {false, {1, 33}}, {true, {0, 7}}};

// True for every root at small sizes, and for the first, the last and one more at large sizes.
bool wants_root(const Case& c, std::uint64_t turn) {
  return !rooted(c.what) || c.counts[0] * c.numbers->size <= 40 << 10 || c.root == 0 ||
         c.root == ranks - 1 || c.root == static_cast<int>(turn % static_cast<unsigned>(ranks));
}

std::vector<int> all_roots() {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) all.push_back(r);
  return all;
}

// All-reduces in every variant, others in one after the other.
void sweep(const std::vector<What>& whats, const Numbers& n, std::size_t most_bytes) {
  const Sweep all{
      .whats = whats, .numbers = {&n}, .counts = counts(n.size, most_bytes), .roots = all_roots()};
  all.for_each([](Case& c, std::uint64_t turn) {
    if (!wants_root(c, turn)) return;
    const bool one = c.what != What::allreduce;
    for (std::uint64_t v = one ? turn % 4 : 0; v < 4; v += one ? 4 : 1) {
      c.in_place = kVariants[v].in_place;
      for (int side : {0, 1}) c.misaligned[side] = kVariants[v].misaligned[side];
      run_noted(c);
    }
    if (c.what == What::bcast && turn % 2 == 0) run_noted({.what = What::barrier});
  });
}

// The MPI's own result is that of the oracle; its sums of floating-point numbers are close.
void compare_with_native() {
  const float slack = 1e6f * std::numeric_limits<float>::epsilon();
  const Numbers kinds[] = {
      roughly<float>(any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum()), slack),
      any_numbers<int>("int sum", MPI_INT, MPI_SUM, Sum()),
      any_numbers<double>("double max", MPI_DOUBLE, MPI_MAX, Max())};
  for (const Numbers& n : kinds) {
    Sweep{.whats = {What::allreduce}, .numbers = {&n}, .counts = {1, 1000, 40000}}.for_each(
        [](Case& c, std::uint64_t) {
          c.native = true;
          run(c);
        });
  }
}

// Sums whose value depends on the order of additions: there is no serial result to compare with,
// but all ranks must have the same bits.
void sweep_order(const Numbers& n, std::size_t most_bytes) {
  whole_numbers() = false;
  for (const std::size_t count : counts(n.size, most_bytes)) {
    Call call({.what = What::allreduce, .numbers = &n, .counts = {count}});
    call.begin();
    note(call);
  }
}

// Checks that a collective of which SUMAC_ALGO names an algorithm ran it, and no other. Not for a
// hierarchy, where path() does not show the algorithms of levels.
void expect_forced_algorithms() {
  std::istringstream forced(std::getenv("SUMAC_ALGO") ? std::getenv("SUMAC_ALGO") : "");
  for (std::string wanted; std::getline(forced, wanted, ';');) {
    CHECK(paths.count(wanted), "%s never ran", wanted.c_str());
    const std::string collective = wanted.substr(0, wanted.find(':') + 1);
    for (const std::string& seen : paths) {
      const bool may_run =
          !seen.starts_with(collective) || seen == wanted || seen == collective + "local";
      CHECK(may_run, "%s ran", seen.c_str());
    }
  }
}

void expect_agreement() {
  step("comparing results between ranks");
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&result_hash, 1, MPI_UINT64_T, hashes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (std::uint64_t hash : hashes) CHECK(hash == hashes[0], "ranks have different results");
}

// True where shared memory reduces in trees: sums of rounded numbers then depend on the tree.
bool asks_for_trees() { return std::getenv("SUMAC_NODE_RADIX"); }

bool forces_single_copy() {
  const char* forced = std::getenv("SUMAC_ALGO");
  return forced && std::strstr(forced, "single_copy");
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  const std::size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 3 << 20;
  if (forces_single_copy() && !attach_is_allowed()) {
    return end_skipped("cross-memory attach is refused here");
  }
  const bool over_levels = goes_over_levels(MPI_COMM_WORLD);
  whole_numbers() = over_levels || asks_for_trees();
  const Numbers floats = any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum());
  const std::pair<Numbers, std::size_t> rows[] = {
      {floats, most},
      {any_numbers<double>("double sum", MPI_DOUBLE, MPI_SUM, Sum()), 600 << 10},
      {any_numbers<signed char>("int8 sum", MPI_SIGNED_CHAR, MPI_SUM, Sum()), 70 << 10},
      {any_numbers<short>("int16 max", MPI_SHORT, MPI_MAX, Max()), 70 << 10},
      {any_numbers<int>("int32 min", MPI_INT, MPI_MIN, Min()), 70 << 10},
      {any_numbers<unsigned long>("uint64 bxor", MPI_UNSIGNED_LONG, MPI_BXOR, Bxor()), 70 << 10}};
  for (const auto& [n, bytes] : rows) {
    sweep({What::allreduce, What::reduce}, n, std::min(most, bytes));
  }
  sweep({What::bcast}, bytes(), most);
  compare_with_native();
  if (whole_numbers()) sweep_order(floats, most);
  if (!over_levels) expect_forced_algorithms();
  expect_agreement();
  return finish();
}
