// SPDX-License-Identifier: BSD-3-Clause
// Every collective at sizes around every threshold, at every root, in place and not, aligned and
// not, against a serial result (bit for bit) and the MPI's own. If SUMAC_ALGO or SUMAC_CMA=off is
// set, the algorithms used must match it. Where results depend on a tree (levels, SUMAC_NODE_RADIX)
// all ranks must have the same.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "check.h"
#include "data.h"
#include "sizes.h"

namespace {

using namespace test;

std::set<std::string> paths;
std::uint64_t result_hash = 0;  // of all-reduced data: must be the same on all ranks

void note_path() {
  CHECK_TAKEN();
  paths.insert(path());
}

void note_result(const void* data, std::size_t bytes) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; i += 1 + bytes / 64) result_hash = mix(result_hash ^ byte[i]);
}

template <class T, class Operation>
struct Case {
  MPI_Datatype type;
  MPI_Op op;
  std::size_t most_bytes;
  std::vector<T> input, expected;  // one element more than the longest message has

  Case(MPI_Datatype t, MPI_Op o, std::size_t most) : type(t), op(o), most_bytes(most) {
    input.resize(most / sizeof(T) + 1 + kShifts);
    expected.resize(input.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      T sum = value<T>(0, i);
      for (int r = 1; r < ranks; ++r) sum = Operation()(sum, value<T>(r, i));
      expected[i] = sum;
      input[i] = value<T>(rank, i);
    }
  }
  static constexpr std::size_t kShifts = 61;  // number of different first elements of messages
};

struct Variant {
  bool in_place;
  std::size_t send_misalignment, receive_misalignment;
};
constexpr Variant kVariants[] = {{false, 0, 0}, {true, 0, 0}, {false, 1, 33}, {true, 0, 7}};
constexpr int kNumVariants = 4;

// The message of one call: this rank's input, and the expected result.
template <class T, class Operation>
class Message {
 public:
  Message(const Case<T, Operation>& c, std::size_t count, const Variant& variant, bool gets_result)
      : bytes_(count * sizeof(T)),
        in_place_(variant.in_place && gets_result),
        send_(bytes_, variant.send_misalignment),
        receive_(gets_result ? bytes_ : 0, variant.receive_misalignment),
        gets_result_(gets_result) {
    const std::size_t shift = count % Case<T, Operation>::kShifts;
    input_ = c.input.data() + shift;
    expected_ = c.expected.data() + shift;
    if (gets_result_) receive_.fill(0x77);
    copy(in_place_ ? receive_.data() : send_.data(), input_);
  }
  const void* send() { return in_place_ ? MPI_IN_PLACE : send_.data(); }
  void* receive() { return gets_result_ ? receive_.data() : nullptr; }
  void verify(const char* what, std::size_t count) {
    if (gets_result_) {
      CHECK(same(receive_.data(), expected_), "%s of %zu bytes at %s", what, bytes_, path());
    }
    if (!in_place_) CHECK(same(send_.data(), input_), "%s of %zu: input changed", what, count);
    CHECK(send_.guards_hold() && receive_.guards_hold(), "%s of %zu bytes", what, bytes_);
  }

 private:
  bool same(const void* a, const void* b) const {
    return bytes_ == 0 || std::memcmp(a, b, bytes_) == 0;
  }
  void copy(void* to, const void* from) const {
    if (bytes_) std::memcpy(to, from, bytes_);
  }
  std::size_t bytes_;
  bool in_place_;
  Buffer send_, receive_;
  bool gets_result_;
  const T *input_, *expected_;
};

template <class T, class Operation>
void allreduce(const Case<T, Operation>& c, std::size_t count, const Variant& variant) {
  Message message(c, count, variant, true);
  MPI_Allreduce(message.send(), message.receive(), static_cast<int>(count), c.type, c.op,
                MPI_COMM_WORLD);
  note_path();
  message.verify("allreduce", count);
  note_result(message.receive(), count * sizeof(T));
}

template <class T, class Operation>
void reduce(const Case<T, Operation>& c, std::size_t count, const Variant& variant, int root) {
  Message message(c, count, variant, rank == root);
  MPI_Reduce(message.send(), message.receive(), static_cast<int>(count), c.type, c.op, root,
             MPI_COMM_WORLD);
  note_path();
  message.verify("reduce", count);
}

// True for every root at small sizes, and for the first, the last and one more at large sizes.
bool wants_root(int root, std::size_t bytes, std::size_t turn) {
  return bytes <= 40 << 10 || root == 0 || root == ranks - 1 ||
         root == static_cast<int>(turn % static_cast<std::size_t>(ranks));
}

template <class T, class Operation>
void sweep_reductions(const char* name, MPI_Datatype type, MPI_Op op, std::size_t most_bytes) {
  const Case<T, Operation> c(type, op, most_bytes);
  std::size_t turn = 0;
  for (std::size_t count : counts(sizeof(T), most_bytes)) {
    step("%s, %zu elements", name, count);
    for (const Variant& variant : kVariants) allreduce(c, count, variant);
    for (int root = 0; root < ranks; ++root) {
      if (!wants_root(root, count * sizeof(T), turn)) continue;
      reduce(c, count, kVariants[turn++ % kNumVariants], root);
    }
  }
}

void bcast(const std::vector<unsigned char>& data, std::size_t bytes, int root) {
  const std::size_t shift = static_cast<std::size_t>(root) * 3 + bytes % 64;
  Buffer buffer(bytes, bytes % 5 * static_cast<std::size_t>(rank + 1) % 64);
  buffer.fill(0x33);
  if (bytes && rank == root) std::memcpy(buffer.data(), data.data() + shift, bytes);
  MPI_Bcast(buffer.data(), static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
  note_path();
  CHECK(bytes == 0 || std::memcmp(buffer.data(), data.data() + shift, bytes) == 0,
        "%zu bytes from %d at %s", bytes, root, path());
  CHECK(buffer.guards_hold(), "%zu bytes from %d", bytes, root);
}

void sweep_bcast(std::size_t most_bytes) {
  std::vector<unsigned char> data(most_bytes + 64 + 3 * static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value<unsigned char>(0, i);
  std::size_t turn = 0;
  for (std::size_t bytes : counts(1, most_bytes)) {
    step("bcast, %zu bytes", bytes);
    for (int root = 0; root < ranks; ++root) {
      if (wants_root(root, bytes, turn++)) bcast(data, bytes, root);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_TAKEN();
  }
}

// Compares with the MPI's own result: integers must have the same bits, sums of floating-point
// numbers must be close.
template <class T>
void compare_with_native(MPI_Datatype type, MPI_Op op) {
  step("comparing with the MPI");
  for (std::size_t count : {1u, 1000u, 40000u}) {
    std::vector<T> input(count), ours(count), theirs(count);
    for (std::size_t i = 0; i < count; ++i) input[i] = value<T>(rank, i, count);
    const int n = static_cast<int>(count);
    MPI_Allreduce(input.data(), ours.data(), n, type, op, MPI_COMM_WORLD);
    native().Allreduce(input.data(), theirs.data(), n, type, op, MPI_COMM_WORLD);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        constexpr double kSlack = 1e6;  // magnitude of the largest terms, which may cancel
        wrong += !(std::abs(ours[i] - theirs[i]) <= kSlack * std::numeric_limits<T>::epsilon());
      } else {
        wrong += ours[i] != theirs[i];
      }
    }
    CHECK(wrong == 0, "%zu of %zu elements", wrong, count);
  }
}

// Sums whose value depends on the order of additions: there is no serial result to compare with,
// but all ranks must have the same bits.
void sweep_order(std::size_t most_bytes) {
  whole_numbers() = false;
  for (std::size_t count : counts(sizeof(float), most_bytes)) {
    std::vector<float> in(count), out(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = value<float>(rank, i);
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    note_path();
    note_result(out.data(), count * sizeof(float));
  }
}

// Checks that the algorithms named in SUMAC_ALGO ran, and no others. Not for a hierarchy, where
// path() does not show the algorithms of levels.
void expect_forced_algorithms() {
  const std::string forced = std::getenv("SUMAC_ALGO") ? std::getenv("SUMAC_ALGO") : "";
  std::set<std::string> names{"local"};
  for (std::size_t colon = 0; (colon = forced.find(':', colon)) != std::string::npos;) {
    ++colon;
    names.insert(forced.substr(colon, forced.find(';', colon) - colon));
  }
  if (names.size() == 1 || ranks == 1) return;
  names.insert("flat");  // used by the barrier
  for (const std::string& seen : paths) CHECK(names.count(seen), "%s ran", seen.c_str());
  for (const std::string& name : names) {
    CHECK(name == "flat" || paths.count(name), "%s never ran", name.c_str());
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
    skip("cross-memory attach is refused here");
    MPI_Finalize();
    return 0;
  }
  const bool over_levels = was_over_levels();
  whole_numbers() = over_levels || asks_for_trees();
  sweep_reductions<float, Sum>("float sum", MPI_FLOAT, MPI_SUM, most);
  sweep_reductions<double, Sum>("double sum", MPI_DOUBLE, MPI_SUM,
                                std::min<std::size_t>(most, 600 << 10));
  sweep_reductions<signed char, Sum>("int8 sum", MPI_SIGNED_CHAR, MPI_SUM, 70 << 10);
  sweep_reductions<short, Max>("int16 max", MPI_SHORT, MPI_MAX, 70 << 10);
  sweep_reductions<int, Min>("int32 min", MPI_INT, MPI_MIN, 70 << 10);
  sweep_reductions<unsigned long, Bxor>("uint64 bxor", MPI_UNSIGNED_LONG, MPI_BXOR, 70 << 10);
  sweep_bcast(most);
  compare_with_native<float>(MPI_FLOAT, MPI_SUM);
  compare_with_native<int>(MPI_INT, MPI_SUM);
  compare_with_native<double>(MPI_DOUBLE, MPI_MAX);
  if (whole_numbers()) sweep_order(most);
  if (!over_levels) expect_forced_algorithms();
  expect_agreement();
  return finish();
}
