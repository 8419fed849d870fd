// SPDX-License-Identifier: BSD-3-Clause
// Reductions by user-defined operations, commutative or not, associative or not, on types with gaps
// and without, against a serial fold in rank order and the MPI's own results. Gaps, the bytes
// around the buffers and the send buffer must not change. The functions must be called in the
// calling thread, with the handles that the program passed.
#include <algorithm>

#include "cases.h"
#include "mpi_faults.h"
#include "user_functions.h"

namespace {

using namespace test;

// Set by --levels: the ranks have a hierarchy, so Sumac hands these calls down.
bool over_levels = false;

void check_path(const Case& c, const Shape& shape) {
  const bool local = ranks == 1 || c.counts[0] == 0;
  if (over_levels && !local) {
    CHECK_HANDED_DOWN("user-defined operation over a hierarchy");
  } else if (shape.bytes() > 32 << 10 && !local) {
    CHECK_HANDED_DOWN("user-defined operation on what is larger than a slot");
  } else {
    CHECK_TAKEN();
  }
  if (!was_taken() || local || rooted(c.what)) return;
  // Each element must be folded ranks - 1 times, either once over all ranks or once on every rank.
  const long own = seen.elements, folds = static_cast<long>(c.counts[0]) * (ranks - 1);
  long all = 0;
  native().Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == folds || own == folds, "%s: %ld, %ld of %ld", step_text, own, all, folds);
}

void make(const Case& c, const Operation& o, const Shape& shape) {
  Call call(c);
  step("%s", call.text().c_str());
  seen.expect(shape, c.counts[0]);
  CHECK(call.begin() == MPI_SUCCESS, "%s", step_text);
  if (c.native) return void(call.check_received());
  CHECK(seen.wrong == 0, "%s: %ld calls with other handles, counts or threads", step_text,
        seen.wrong.load());
  // An MPI may pass the send buffer itself to the function, so only Sumac's calls are checked.
  if (was_taken()) call.check_sent();
  if (o.associates || was_taken()) call.check_received();
  check_path(c, shape);
}

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
  const Numbers n = numbers_of(o, shape);
  std::vector<int> roots(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) roots[static_cast<std::size_t>(r)] = r;
  const Sweep all{.whats = {What::allreduce, What::reduce},
                  .numbers = {&n},
                  .counts = counts_of(shape, most),
                  .in_place = {false, true},
                  .roots = roots};
  all.for_each([&](Case& c, std::uint64_t) {
    const std::size_t turn = c.counts[0] % 7;
    c.large = turn % 3 == 0;
    const bool few = c.counts[0] * shape.bytes() <= 4096;
    if (rooted(c.what) && !few && c.root != static_cast<int>(turn) % ranks) return;
    // Debian's MPICH crashes in its own MPI_Reduce in place.
    const bool by_mpi = over_levels || shape.bytes() >= 32 << 10;
    if (rooted(c.what) && c.in_place && by_mpi) return;
    make(c, o, shape);
  });
  // For associative operations the MPI's own result must equal the serial one.
  const bool in_order = std::is_sorted(shape.words.begin(), shape.words.end());
  if (o.associates && (in_order || !is_intel())) {
    make({.what = What::allreduce, .numbers = &n, .counts = {2}, .native = true}, o, shape);
  }
}

// Objects that travel as bytes: the function must never be given a part of one, so Sumac gives it
// the whole vector. What Sumac leaves to the MPI the MPI may cut.
struct Object {
  double sum;
  unsigned long count;  // wraps, since the MPI adds parts of objects to other parts
  int tag, largest;
};
constexpr int kSize = static_cast<int>(sizeof(Object));

int expected_bytes = 0, cut = 0;

void combine(void* in, void* inout, int* bytes, MPI_Datatype*) {
  if (*bytes != expected_bytes) ++cut;
  const auto* a = static_cast<const Object*>(in);
  auto* b = static_cast<Object*>(inout);
  for (int i = 0; i < *bytes / kSize; ++i) {
    b[i].sum += a[i].sum;
    b[i].count += a[i].count;
    b[i].largest = std::max(a[i].largest, b[i].largest);
  }
}

void check_result(const std::vector<Object>& result) {
  const double ranks_sum = ranks * (ranks - 1) / 2.0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<double>(i);
    CHECK(result[i].sum == ranks_sum + ranks * at, "object %zu: %g", i, result[i].sum);
    CHECK(result[i].count == static_cast<unsigned>(ranks) * (i + 1), "object %zu", i);
    CHECK(result[i].tag == 7 && result[i].largest == ranks - 1, "object %zu", i);
  }
}

void reduce_objects(MPI_Op op, MPI_Datatype type, int objects, int root) {
  step("%d objects, root %d", objects, root);
  const auto n = static_cast<std::size_t>(objects);
  std::vector<Object> own(n), result(n);
  for (std::size_t i = 0; i < n; ++i) {
    own[i] = {rank + static_cast<double>(i), i + 1, 7, rank};
  }
  expected_bytes = objects * kSize;
  cut = 0;
  if (root < 0) {
    MPI_Allreduce(own.data(), result.data(), objects * kSize, type, op, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(own.data(), result.data(), objects * kSize, type, op, root, MPI_COMM_WORLD);
  }
  if (!was_taken()) return;
  CHECK(cut == 0, "%d calls with a part of the vector", cut);
  if (root < 0 || root == rank) check_result(result);
}

void sweep_objects() {
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  for (MPI_Datatype type : {MPI_CHAR, MPI_BYTE}) {
    for (const int objects : {1, 3, 86, 87, 171, 342, 700, 1365, 1366, 5000}) {
      for (int root = -1; root < ranks; ++root) reduce_objects(op, type, objects, root);
    }
  }
  MPI_Op_free(&op);
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
    }
  }
  sweep_objects();
  for (Operation& o : operations) MPI_Op_free(&o.op);
  free_shapes(shapes);
  return finish();
}
