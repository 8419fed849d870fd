// SPDX-License-Identifier: BSD-3-Clause
// What the function of a user-defined operation may do or meet: it may throw, and call MPI; it may
// be called while nonblocking operations are under way, on elements whose last gap is not mapped,
// and on types that have been freed and made again.
#include <sys/mman.h>

#include <array>
#include <exception>
#include <stdexcept>

#include "data.h"
#include "mpi_faults.h"
#include "user_functions.h"

namespace {

using namespace test;

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

int sum_of_ranks() { return ranks * (ranks + 1) / 2; }

// Sums rank + 1, which Sumac must serve.
void check_sums(MPI_Op op, std::size_t count, const char* what) {
  step("sums of %zu %s", count, what);
  std::vector<int> in(count, rank + 1), out(count, -1);
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_INT, op, MPI_COMM_WORLD);
  CHECK_TAKEN();
  for (const int x : out) {
    if (!CHECK(x == sum_of_ranks(), "%s: %d", step_text, x)) return;
  }
}

// How many calls of the function succeed before it throws; -1 if it never throws.
long calls_left = -1;
bool thrown = false;
void throw_later(void* in, void* inout, int* count, MPI_Datatype* type) {
  if (calls_left == 0) {
    CHECK(!thrown, "called again");
    thrown = true;
    throw std::runtime_error("thrown by the function");
  }
  --calls_left;
  add(in, inout, count, type);
}

// The function throws after `after` calls, on ranks where `here` is true. The communicator must
// work afterwards.
void throws(MPI_Op op, std::size_t count, int root, long after, bool here) {
  step("an exception in a reduction of %zu, root %d", count, root);
  std::vector<int> in(count, rank + 1), out(count, -1);
  calls_left = here ? after : -1;
  bool caught = thrown = false;
  const int n = static_cast<int>(count);
  try {
    if (root < 0) {
      MPI_Allreduce(in.data(), out.data(), n, MPI_INT, op, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(in.data(), out.data(), n, MPI_INT, op, root, MPI_COMM_WORLD);
    }
  } catch (const std::runtime_error& error) {
    caught = std::strcmp(error.what(), "thrown by the function") == 0;
  }
  calls_left = -1;
  CHECK_TAKEN();
  CHECK(caught == thrown, "%s: lost", step_text);
  const bool has_part = root < 0 && (count < 1000 || rank == 0);  // this rank folds elements
  if (here && has_part && after == 0) CHECK(thrown == (ranks > 1), "%s", step_text);
  CHECK(std::uncaught_exceptions() == 0, "%d", std::uncaught_exceptions());
  for (const int x : in) CHECK(x == rank + 1, "%s: input %d", step_text, x);
  for (int i = 0; i < 20; ++i) check_sums(op, i % 2 ? 1 : count, "after an exception");
}

void test_exceptions() {
  MPI_Op op;
  MPI_Op_create(throw_later, 1, &op);
  for (const std::size_t count : {1u, 300u, 5000u, 100000u}) {
    for (const long after : {0, 1, 3}) {
      throws(op, count, -1, after, true);
      throws(op, count, ranks - 1, after, true);
      throws(op, count, -1, after, rank == 0);
    }
  }
  MPI_Op_free(&op);
}

// Calls MPI from inside the function; the reductions it makes must be the MPI's own.
std::atomic<long> inside_wrong{0}, inside_calls{0};
void ask(void* in, void* inout, int* count, MPI_Datatype* type) {
  ++inside_calls;
  int size = 0, initialized = 0, one = 1, sum = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &lower, &extent);
  MPI_Initialized(&initialized);
  const double before = MPI_Wtime();
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Reduce_local(&one, &sum, 1, MPI_INT, MPI_SUM);
  if (size != 4 || extent != 4 || !initialized || sum != 2 || MPI_Wtime() < before) ++inside_wrong;
  add(in, inout, count, type);
}

void test_calls_from_inside() {
  MPI_Op op;
  MPI_Op_create(ask, 1, &op);
  for (const std::size_t count : {1, 1000, 50000}) check_sums(op, count, "and calls from inside");
  CHECK(inside_wrong == 0, "%ld", inside_wrong.load());
  CHECK(ranks == 1 || inside_calls > 0, "never called");
  MPI_Op_free(&op);
}

// Only the calling thread may run the function, whichever thread makes progress for other
// operations.
pthread_t caller;
std::atomic<long> elsewhere{0};
void add_here(void* in, void* inout, int* count, MPI_Datatype* type) {
  if (!pthread_equal(pthread_self(), caller)) ++elsewhere;
  add(in, inout, count, type);
}

void test_under_way() {
  caller = pthread_self();
  MPI_Op op;
  MPI_Op_create(add_here, 1, &op);
  constexpr std::size_t kMany = 3;
  for (std::size_t turn = 0; turn < 300; ++turn) {
    step("turn %zu with others under way", turn);
    const std::size_t count = std::array{1, 400, 20000}[turn % 3];
    std::vector<int> in(count, rank + 1), outs[kMany];
    MPI_Request requests[kMany];
    for (std::size_t i = 0; i < kMany; ++i) {
      outs[i].assign(count, -1);
      MPI_Iallreduce(in.data(), outs[i].data(), static_cast<int>(count), MPI_INT, MPI_SUM,
                     MPI_COMM_WORLD, &requests[i]);
    }
    check_sums(op, turn % 2 ? 1 : count, "with others under way");
    MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
    for (const auto& out : outs) {
      for (const int x : out) {
        if (!CHECK(x == sum_of_ranks(), "turn %zu: %d", turn, x)) break;
      }
    }
  }
  CHECK(elsewhere == 0, "%ld calls in other threads", elsewhere.load());
  MPI_Op_free(&op);
}

// The gap after the last element need not be mapped memory, in either buffer.
void add_struct(void* in, void* inout, int* count, MPI_Datatype*) {
  struct Both {
    double x;
    int n;
  };
  for (int i = 0; i < *count; ++i) {
    const Both left = static_cast<Both*>(in)[i];
    Both right = static_cast<Both*>(inout)[i];
    right.x += left.x;
    right.n += left.n;
    static_cast<Both*>(inout)[i] = right;
  }
}

unsigned char* end_of_memory() {
  constexpr std::size_t kPage = 4096, kBytes = 16 * kPage;
  void* memory =
      mmap(nullptr, kBytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* end = static_cast<unsigned char*>(memory) + kBytes;
  mprotect(end, kPage, PROT_NONE);
  return end;
}

void test_end_of_memory() {
  unsigned char *from = end_of_memory(), *to = end_of_memory();
  Shape shape = double_and_int(true);
  MPI_Op op;
  MPI_Op_create(add_struct, 1, &op);
  for (const std::size_t count : {1, 2, 200, 2000}) {
    step("%zu structs at the end of memory", count);
    unsigned char* first = from - 16 * count + 4;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = rank + 1;
      const int n = rank + 2;
      std::memcpy(first + 16 * i, &x, sizeof x);
      std::memcpy(first + 16 * i + 8, &n, sizeof n);
    }
    unsigned char* result = to - 16 * count + 4;
    MPI_Allreduce(first, result, static_cast<int>(count), shape.type, op, MPI_COMM_WORLD);
    CHECK_TAKEN();
    for (std::size_t i = 0; i < count; ++i) {
      double x;
      int n;
      std::memcpy(&x, result + 16 * i, sizeof x);
      std::memcpy(&n, result + 16 * i + 8, sizeof n);
      CHECK(x == sum_of_ranks() && n == sum_of_ranks() + ranks, "%zu of %zu: %g %d", i, count, x,
            n);
    }
  }
  MPI_Op_free(&op);
  MPI_Type_free(&shape.type);
}

// A handle of a freed type or operation may be used for a new one: nothing remembered of the old
// one may be applied to it.
void add_as_told(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  int ints = *count * size / 4;
  add(in, inout, &ints, type);
}

void test_freed_types() {
  for (int turn = 0; turn < 500; ++turn) {
    step("type number %d", turn);
    MPI_Op op;
    MPI_Op_create(add_as_told, 1, &op);
    const int each = 1 + turn * 7 % 23;
    std::vector<int> in(static_cast<std::size_t>(3 * each), rank + 1), out(in.size() + 1, -1);
    MPI_Datatype type;
    MPI_Type_contiguous(each, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce(in.data(), out.data(), 3, type, op, MPI_COMM_WORLD);
    CHECK_TAKEN();
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(out[i] == sum_of_ranks(), "%d", out[i]);
    CHECK(out.back() == -1, "%d", out.back());
    MPI_Type_free(&type);
    MPI_Op_free(&op);
  }
}

// An uncommitted type must raise an error through the communicator's own handler only.
void test_type_errors() {
  step("a type that is not committed");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  MPI_Op op;
  MPI_Op_create(add_as_told, 1, &op);
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  int in[3] = {}, out[3] = {};
  const int error = MPI_Allreduce(in, out, 1, type, op, MPI_COMM_WORLD);
  const int error_class = class_of(error);
  CHECK(error_class == MPI_ERR_TYPE, "%d", error_class);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// The function ends the job from inside a reduction.
void abort_inside() {
  MPI_Op op;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) { MPI_Abort(MPI_COMM_WORLD, 7); }, 1, &op);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  std::puts("came back");
}

}  // namespace

// user_behaviour [--abort]
int main(int argc, char** argv) {
  const bool aborts = take_flag(argc, argv, "--abort");
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  if (aborts) abort_inside();
  test_exceptions();
  test_calls_from_inside();
  test_under_way();
  test_end_of_memory();
  test_freed_types();
  test_type_errors();
  return finish();
}
