// SPDX-License-Identifier: BSD-3-Clause
// The MPI uses handles of operations and types again. Thousands of them are made, declared by
// hints, freed and made again as something else. What Sumac remembered of an old one must not be
// applied to a new one.
// handles TURNS | threads    threads: each makes, uses and frees operations; the MPI gives one the
//                            handle that another has just freed
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.h"
#include "sumac/sumac.h"

namespace {

using namespace test;

constexpr std::size_t kCount = 100;

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

// Bitwise or of two-byte elements: a result that no kernel for 16-bit numbers would give.
void or_bytes(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* from = static_cast<unsigned char*>(in);
  auto* to = static_cast<unsigned char*>(inout);
  for (int i = 0; i < 2 * *count; ++i) to[i] |= from[i];
}

template <class Handle>
class Seen {
 public:
  void note(Handle handle) { again_ += !handles_.insert(handle).second; }
  long again() const { return again_; }

 private:
  std::set<Handle> handles_;
  long again_ = 0;
};

Seen<MPI_Op> ops;
Seen<MPI_Datatype> types;

// The program's function must be called; over a hierarchy Sumac hands the call down.
void expect_users_taken() {
  CHECK(was_taken() || was_handed_down("user-defined operation over a hierarchy"), "path '%s'",
        path());
}

int reduced(MPI_Op op) {
  int in[kCount], out[kCount];
  for (std::size_t i = 0; i < kCount; ++i) in[i] = 1 + rank;
  MPI_Allreduce(in, out, kCount, MPI_INT, op, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < kCount; ++i) CHECK(out[i] == out[0], "%d %d", out[i], out[0]);
  return out[0];
}

// Makes one of Sumac's operations, then one of the program's, then one with a hint, and frees each
// before the next is made.
void turn_of_operations(long turn) {
  MPI_Op op;
  const int sum = ranks * (ranks + 1) / 2;
  const bool maximum = turn % 2;
  CHECK(sumac_op_create(maximum ? SUMAC_MAX : SUMAC_SUM, 0, &op) == MPI_SUCCESS, "%ld", turn);
  ops.note(op);
  CHECK(reduced(op) == (maximum ? ranks : sum), "turn %ld", turn);
  if (!only_linked) CHECK_TAKEN();
  MPI_Op_free(&op);
  MPI_Op_create(add, 1, &op);
  ops.note(op);
  CHECK(reduced(op) == sum, "turn %ld", turn);
  if (!only_linked) expect_users_taken();
  CHECK(sumac_hint_op(op, SUMAC_SUM) == MPI_SUCCESS, "%ld", turn);
  CHECK(reduced(op) == sum, "turn %ld", turn);
  if (!only_linked) CHECK_TAKEN();
  MPI_Op_free(&op);
}

void check_bytes(MPI_Datatype type, MPI_Op op, long turn) {
  std::uint16_t in[kCount], out[kCount];
  std::memset(in, 1 << rank, sizeof in);
  MPI_Allreduce(in, out, kCount, type, op, MPI_COMM_WORLD);
  for (std::uint16_t bytes : out)
    CHECK(bytes == 0x101 * ((1 << ranks) - 1), "%x, %ld", bytes, turn);
}

// Makes and frees a type with a hint, sometimes given twice; then makes the same type for other
// data, without a hint.
void turn_of_types(long turn, MPI_Op bytes_op) {
  MPI_Datatype type, copy;
  MPI_Type_contiguous(2, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  types.note(type);
  CHECK(sumac_hint_type(type, SUMAC_FLOAT16) == MPI_SUCCESS, "%ld", turn);
  if (turn % 3 == 0) CHECK(sumac_hint_type(type, SUMAC_BFLOAT16) == MPI_SUCCESS, "%ld", turn);
  MPI_Type_dup(type, &copy);
  check_bytes(copy, bytes_op, turn);
  MPI_Type_free(&type);
  MPI_Type_free(&copy);
  MPI_Type_contiguous(2, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  types.note(type);
  check_bytes(type, bytes_op, turn);
  if (!only_linked) expect_users_taken();
  MPI_Type_free(&type);
}

// An operation may be freed while a request that uses it is under way.
void free_while_pending(long turn) {
  std::vector<int> in(2000, 1 + rank), out(in.size());
  MPI_Op op;
  MPI_Request request;
  sumac_op_create(SUMAC_SUM, 0, &op);
  forget_path();
  MPI_Iallreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, MPI_COMM_WORLD,
                 &request);
  expect_taken_nonblocking("iallreduce");
  MPI_Op_free(&op);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int x : out) CHECK(x == ranks * (ranks + 1) / 2, "%d, turn %ld", x, turn);
}

// More operations at a time than a table of fixed size would hold.
void many_alive(long number) {
  std::vector<MPI_Op> alive(static_cast<std::size_t>(number));
  for (std::size_t i = 0; i < alive.size(); ++i) {
    CHECK(sumac_op_create(i % 2 ? SUMAC_MAX : SUMAC_SUM, 0, &alive[i]) == MPI_SUCCESS, "%zu", i);
  }
  for (std::size_t i = 0; i < alive.size(); i += 97) {
    CHECK(reduced(alive[i]) == (i % 2 ? ranks : ranks * (ranks + 1) / 2), "%zu", i);
  }
  for (MPI_Op& op : alive) MPI_Op_free(&op);
}

constexpr int kThreads = 4, kTurns = 5000;

// A result that no kind of operation gives.
void forty_two(void*, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] = 42;
}

bool gives(MPI_Op op, int expected) {
  int in[kCount], inout[kCount];
  for (std::size_t i = 0; i < kCount; ++i) in[i] = 3, inout[i] = 4;
  MPI_Reduce_local(in, inout, kCount, MPI_INT, op);
  for (int x : inout) {
    if (x != expected) return false;
  }
  return true;
}

void turns_of_thread(int thread) {
  const struct {
    int kind, result;
  } kinds[kThreads] = {{SUMAC_SUM, 7}, {SUMAC_PROD, 12}, {SUMAC_MIN, 3}, {SUMAC_MAX, 4}};
  long wrong = 0, errors = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto& kind = kinds[(thread + turn) % kThreads];
    MPI_Op ours, users;
    errors += sumac_op_create(kind.kind, 0, &ours) != MPI_SUCCESS;
    wrong += !gives(ours, kind.result);
    MPI_Op_free(&ours);
    MPI_Op_create(forty_two, 1, &users);
    wrong += !gives(users, 42);
    if (turn % 2) errors += sumac_hint_op(users, kind.kind) != MPI_SUCCESS;
    if (turn % 2) wrong += !gives(users, only_linked ? 42 : kind.result);
    MPI_Op_free(&users);
  }
  CHECK(wrong == 0 && errors == 0, "thread %d: %ld wrong, %ld errors", thread, wrong, errors);
}

int turn_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(turns_of_thread, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(true, "no thread was lost");
  return finish();
}

}  // namespace

int main(int argc, char** argv) {
  const bool in_threads = argc > 1 && argv[1] == std::string("threads");
  const int wanted = in_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  const int provided = start(argc, argv, wanted);
  if (provided < wanted) return end_without_threads();
  if (in_threads) return turn_in_threads();
  const long turns = argc > 1 ? std::atol(argv[1]) : 100;
  if (!only_linked) CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  MPI_Op bytes_op;
  MPI_Op_create(or_bytes, 1, &bytes_op);
  sumac_hint_op(bytes_op, SUMAC_SUM);
  many_alive(turns / 2);
  for (long turn = 0; turn < turns; ++turn) {
    step("turn %ld", turn);
    turn_of_operations(turn);
    turn_of_types(turn, bytes_op);
    free_while_pending(turn);
  }
  CHECK(ops.again() > 0 && types.again() > 0, "%ld operations, %ld types", ops.again(),
        types.again());
  MPI_Op_free(&bytes_op);
  return finish();
}
