// SPDX-License-Identifier: BSD-3-Clause
// Operations on types for which the standard does not allow them. Where the MPI supports the pair,
// Sumac serves it with the MPI's own result. Where it does not, the MPI's error is raised through
// the communicator's own handler, and no handler of another communicator is called or changed.
#include <algorithm>
#include <vector>

#include "check.h"
#include "data.h"
#include "mpi_faults.h"
#include "predefined.h"

namespace {

using namespace test;

constexpr std::size_t kMostBytes = 1 << 20;
using Bytes = std::vector<unsigned char>;
Bytes input(kMostBytes), ours(kMostBytes), theirs(kMostBytes);
long pairs_taken = 0, pairs_refused = 0, handlers_called = 0;
MPI_Comm group = MPI_COMM_NULL;  // all ranks; returns errors
MPI_Comm alone = MPI_COMM_NULL;  // this rank only; returns errors

void note_handler(MPI_Comm*, int*, ...) { ++handlers_called; }

int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

// Values so small that sums and products of small integers do not overflow: Open MPI saturates some
// of them.
void fill(Bytes& bytes, std::size_t count, std::size_t size, const PredefinedOp& op, int r) {
  const bool limited = op.needs == kArithmetic && op.op <= Op::prod && size < 4;
  std::memset(bytes.data(), 0, count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits[2] = {mix(i * 64 + static_cast<unsigned>(r)), mix(i + 977u)};
    if (limited) bits[0] = bits[0] % 2 + 1;
    if (op.needs == kLogical && bits[1] % 2) bits[0] = bits[1] = 0;
    std::memcpy(&bytes[i * size], bits, size);
  }
}

struct Trial {
  const Predefined& p;
  const PredefinedOp& op;
  std::size_t size;
  int count;

  void prepare() const {
    fill(input, static_cast<std::size_t>(count), size, op, rank);
    fill(ours, static_cast<std::size_t>(count), size, op, rank + 1);
    theirs = ours;
  }
  void check(const char* call) const {
    const bool by_rules = was_handed_down("the rules prefer the MPI here");
    CHECK(was_taken() || by_rules, "%s, %d of %s, %s: '%s'", call, count, p.name, op.name, path());
    CHECK(ours == theirs, "%s, %d of %s, %s: not the MPI's result", call, count, p.name, op.name);
  }
  void run() const;
};

void Trial::run() const {
  const Native& mpi = native();
  const int root = count % ranks;
  prepare();
  mpi.Reduce_local(input.data(), theirs.data(), count, p.type, op.handle);
  MPI_Reduce_local(input.data(), ours.data(), count, p.type, op.handle);
  check("reduce_local");
  prepare();
  mpi.Allreduce(input.data(), theirs.data(), count, p.type, op.handle, group);
  MPI_Allreduce(input.data(), ours.data(), count, p.type, op.handle, group);
  check("allreduce");
  prepare();
  mpi.Reduce(input.data(), theirs.data(), count, p.type, op.handle, root, group);
  MPI_Reduce(input.data(), ours.data(), count, p.type, op.handle, root, group);
  check("reduce");
  MPI_Request request;
  prepare();
  mpi.Allreduce(input.data(), theirs.data(), count, p.type, op.handle, group);
  forget_path();
  MPI_Iallreduce(input.data(), ours.data(), count, p.type, op.handle, group, &request);
  expect_taken_nonblocking("iallreduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(ours == theirs, "iallreduce, %d of %s, %s", count, p.name, op.name);
  prepare();
  mpi.Reduce(input.data(), theirs.data(), count, p.type, op.handle, root, group);
  forget_path();
  MPI_Ireduce(input.data(), ours.data(), count, p.type, op.handle, root, group, &request);
  expect_taken_nonblocking("ireduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(ours == theirs, "ireduce, %d of %s, %s", count, p.name, op.name);
}

void test_refused(const Predefined& p, const PredefinedOp& op, int expected) {
  ++pairs_refused;
  const long before = handlers_called;
  const int all = class_of(MPI_Allreduce(input.data(), ours.data(), 3, p.type, op.handle, group));
  CHECK(all == expected, "%s of %s: class %d, the MPI's %d", op.name, p.name, all, expected);
  CHECK_HANDED_DOWN("no kernel for the operation on this type");
  CHECK(handlers_called == before, "%s of %s", op.name, p.name);
}

// Debian's MPICH claims to support logical operations on floating-point numbers, but aborts the job
// in some of them. So these are left to the MPI.
bool is_floating(const Predefined& p) {
  return p.allowed == kArithmetic && p.dtype >= DType::f16 && p.dtype <= DType::f128;
}

void test_pair(const Predefined& p, const PredefinedOp& op) {
  if ((p.allowed & op.needs) || (op.needs == kLogical && is_floating(p))) return;
  step("%s of %s", op.name, p.name);
  int size = 0;
  MPI_Type_size(p.type, &size);
  const int error =
      class_of(native().Allreduce(input.data(), ours.data(), 1, p.type, op.handle, alone));
  if (error != MPI_SUCCESS) return test_refused(p, op, error);
  ++pairs_taken;
  const auto bytes = static_cast<std::size_t>(size);
  for (const std::size_t count : {std::size_t{1}, std::size_t{37}, 5000 / bytes}) {
    Trial{p, op, bytes, static_cast<int>(count)}.run();
  }
  if (op.op == Op::sum) Trial{p, op, bytes, static_cast<int>(300000 / bytes)}.run();
}

// Only the program sets error handlers. In MPICH, MPI_COMM_SELF and copies of MPI_COMM_WORLD made
// before that have no handler of their own and use that of MPI_COMM_WORLD. In Open MPI an error on
// them would abort the job.
void test_handlers_unset([[maybe_unused]] MPI_Comm copy) {
#if defined(MPICH_NAME) || defined(MPICH_VERSION)
  int in = 0, out = 0;
  for (MPI_Comm comm : {MPI_COMM_SELF, copy}) {
    const long before = handlers_called;
    native().Allreduce(&in, &out, 1, MPI_INT, MPI_MINLOC, comm);
    CHECK(handlers_called == before + 1, "handler not MPI_COMM_WORLD's");
  }
#endif
}

MPI_Comm returning(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, errors_return());
  return copy;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  group = returning(MPI_COMM_WORLD);
  alone = returning(MPI_COMM_SELF);
  CHECK(warm_up(copy), "path '%s'", path());
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(note_handler, &noting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, noting);
  CHECK(warm_up(group), "path '%s'", path());
  for (const Predefined& p : predefined_types()) {
    for (const PredefinedOp& op : operations()) test_pair(p, op);
  }
  CHECK(pairs_taken >= 10 && pairs_refused > 100, "%ld taken, %ld refused", pairs_taken,
        pairs_refused);
  test_handlers_unset(copy);
  if (rank == 0) std::printf("%ld pairs taken, %ld refused\n", pairs_taken, pairs_refused);
  MPI_Errhandler_free(&noting);
  for (MPI_Comm* comm : {&copy, &group, &alone}) MPI_Comm_free(comm);
  return finish();
}
