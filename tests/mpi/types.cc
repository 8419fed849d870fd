// SPDX-License-Identifier: BSD-3-Clause
// Every pair of predefined type and operation: taken exactly where Sumac has a kernel, with the
// right result, else the MPI's own result or error. User-defined operations and derived types go to
// the MPI.
#include "check.h"
#include "data.h"
#include "integer_oracle.h"
#include "predefined.h"

namespace {

using namespace test;

constexpr std::size_t kMostElement = 64;
constexpr int kCount = 37;
using Elements = unsigned char[kMostElement * kCount];

template <class T>
void fill_small(unsigned char* at, std::size_t bytes, std::uint64_t seed) {
  for (std::size_t i = 0; (i + 1) * sizeof(T) <= bytes; ++i) {
    const T number = static_cast<T>(1 + mix(seed + i) % 3);
    std::memcpy(at + i * sizeof(T), &number, sizeof number);
  }
}

// Numbers 1 to 3, each with an index; the less usual pairs are zeros, equal on all ranks.
template <class T>
void fill_pairs(unsigned char* at, std::size_t extent, std::size_t index_offset, int r) {
  for (int i = 0; i < kCount; ++i, at += extent) {
    const T number = static_cast<T>(1 + mix(static_cast<std::uint64_t>(i * 8 + r)) % 3);
    const int index = r * 100 + i;
    std::memcpy(at, &number, sizeof number);
    std::memcpy(at + index_offset, &index, sizeof index);
  }
}

// What rank `r` puts in.
void fill(Elements& elements, const Predefined& p, std::size_t extent, int r) {
  const std::size_t bytes = extent * kCount;
  const std::uint64_t seed = static_cast<std::uint64_t>(r) * 1000;
  std::memset(elements, 0, sizeof elements);
  switch (p.fill) {
    case Fill::signed_bits:
    case Fill::unsigned_bits:
      for (std::size_t i = 0; i < bytes; ++i) {
        elements[i] = static_cast<unsigned char>(mix(seed + i));
      }
      break;
    case Fill::small_float:
      return fill_small<float>(elements, bytes, seed);
    case Fill::small_double:
      return fill_small<double>(elements, bytes, seed);
    case Fill::small_long_double:
      return fill_small<long double>(elements, bytes, seed);
    case Fill::truth:
      for (std::size_t i = 0; i < bytes; i += extent) elements[i] = mix(seed + i) % 2;
      break;
    case Fill::pair:
      if (p.type == MPI_FLOAT_INT) fill_pairs<float>(elements, extent, 4, r);
      if (p.type == MPI_DOUBLE_INT) fill_pairs<double>(elements, extent, 8, r);
      if (p.type == MPI_2INT || p.type == MPI_2INTEGER) fill_pairs<int>(elements, extent, 4, r);
  }
}

int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

std::size_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return static_cast<std::size_t>(extent);
}

bool is_integer(const Predefined& p) {
  return p.fill == Fill::signed_bits || p.fill == Fill::unsigned_bits;
}

// Ten bytes of an x87 long double are data, six are padding.
bool equal(const Elements& a, const Elements& b, const Predefined& p, std::size_t extent) {
  if (p.fill != Fill::small_long_double) return std::memcmp(a, b, extent * kCount) == 0;
  for (std::size_t i = 0; i < extent * kCount; ++i) {
    if (i % sizeof(long double) < 10 && a[i] != b[i]) return false;
  }
  return true;
}

// What the all-reduce must give, and the class of its error: for integers by the serial fold, for
// the others, where any order is exact, by the MPI.
int expect_all(const Predefined& p, MPI_Op op, bool has_kernel, std::size_t extent,
               Elements& expected) {
  if (!has_kernel || !is_integer(p)) {
    Elements input;
    fill(input, p, extent, rank);
    return class_of(native().Allreduce(input, expected, kCount, p.type, op, MPI_COMM_WORLD));
  }
  fill(expected, p, extent, 0);
  for (int r = 1; r < ranks; ++r) {
    Elements next;
    fill(next, p, extent, r);
    fold_integers(op, p.fill == Fill::signed_bits, extent, kCount, expected, next);
  }
  return MPI_SUCCESS;
}

void test_local(const Predefined& p, const PredefinedOp& op, bool has_kernel, std::size_t extent) {
  Elements input, ours, expected;
  fill(input, p, extent, 5);
  fill(ours, p, extent, 6);
  fill(expected, p, extent, 6);
  if (has_kernel && is_integer(p)) {
    fill(expected, p, extent, 5);
    fold_integers(op.op, p.fill == Fill::signed_bits, extent, kCount, expected, ours);
  } else {
    native().Reduce_local(input, expected, kCount, p.type, op.op);
  }
  MPI_Reduce_local(input, ours, kCount, p.type, op.op);
  CHECK(was_taken() == has_kernel, "Reduce_local, %s of %s: '%s'", op.name, p.name, path());
  CHECK(equal(ours, expected, p, extent), "%s of %s", op.name, p.name);
}

void test_pair(const Predefined& p, const PredefinedOp& op) {
  const bool has_kernel = (p.allowed & op.needs) && op.needs != kPairs;
  // Here Debian's MPICH ends the job with a failed assertion.
  const bool fails = p.type == MPI_FLOAT || p.type == MPI_DOUBLE || p.type == MPI_LONG_DOUBLE;
  if (op.needs == kLogical && fails) return;
  step("%s of %s", op.name, p.name);
  const std::size_t extent = extent_of(p.type);
  Elements input, ours = {}, expected = {};
  fill(input, p, extent, rank);
  const int expected_class = expect_all(p, op.op, has_kernel, extent, expected);
  const int error = class_of(MPI_Allreduce(input, ours, kCount, p.type, op.op, MPI_COMM_WORLD));
  CHECK(error == expected_class, "%s of %s: %d, not %d", op.name, p.name, error, expected_class);
  if (has_kernel) {
    CHECK(was_taken(), "%s of %s: '%s'", op.name, p.name, path());
  } else {
    CHECK(was_handed_down("no kernel for the operation on this type"), "%s of %s: '%s'", op.name,
          p.name, path());
  }
  if (expected_class != MPI_SUCCESS) return;
  CHECK(equal(ours, expected, p, extent), "%s of %s", op.name, p.name);
  test_local(p, op, has_kernel, extent);
}

void test_bcast(const Predefined& p) {
  step("broadcast of %s", p.name);
  const std::size_t extent = extent_of(p.type);
  Elements data, expected;
  fill(data, p, extent, rank);
  fill(expected, p, extent, rank);
  native().Bcast(expected, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  MPI_Bcast(data, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  CHECK(was_taken(), "%s: '%s'", p.name, path());
  CHECK(std::memcmp(data, expected, sizeof data) == 0, "%s", p.name);
}

void first_of_both(void* in, void* inout, int* count, MPI_Datatype*) {
  std::memcpy(inout, in, sizeof(int) * static_cast<std::size_t>(*count));
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void test_user_operations() {
  step("user-defined operations");
  MPI_Op first, sum;
  MPI_Op_create(first_of_both, 0, &first);
  MPI_Op_create(add, 1, &sum);
  int own = 7 + rank, result = -1;
  MPI_Allreduce(&own, &result, 1, MPI_INT, first, MPI_COMM_WORLD);
  CHECK_HANDED_DOWN("user-defined operation");
  CHECK(result == 7, "%d", result);
  MPI_Allreduce(&own, &result, 1, MPI_INT, sum, MPI_COMM_WORLD);
  CHECK_HANDED_DOWN("user-defined operation");
  CHECK(result == 7 * ranks + ranks * (ranks - 1) / 2, "%d", result);
  MPI_Reduce(&own, &result, 1, MPI_INT, sum, ranks - 1, MPI_COMM_WORLD);
  CHECK_HANDED_DOWN("user-defined operation");
  MPI_Reduce_local(&own, &result, 1, MPI_INT, sum);
  CHECK_HANDED_DOWN("user-defined operation");
  MPI_Op_free(&first);
  MPI_Op_free(&sum);
}

void test_derived_types() {
  step("derived types");
  MPI_Datatype two, copy;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Type_dup(MPI_INT, &copy);
  for (MPI_Datatype type : {two, copy}) {
    int own[2] = {rank, 1}, ours[2] = {}, theirs[2] = {};
    const int expected = native().Allreduce(own, theirs, 1, type, MPI_SUM, MPI_COMM_WORLD);
    const int error = MPI_Allreduce(own, ours, 1, type, MPI_SUM, MPI_COMM_WORLD);
    CHECK_HANDED_DOWN("no kernel for the operation on this type");
    CHECK(class_of(error) == class_of(expected), "%d, the MPI's %d", error, expected);
    CHECK(std::memcmp(ours, theirs, sizeof ours) == 0, "%d %d", ours[0], ours[1]);
  }
  MPI_Type_free(&two);
  MPI_Type_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  int types_seen = 0;
  for (const auto& types : {integer_types(), other_types()}) {
    for (const Predefined& p : types) {
      if (p.type == MPI_DATATYPE_NULL) continue;
      for (const PredefinedOp& op : operations()) test_pair(p, op);
      test_bcast(p);
      ++types_seen;
    }
  }
  CHECK(types_seen > 40, "%d types", types_seen);
  test_user_operations();
  test_derived_types();
  return finish();
}
