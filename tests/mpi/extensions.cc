// SPDX-License-Identifier: BSD-3-Clause
// Operations on types for which the standard does not allow them. Where the MPI supports the pair,
// Sumac serves it with the MPI's own result. Where it does not, the MPI's error is raised through
// the communicator's own handler, and no handler of another communicator is called or changed.
#include <algorithm>
#include <vector>

#include "cases.h"
#include "mpi_faults.h"
#include "predefined.h"

namespace {

using namespace test;

alignas(16) unsigned char in[256], out[256];
long pairs_taken = 0, pairs_refused = 0, handlers_called = 0;
MPI_Comm group = MPI_COMM_NULL;  // all ranks; returns errors
MPI_Comm alone = MPI_COMM_NULL;  // this rank only; returns errors

void note_handler(MPI_Comm*, int*, ...) { ++handlers_called; }

// The elements of a pair that the standard does not allow, folded by the MPI's own
// MPI_Reduce_local. Values are so small that sums and products of small integers do not overflow:
// Open MPI saturates some of them.
Numbers by_the_mpi(const Predefined& p, const PredefinedOp& op, std::size_t size) {
  const bool limited = op.needs == kArithmetic && op.op <= Op::prod && size < 4;
  const auto put = [=](unsigned char* at, std::size_t first, std::size_t n, int giver) {
    std::memset(at, 0, n * size);
    for (std::size_t i = first; i < first + n; ++i, at += size) {
      std::uint64_t bits[2] = {mix(i * 64 + static_cast<unsigned>(giver)), mix(i + 977u)};
      if (limited) bits[0] = bits[0] % 2 + 1;
      if (op.needs == kLogical && bits[1] % 2) bits[0] = bits[1] = 0;
      std::memcpy(at, bits, std::min(size, sizeof bits));
    }
  };
  Numbers n{std::string(p.name) + " " + op.name, p.type, op.handle, size, nullptr};
  n.fold = [=](unsigned char* at, std::size_t first, std::size_t count, Givers givers,
               std::uint64_t) {
    std::vector<unsigned char> left(count * size), right(count * size);
    put(left.data(), first, count, givers[0]);
    for (const int giver : givers.subspan(1)) {
      put(right.data(), first, count, giver);
      native().Reduce_local(left.data(), right.data(), static_cast<int>(count), p.type, op.handle);
      left.swap(right);
    }
    std::memcpy(at, left.data(), left.size());
  };
  return n;
}

void test_refused(const Predefined& p, const PredefinedOp& op, int expected) {
  ++pairs_refused;
  const long before = handlers_called;
  const int all = class_of(MPI_Allreduce(in, out, 3, p.type, op.handle, group));
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
  const int error = class_of(native().Allreduce(in, out, 1, p.type, op.handle, alone));
  if (error != MPI_SUCCESS) return test_refused(p, op, error);
  ++pairs_taken;
  const Numbers n = by_the_mpi(p, op, static_cast<std::size_t>(size));
  std::vector<std::size_t> counts{1, 37, 5000 / n.size};
  if (op.op == Op::sum) counts.push_back(300000 / n.size);
  Sweep{.whats = {What::reduce_local, What::allreduce, What::reduce},
        .numbers = {&n},
        .counts = counts,
        .forms = {Form::blocking, Form::nonblocking}}
      .for_each([](Case& c, std::uint64_t) {
        c.root = static_cast<int>(c.counts[0] % static_cast<unsigned>(ranks));
        static const Group all = group_of(group);
        if (c.what != What::reduce_local || c.form == Form::blocking) run(c, all);
      });
}

// Only the program sets error handlers. In MPICH, MPI_COMM_SELF and copies of MPI_COMM_WORLD made
// before that have no handler of their own and use that of MPI_COMM_WORLD. In Open MPI an error on
// them would abort the job.
void test_handlers_unset([[maybe_unused]] MPI_Comm copy) {
#if defined(MPICH_NAME) || defined(MPICH_VERSION)
  for (MPI_Comm comm : {MPI_COMM_SELF, copy}) {
    const long before = handlers_called;
    native().Allreduce(in, out, 1, MPI_INT, MPI_MINLOC, comm);
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
