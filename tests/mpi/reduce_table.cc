// SPDX-License-Identifier: BSD-3-Clause
// Every operation on every predefined type, in every call that reduces, at sizes of every kind.
// Where the standard allows the pair and there is a kernel, Sumac must serve the call, with the
// right result and without writing into the gaps of the receive buffer. Elsewhere the MPI must
// raise its own error. What an MPI supports beyond the standard is tested by extensions.cc.
#include <vector>

#include "check.h"
#include "element_oracle.h"
#include "kernels/reduce.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

constexpr std::size_t kMostBytes = 3 << 20;
using Bytes = std::vector<unsigned char>;
Bytes input(kMostBytes), ours(kMostBytes), expected(kMostBytes);
long pairs_taken = 0;
bool with_persistent = false;

int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

// One type and operation, and the number of elements.
struct Trial {
  const Predefined& p;
  const PredefinedOp& op;
  Elements elements;
  std::size_t count = 0;
  std::uint64_t seed = 0;

  int n() const { return static_cast<int>(count); }
  // The byte that fills the gaps and the space after the data: a different one on each rank and in
  // each buffer.
  static unsigned char gap(bool of_result) {
    return static_cast<unsigned char>((of_result ? 0xa5 : 0x3c) ^ rank);
  }
  void clear() const {
    const std::size_t bytes = elements.extent() * (count + 1);
    std::memset(input.data(), gap(false), bytes);
    std::memset(ours.data(), gap(true), bytes);
    std::memset(expected.data(), gap(true), bytes);
  }
  void check_result(const char* call, bool has_result = true) const {
    if (!has_result) std::memset(expected.data(), gap(true), elements.extent() * count);
    CHECK(elements.equal(ours.data(), expected.data(), count), "%s, %zu of %s, %s '%s'", call,
          count, p.name, op.name, path());
    CHECK(ours[elements.extent() * count] == gap(true), "%s, %zu of %s", call, count, p.name);
  }
  void check_taken(const char* call) const {
    const bool by_rules = was_handed_down("the rules prefer the MPI here");
    CHECK(was_taken() || by_rules, "%s, %zu of %s, %s: '%s'", call, count, p.name, op.name, path());
  }
  // Fills the input, and computes the expected result.
  void prepare(bool in_place) const {
    clear();
    elements.fill(in_place ? ours.data() : input.data(), count, rank, seed);
    elements.fold(expected.data(), count, 0, ranks - 1, seed, op);
  }
};

void test_local(const Trial& t) {
  t.clear();
  t.elements.fill(input.data(), t.count, 5, t.seed);
  t.elements.fill(ours.data(), t.count, 6, t.seed);
  t.elements.fold(expected.data(), t.count, 5, 6, t.seed, t.op);
  MPI_Reduce_local(input.data(), ours.data(), t.n(), t.p.type, t.op.handle);
  t.check_taken("reduce_local");
  t.check_result("reduce_local");
}

void test_blocking(const Trial& t, bool in_place, int root) {
  const auto own = [&](bool now) -> const void* { return now ? MPI_IN_PLACE : input.data(); };
  t.prepare(in_place);
  MPI_Allreduce(own(in_place), ours.data(), t.n(), t.p.type, t.op.handle, MPI_COMM_WORLD);
  t.check_taken("allreduce");
  t.check_result("allreduce");
  const bool here = in_place && rank == root;
  t.prepare(here);
  MPI_Reduce(own(here), rank == root ? ours.data() : nullptr, t.n(), t.p.type, t.op.handle, root,
             MPI_COMM_WORLD);
  t.check_taken("reduce");
  t.check_result("reduce", rank == root);
}

void test_nonblocking(const Trial& t, int root) {
  MPI_Request request;
  t.prepare(false);
  forget_path();
  MPI_Iallreduce(input.data(), ours.data(), t.n(), t.p.type, t.op.handle, MPI_COMM_WORLD, &request);
  expect_taken_nonblocking("iallreduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  t.check_result("iallreduce");
  t.prepare(false);
  forget_path();
  MPI_Ireduce(input.data(), rank == root ? ours.data() : nullptr, t.n(), t.p.type, t.op.handle,
              root, MPI_COMM_WORLD, &request);
  expect_taken_nonblocking("ireduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  t.check_result("ireduce", rank == root);
}

// Starts the request twice: the second result must replace the first.
void test_persistent(const Trial& t) {
  MPI_Request request;
  inits().Allreduce(input.data(), ours.data(), t.n(), t.p.type, t.op.handle, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &request);
  for (int turn = 0; turn < 2; ++turn) {
    Trial now = t;
    now.seed += static_cast<std::uint64_t>(turn);
    now.prepare(false);
    forget_path();
    MPI_Start(&request);
    expect_taken_nonblocking("allreduce_init");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    now.check_result("allreduce_init");
  }
  MPI_Request_free(&request);
}

// Checks the oracle against the MPI's own MPI_Reduce_local, for other numbers than integers.
void test_oracle(const Trial& t) {
  if (is_intel() && t.op.handle == MPI_MIN) return;
  t.clear();
  t.elements.fill(input.data(), t.count, 5, t.seed);
  t.elements.fill(ours.data(), t.count, 6, t.seed);
  t.elements.fold(expected.data(), t.count, 5, 6, t.seed, t.op);
  native().Reduce_local(input.data(), ours.data(), t.n(), t.p.type, t.op.handle);
  CHECK(t.elements.equal(ours.data(), expected.data(), t.count), "%s of %s: not the MPI's",
        t.op.name, t.p.name);
}

// Only the first operation on a type is tested on large messages: the others would take the same
// path.
void test_kernel(const Predefined& p, DType dtype, const PredefinedOp& op, bool is_first) {
  Trial t{p, op, Elements(p, dtype)};
  const std::size_t extent = t.elements.extent();
  t.seed = mix(static_cast<std::uint64_t>(pairs_taken++));
  std::vector<std::size_t> counts{1, 37, 4096 / extent + 1};
  if (is_first) counts.push_back(160000 / extent + 1);
  const bool is_pair = sumac::info_of(dtype).kind == sumac::ElementKind::pair;
  if (is_first && is_pair) counts.push_back(kMostBytes / extent - 1);
  int root = 0;
  for (std::size_t count : counts) {
    step("%s of %zu %s", op.name, count, p.name);
    t.count = count;
    ++t.seed;
    root = (root + 1) % ranks;
    test_local(t);
    test_blocking(t, false, root);
    test_blocking(t, true, root);
    test_nonblocking(t, root);
    if (count == 37 && with_persistent) test_persistent(t);
    if (count == 37 && sumac::info_of(dtype).kind != sumac::ElementKind::integer) test_oracle(t);
  }
}

bool mpi_accepts(const Predefined& p, const PredefinedOp& op) {
  unsigned char in[64] = {}, out[64] = {};
  return native().Allreduce(in, out, 1, p.type, op.handle, MPI_COMM_SELF) == MPI_SUCCESS;
}

// Pairs that the standard does not allow go to the MPI, which must raise its error.
void test_refused(const Predefined& p, const PredefinedOp& op) {
  if (mpi_accepts(p, op)) return;
  step("%s of %s, not defined", op.name, p.name);
  constexpr int kCount = 3, kCalls = 3;
  constexpr std::size_t kBytes = 256;
  const Native program{MPI_Allreduce, MPI_Reduce, MPI_Bcast, MPI_Barrier, MPI_Reduce_local};
  for (int call = 0; call < kCalls; ++call) {
    int classes[2];
    unsigned char in[kBytes], out[2][kBytes];
    std::memset(in, rank == 0 ? 1 : 0, sizeof in);
    for (int which = 0; which < 2; ++which) {
      const Native& f = which == 0 ? native() : program;
      std::memset(out[which], 1, kBytes);
      const auto make = [&] {
        if (call == 0) return f.Reduce_local(in, out[which], kCount, p.type, op.handle);
        if (call == 1) {
          return f.Allreduce(in, out[which], kCount, p.type, op.handle, MPI_COMM_WORLD);
        }
        return f.Reduce(in, out[which], kCount, p.type, op.handle, 0, MPI_COMM_WORLD);
      };
      classes[which] = class_of(make());
    }
    CHECK(classes[0] == classes[1], "%s of %s: class %d, the MPI's %d", op.name, p.name, classes[1],
          classes[0]);
    CHECK_HANDED_DOWN("no kernel for the operation on this type");
    CHECK(std::memcmp(out[0], out[1], kBytes) == 0, "%s of %s", op.name, p.name);
    if (op.op == Op::none) CHECK(classes[0] == MPI_ERR_OP, "%s of %s", op.name, p.name);
  }
}

// True if the MPI adds elements of the type as if they were of `dtype`.
bool adds_as(const Predefined& p, DType dtype) {
  const Elements elements(p, dtype);
  if (elements.extent() > 32) return false;
  unsigned char a[64] = {}, b[64] = {}, sum[64] = {};
  elements.fill(a, 2, 5, 1);
  elements.fill(b, 2, 6, 1);
  elements.fold(sum, 2, 5, 6, 1, operations()[0]);
  if (native().Reduce_local(a, b, 2, p.type, MPI_SUM) != MPI_SUCCESS) return false;
  return elements.equal(b, sum, 2);
}

// The element format of the type in this MPI: some MPIs lack the types of 2, 16 and 32 bytes, or
// use another format.
DType dtype_in_mpi(const Predefined& p) {
  int size = 0;
  MPI_Type_size(p.type, &size);
  switch (p.dtype) {
    case DType::f16:
    case DType::i128:
      return p.allowed == kLogical || adds_as(p, p.dtype) ? p.dtype : DType::none;
    case DType::f128:
    case DType::c128: {
      const DType other = p.dtype == DType::f128 ? DType::long_double : DType::c_long_double;
      return adds_as(p, p.dtype) ? p.dtype : adds_as(p, other) ? other : DType::none;
    }
    default:
      return p.dtype;
  }
}

void test_type(const Predefined& p) {
  const DType dtype = dtype_in_mpi(p);
  bool is_first = true;
  for (const PredefinedOp& op : operations()) {
    const bool has_kernel = (p.allowed & op.needs) && sumac::is_defined(op.op, dtype) &&
                            sumac::find_reduce(op.op, dtype);
    if (has_kernel) {
      test_kernel(p, dtype, op, is_first);
      is_first = false;
    } else {
      test_refused(p, op);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errors_return());
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  MPI_Request request = MPI_REQUEST_NULL;
  with_persistent =
      inits().Barrier && inits().Barrier(MPI_COMM_WORLD, MPI_INFO_NULL, &request) == MPI_SUCCESS;
  if (with_persistent) MPI_Request_free(&request);
  const auto types = predefined_types();
  CHECK(types.size() > 60, "%zu types", types.size());
  for (const Predefined& p : types) {
    if (!is_misnamed(p.type, p.name)) test_type(p);
  }
  CHECK(pairs_taken > 200, "%ld pairs", pairs_taken);
  return finish();
}
