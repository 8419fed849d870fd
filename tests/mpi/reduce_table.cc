// SPDX-License-Identifier: BSD-3-Clause
// Every operation on every predefined type, in every call that reduces, at sizes of every kind.
// Where the standard allows the pair and there is a kernel, Sumac must serve the call, with the
// right result and without writing into the gaps of the receive buffer. Where it does not and the
// MPI supports the pair, Sumac serves it with the MPI's own result. Elsewhere the MPI's error is
// raised through the communicator's own handler, and no handler of another communicator is called
// or changed.
// reduce_table [beyond|types]
//   beyond  only the pairs that the standard does not allow
//   types   only broadcasts of every type, and reductions of derived ones
#include <vector>

#include "cases.h"
#include "element_oracle.h"
#include "kernels/reduce.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

constexpr std::size_t kMostBytes = 3 << 20;
long pairs_taken = 0, extensions_taken = 0, pairs_refused = 0, handlers_called = 0;
bool with_persistent = false;
MPI_Comm group = MPI_COMM_NULL;  // all ranks; returns errors
MPI_Comm alone = MPI_COMM_NULL;  // this rank only; returns errors

MPI_Errhandler noting = MPI_ERRHANDLER_NULL;  // MPI_COMM_WORLD's, which counts in handlers_called
void note_handler(MPI_Comm*, int*, ...) { ++handlers_called; }

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

int error_class_in_mpi(const Predefined& p, const PredefinedOp& op) {
  alignas(16) unsigned char in[64] = {}, out[64] = {};
  return class_of(native().Allreduce(in, out, 1, p.type, op.handle, alone));
}

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

void test_extension(const Predefined& p, const PredefinedOp& op) {
  ++extensions_taken;
  int size = 0;
  MPI_Type_size(p.type, &size);
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

// Debian's MPICH claims to support logical operations on floating-point numbers, but aborts the job
// in some of them. So these are left to the MPI.
bool is_floating(const Predefined& p) {
  return p.allowed == kArithmetic && p.dtype >= DType::f16 && p.dtype <= DType::f128;
}

// Pairs that go to the MPI, which must raise its error, through the communicator's own handler.
void test_refused(const Predefined& p, const PredefinedOp& op) {
  ++pairs_refused;
  constexpr int kCount = 3, kCalls = 3;
  constexpr std::size_t kBytes = 256;
  const Native program{MPI_Allreduce, MPI_Reduce, MPI_Bcast, MPI_Barrier, MPI_Reduce_local};
  for (int call = 0; call < kCalls; ++call) {
    int classes[2];
    unsigned char in[kBytes], out[2][kBytes];
    std::memset(in, rank == 0 ? 1 : 0, sizeof in);
    // MPI_Reduce_local has no communicator, and its errors are those of MPI_COMM_WORLD.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, call == 0 ? errors_return() : noting);
    const long before = handlers_called;
    for (int which = 0; which < 2; ++which) {
      const Native& f = which == 0 ? native() : program;
      std::memset(out[which], 1, kBytes);
      const auto make = [&] {
        if (call == 0) return f.Reduce_local(in, out[which], kCount, p.type, op.handle);
        if (call == 1) return f.Allreduce(in, out[which], kCount, p.type, op.handle, group);
        return f.Reduce(in, out[which], kCount, p.type, op.handle, 0, group);
      };
      classes[which] = class_of(make());
    }
    CHECK(classes[0] == classes[1], "%s of %s: class %d, the MPI's %d", op.name, p.name, classes[1],
          classes[0]);
    CHECK_HANDED_DOWN("no kernel for the operation on this type");
    CHECK(handlers_called == before, "%s of %s", op.name, p.name);
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

void test_type(const Predefined& p, bool beyond) {
  const DType dtype = dtype_in_mpi(p);
  bool is_first = true;
  for (const PredefinedOp& op : operations()) {
    step("%s of %s", op.name, p.name);
    const bool allowed = p.allowed & op.needs;
    if (allowed && sumac::is_defined(op.op, dtype) && sumac::find_reduce(op.op, dtype)) {
      if (!beyond) test_kernel(p, dtype, op, is_first);
      is_first = false;
    } else if (error_class_in_mpi(p, op) != MPI_SUCCESS) {
      test_refused(p, op);
    } else if (!allowed && !(op.needs == kLogical && is_floating(p))) {
      test_extension(p, op);
    }
  }
}

// Elements have random bits, and gaps have other bits on each rank: gaps must not be sent.
void test_bcast(const Predefined& p) {
  constexpr std::size_t kBytes = 4096;
  constexpr int kCount = 37;
  step("broadcast of %s", p.name);
  unsigned char data[kBytes], expected[kBytes];
  for (std::size_t i = 0; i < kBytes; ++i) {
    data[i] = static_cast<unsigned char>(mix(i * 64 + static_cast<unsigned>(rank)));
  }
  std::memcpy(expected, data, sizeof data);
  native().Bcast(expected, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  MPI_Bcast(data, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  CHECK(was_taken(), "%s: '%s'", p.name, path());
  CHECK(std::memcmp(data, expected, sizeof data) == 0, "%s", p.name);
}

// Predefined operations on derived types, which Sumac never serves.
void test_derived_types() {
  step("derived types");
  MPI_Datatype two, copy;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Type_dup(MPI_INT, &copy);
  for (MPI_Datatype type : {two, copy}) {
    int own[2] = {rank, 1}, ours[2] = {}, theirs[2] = {};
    const int expected = native().Allreduce(own, theirs, 1, type, MPI_SUM, group);
    const int error = MPI_Allreduce(own, ours, 1, type, MPI_SUM, group);
    CHECK_HANDED_DOWN("no kernel for the operation on this type");
    CHECK(class_of(error) == class_of(expected), "%d, the MPI's %d", error, expected);
    CHECK(std::memcmp(ours, theirs, sizeof ours) == 0, "%d %d", ours[0], ours[1]);
  }
  MPI_Type_free(&two);
  MPI_Type_free(&copy);
}

// Only the program sets error handlers. In MPICH, MPI_COMM_SELF and copies of MPI_COMM_WORLD made
// before that have no handler of their own and use that of MPI_COMM_WORLD. In Open MPI an error on
// them would abort the job.
void test_handlers_unset([[maybe_unused]] MPI_Comm copy) {
#if defined(MPICH_NAME) || defined(MPICH_VERSION)
  for (MPI_Comm comm : {MPI_COMM_SELF, copy}) {
    const long before = handlers_called;
    int word[2] = {};
    native().Allreduce(word, word + 1, 1, MPI_INT, MPI_MINLOC, comm);
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
  const bool beyond = take_flag(argc, argv, "beyond");
  const bool only_types = take_flag(argc, argv, "types");
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  group = returning(MPI_COMM_WORLD);
  alone = returning(MPI_COMM_SELF);
  CHECK(warm_up(copy), "path '%s'", path());
  MPI_Comm_create_errhandler(note_handler, &noting);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, noting);
  CHECK(warm_up(MPI_COMM_WORLD) && warm_up(group), "path '%s'", path());
  MPI_Request request = MPI_REQUEST_NULL;
  with_persistent =
      inits().Barrier && inits().Barrier(MPI_COMM_WORLD, MPI_INFO_NULL, &request) == MPI_SUCCESS;
  if (with_persistent) MPI_Request_free(&request);
  const auto types = predefined_types();
  CHECK(types.size() > 60, "%zu types", types.size());
  for (const Predefined& p : types) test_bcast(p);
  test_derived_types();
  for (const Predefined& p : types) {
    if (!only_types && !is_misnamed(p.type, p.name)) test_type(p, beyond);
  }
  CHECK(only_types || beyond || pairs_taken > 200, "%ld pairs", pairs_taken);
  CHECK(only_types || (extensions_taken >= 10 && pairs_refused > 100), "%ld taken, %ld refused",
        extensions_taken, pairs_refused);
  test_handlers_unset(copy);
  MPI_Errhandler_free(&noting);
  for (MPI_Comm* comm : {&copy, &group, &alone}) MPI_Comm_free(comm);
  return finish();
}
