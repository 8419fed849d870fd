// SPDX-License-Identifier: BSD-3-Clause
// Every operation on every predefined type, in every call that reduces, at sizes of every kind.
// Where the standard allows the pair and there is a kernel, Sumac must serve the call, with the
// right result and without writing into the gaps of the receive buffer. Elsewhere the MPI must
// raise its own error. What an MPI supports beyond the standard is tested by extensions.cc.
#include <vector>

#include "cases.h"
#include "element_oracle.h"
#include "kernels/reduce.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

constexpr std::size_t kMostBytes = 3 << 20;
long pairs_taken = 0;
bool with_persistent = false;

// The calls of each operation and type, those that reduce to a root with the roots in turn. The
// native one checks the oracle, for other numbers than integers, of which MPIs get some wrong.
constexpr struct {
  What what;
  Form form;
  bool in_place, native;
} kRows[] = {{What::reduce_local, Form::blocking, false, false},
             {What::allreduce, Form::blocking, false, false},
             {What::reduce, Form::blocking, false, false},
             {What::allreduce, Form::blocking, true, false},
             {What::reduce, Form::blocking, true, false},
             {What::allreduce, Form::nonblocking, false, false},
             {What::reduce, Form::nonblocking, false, false},
             {What::allreduce, Form::persistent, false, false},
             {What::reduce_local, Form::blocking, false, true}};

// Only the first operation on a type is tested on large messages: the others would take the same
// path.
void test_kernel(const Predefined& p, DType dtype, const PredefinedOp& op, bool is_first) {
  const Numbers n = numbers_of(p, op, dtype);
  const sumac::ElementKind kind = sumac::info_of(dtype).kind;
  std::uint64_t seed = mix(static_cast<std::uint64_t>(pairs_taken++));
  std::vector<std::size_t> counts{1, 37, 4096 / n.size + 1};
  if (is_first) counts.push_back(160000 / n.size + 1);
  if (is_first && kind == sumac::ElementKind::pair) counts.push_back(kMostBytes / n.size - 1);
  for (std::size_t count : counts) {
    ++seed;
    for (const auto& row : kRows) {
      if (row.form == Form::persistent && (count != 37 || !with_persistent)) continue;
      const bool excepted = kind == sumac::ElementKind::integer || (is_intel() && op.op == Op::min);
      if (row.native && (count != 37 || excepted)) continue;
      Case c{.what = row.what, .numbers = &n, .counts = {count}, .form = row.form, .seed = seed};
      c.root = static_cast<int>(seed % static_cast<unsigned>(ranks));
      c.in_place = row.in_place;
      c.native = row.native;
      run(c);
    }
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
  if (sumac::size_of(dtype) > 32) return false;
  const Numbers n = numbers_of(p, operations()[0], dtype);
  Call call({.what = What::reduce_local, .numbers = &n, .counts = {2}, .native = true});
  return call.begin() == MPI_SUCCESS && call.is_right();
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
