// SPDX-License-Identifier: BSD-3-Clause
// Reductions by user-defined operations, commutative or not, associative or not, on types with gaps
// and without, against a serial fold in rank order and the MPI's own results. Gaps, the bytes
// around the buffers and the send buffer must not change. The functions must be called in the
// calling thread, with the handles that the program passed.
#include <algorithm>

#include "data.h"
#include "mpi_faults.h"
#include "user_functions.h"

namespace {

using namespace test;

// Set by --levels: the ranks have a hierarchy, so Sumac hands these calls down.
bool over_levels = false;

std::uint32_t value_of(int r, std::size_t word, std::uint32_t seed) {
  return static_cast<std::uint32_t>(mix(seed * 1000003ull + word * 64 + static_cast<unsigned>(r)));
}

Words input_of(int r, std::size_t words, std::uint32_t seed) {
  Words all(words);
  for (std::size_t i = 0; i < words; ++i) all[i] = value_of(r, i, seed);
  return all;
}

Words fold_serially(const Operation& o, const Shape& shape, std::size_t words, std::uint32_t seed) {
  Words left = input_of(0, words, seed);
  for (int r = 1; r < ranks; ++r) {
    Words right = input_of(r, words, seed);
    const std::size_t n = shape.words.size();
    for (std::size_t at = 0; at < words; at += n) o.function(&left[at], &right[at], n);
    left = right;
  }
  return left;
}

struct LargeCount {
  int (*Allreduce)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*Reduce)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
};
const LargeCount& large_count() {
  static const LargeCount functions{in_sumac<decltype(LargeCount::Allreduce)>("MPI_Allreduce_c"),
                                    in_sumac<decltype(LargeCount::Reduce)>("MPI_Reduce_c")};
  return functions;
}

// One call and its checks. A root of -1 means an all-reduce.
class Call {
 public:
  Call(const Operation& o, const Shape& shape, std::size_t count, int root, bool in_place)
      : o_(o),
        shape_(shape),
        count_(count),
        root_(root),
        gets_(root < 0 || rank == root),
        in_place_(in_place && gets_),
        send_(shape, in_place_ ? 0 : count, 0x5a),
        receive_(shape, count, 0xa5) {
    static std::uint32_t calls = 0;
    seed_ = ++calls;
    words_ = count * shape.words.size();
    own_ = input_of(rank, words_, seed_);
    for (std::size_t i = 0; i < words_; ++i) (in_place_ ? receive_ : send_).put(i, own_[i]);
    step("%s on %zu of %s, root %d%s", o.name, count, shape.name, root,
         in_place ? ", in place" : "");
  }

  void run(bool large) {
    seen.shape = &shape_;
    seen.caller = pthread_self();
    seen.count = count_;
    seen.elements = seen.wrong = 0;
    const void* from = in_place_ ? MPI_IN_PLACE : send_.data();
    void* to = gets_ ? receive_.data() : nullptr;
    const int n = static_cast<int>(count_);
    int error;
    if (root_ < 0) {
      error = large ? large_count().Allreduce(from, to, n, shape_.type, o_.op, MPI_COMM_WORLD)
                    : MPI_Allreduce(from, to, n, shape_.type, o_.op, MPI_COMM_WORLD);
    } else {
      error = large ? large_count().Reduce(from, to, n, shape_.type, o_.op, root_, MPI_COMM_WORLD)
                    : MPI_Reduce(from, to, n, shape_.type, o_.op, root_, MPI_COMM_WORLD);
    }
    CHECK(error == MPI_SUCCESS, "%s: %d", step_text, error);
    check();
  }

 private:
  void check() {
    CHECK(seen.wrong == 0, "%s: %ld calls with other handles, counts or threads", step_text,
          seen.wrong.load());
    // An MPI may pass the send buffer itself to the function, so only Sumac's calls are checked.
    if (!in_place_ && was_taken()) {
      CHECK(send_.is(own_), "%s: the send buffer was written", step_text);
    }
    const Words expected = fold_serially(o_, shape_, words_, seed_);
    if (gets_ && (o_.associates || was_taken())) {
      CHECK(receive_.is(expected), "%s, path %s", step_text, path());
    } else if (!gets_) {
      CHECK(receive_.is({}), "%s: a buffer that is not significant was written", step_text);
    }
    check_path();
  }
  void check_path() const {
    const bool local = ranks == 1 || count_ == 0;
    if (over_levels && !local) {
      CHECK_HANDED_DOWN("user-defined operation over a hierarchy");
    } else if (shape_.bytes() > 32 << 10 && !local) {
      CHECK_HANDED_DOWN("user-defined operation on what is larger than a slot");
    } else {
      CHECK_TAKEN();
    }
    if (was_taken() && !local && root_ < 0) check_all_folded();
  }
  // Each element must be folded ranks - 1 times, either once over all ranks or once on every rank.
  void check_all_folded() const {
    const long own = seen.elements;
    long all = 0;
    native().Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long folds = static_cast<long>(count_) * (ranks - 1);
    CHECK(all == folds || own == folds, "%s: %ld, %ld of %ld", step_text, own, all, folds);
  }

  const Operation& o_;
  const Shape& shape_;
  std::size_t count_, words_ = 0;
  int root_;
  bool gets_, in_place_;
  std::uint32_t seed_ = 0;
  Words own_;
  ShapedElements send_, receive_;
};

// Counts around the sizes of lines, slots and chunks.
std::vector<std::size_t> counts_of(const Shape& shape, std::size_t most) {
  std::vector<std::size_t> counts{0, 1, 2, 3};
  for (const std::size_t bytes : {56, 2072, 32 << 10, 64 << 10, 200000, 1 << 20}) {
    const std::size_t n = bytes / std::max(shape.bytes(), static_cast<std::size_t>(shape.extent));
    if (bytes > most || n < 3) continue;
    for (const std::size_t count : {n, n + 1}) {
      if (count > counts.back()) counts.push_back(count);
    }
  }
  return counts;
}

void sweep(const Operation& o, const Shape& shape, std::size_t most) {
  unsigned turn = 0;
  for (const std::size_t count : counts_of(shape, most)) {
    const bool large = ++turn % 3 == 0;
    Call(o, shape, count, -1, false).run(large);
    Call(o, shape, count, -1, true).run(large);
    const bool few = count * shape.bytes() <= 4096;
    for (int root = 0; root < ranks; ++root) {
      if (!few && root != static_cast<int>(turn) % ranks) continue;
      Call(o, shape, count, root, false).run(large);
      // Debian's MPICH crashes in its own MPI_Reduce in place.
      if (!over_levels && shape.bytes() < 32 << 10) Call(o, shape, count, root, true).run(large);
    }
  }
}

// For associative operations the MPI's own result must equal the serial one.
void compare_with_native(const Operation& o, const Shape& shape) {
  if (!o.associates) return;
  if (is_intel() && !std::is_sorted(shape.words.begin(), shape.words.end())) return;
  step("%s on %s by the MPI", o.name, shape.name);
  const Words own = input_of(rank, 2 * shape.words.size(), 77);
  ShapedElements from(shape, 2, 0x5a), to(shape, 2, 0xa5);
  for (std::size_t i = 0; i < own.size(); ++i) from.put(i, own[i]);
  seen.shape = &shape;
  seen.count = 2;
  native().Allreduce(from.data(), to.data(), 2, shape.type, o.op, MPI_COMM_WORLD);
  const Words expected = fold_serially(o, shape, own.size(), 77);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!CHECK(to.get(i) == expected[i], "%s, word %zu", step_text, i)) break;
  }
}

}  // namespace

// user_operations [--levels] [BYTES]: vectors of at most BYTES bytes.
int main(int argc, char** argv) {
  over_levels = take_flag(argc, argv, "--levels");
  start(argc, argv);
  const std::size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1 << 20;
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  std::vector<Operation> operations = all_operations();
  std::vector<Shape> shapes = all_shapes();
  for (const Shape& shape : shapes) {
    for (const Operation& o : operations) {
      // Large vectors only with operations that are not associative, which detect most errors.
      sweep(o, shape, o.associates ? std::min<std::size_t>(most, 70000) : most);
      compare_with_native(o, shape);
    }
  }
  for (Operation& o : operations) MPI_Op_free(&o.op);
  free_shapes(shapes);
  return finish();
}
