// SPDX-License-Identifier: BSD-3-Clause
// Every kind of operation on every element type for which it is defined, with and without threads,
// in every collective that takes an operation, at several lengths. With an argument n, only every
// n-th of these cases.
#include <numeric>

#include "kernels/reduce.h"
#include "mpi/cases.h"
#include "mpi/element_oracle.h"
#include "mpi/mpi_faults.h"
#include "sumac/sumac.h"

namespace {

using namespace test;

// In the order of operations().
constexpr int kKinds[] = {SUMAC_SUM,  SUMAC_PROD, SUMAC_MIN,    SUMAC_MAX,
                          SUMAC_LAND, SUMAC_LOR,  SUMAC_LXOR,   SUMAC_BAND,
                          SUMAC_BOR,  SUMAC_BXOR, SUMAC_MINLOC, SUMAC_MAXLOC};

int operations_tried = 0;
std::size_t every = 1, turn = 0;

// Sumac does not serve MPI_Scan: the MPI calls the operation even where Sumac is in front.
void scan(const Numbers& n, std::size_t count) {
  const std::size_t bytes = count * n.size;
  std::vector<int> until(static_cast<std::size_t>(rank) + 1);
  std::iota(until.begin(), until.end(), 0);
  Buffer in(bytes), out(bytes), expected(bytes);
  for (Buffer* each : {&in, &out, &expected}) each->fill(0);
  n.fold(in.as<unsigned char>(), 0, count, {&rank, 1}, count);
  n.fold(expected.as<unsigned char>(), 0, count, until, count);
  MPI_Scan(in.data(), out.data(), static_cast<int>(count), n.type, n.op, MPI_COMM_WORLD);
  for (std::size_t at = 0; at < bytes; at += n.size) {
    const unsigned char *got = out.as<unsigned char>() + at,
                        *right = expected.as<unsigned char>() + at;
    const bool same =
        std::memcmp(got, right, n.size) == 0 || (n.stands_for && n.stands_for(got, right));
    if (!CHECK(same, "scan of %s, element %zu of %zu", n.name.c_str(), at / n.size, count)) break;
  }
  CHECK(out.guards_hold(), "scan of %zu %s", count, n.name.c_str());
}

// On numbers whose sum depends on the order of additions, Sumac's operation must give the bits of
// the predefined one, if Sumac serves both.
template <class T>
void same_bits(MPI_Datatype type, const PredefinedOp& predefined, MPI_Op op) {
  std::vector<T> in(5003), with_ours(in.size()), with_predefined(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = value<T>(rank, i);
  const int count = static_cast<int>(in.size());
  MPI_Allreduce(in.data(), with_ours.data(), count, type, op, MPI_COMM_WORLD);
  MPI_Allreduce(in.data(), with_predefined.data(), count, type, predefined.handle, MPI_COMM_WORLD);
  CHECK(std::memcmp(with_ours.data(), with_predefined.data(), in.size() * sizeof(T)) == 0, "%s",
        predefined.name);
}

void sweep(const Predefined& p, const PredefinedOp& predefined, int kind, int flags) {
  MPI_Op op = MPI_OP_NULL;
  CHECK(sumac_op_create(kind, flags, &op) == MPI_SUCCESS, "%s", predefined.name);
  int commutes = 0;
  MPI_Op_commutative(op, &commutes);
  CHECK(commutes, "%s", predefined.name);
  Numbers n = numbers_of(p, predefined, p.dtype);
  n.op = op;
  if (flags) n.name.append(" with threads");
  if (only_linked) n = without_gaps(n, p.dtype);
  const Sweep all{.whats = {What::allreduce, What::reduce, What::reduce_local},
                  .numbers = {&n},
                  .counts = {0, 1, 2, 37, 1023, 20011},
                  .forms = {Form::blocking, Form::nonblocking},
                  .in_place = {false, true},
                  .roots = {ranks - 1}};
  all.for_each([](Case& c, std::uint64_t) {
    const bool one_form = c.what == What::reduce_local && c.form != Form::blocking;
    if (one_form || (c.in_place && c.what != What::allreduce) || turn++ % every != 0) return;
    run(c, world(), Served::by_sumac);
  });
  for (const std::size_t count : {1, 37, 1023}) scan(without_gaps(n, p.dtype), count);
  if (!only_linked && p.type == MPI_FLOAT) same_bits<float>(MPI_FLOAT, predefined, op);
  if (!only_linked && p.type == MPI_DOUBLE) same_bits<double>(MPI_DOUBLE, predefined, op);
  CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL, "%s", predefined.name);
  ++operations_tried;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  return_errors();
  if (argc > 1) every = static_cast<std::size_t>(std::atol(argv[1]));
  if (!only_linked) CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  for (const Predefined& p : predefined_types()) {
    // Not every MPI has the types of 2, 16 and 32 bytes, or gives them the same format.
    const bool everywhere = p.dtype != DType::none && p.dtype != DType::f16 &&
                            p.dtype != DType::bf16 && p.dtype != DType::i128 &&
                            p.dtype != DType::f128 && p.dtype != DType::c128;
    if (!everywhere || is_misnamed(p.type, p.name)) continue;
    for (std::size_t k = 0; k < std::size(kKinds); ++k) {
      const PredefinedOp op = operations()[k];
      if (!(p.allowed & op.needs) || !sumac::is_defined(op.op, p.dtype) ||
          !sumac::find_reduce(op.op, p.dtype)) {
        continue;
      }
      sweep(p, op, kKinds[k], 0);
      sweep(p, op, kKinds[k], SUMAC_OP_THREADED);
    }
  }
  CHECK(operations_tried >= 150, "%d", operations_tried);
  return finish();
}
