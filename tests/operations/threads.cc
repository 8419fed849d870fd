// SPDX-License-Identifier: BSD-3-Clause
// Threads that make, use and free operations at the same time. The MPI gives one thread the handle
// that another has just freed; what Sumac remembered of the old operation must be forgotten by
// then.
#include <thread>
#include <vector>

#include "mpi/check.h"
#include "sumac/sumac.h"

namespace {

using namespace test;

constexpr int kThreads = 4, kTurns = 5000;
constexpr int kCount = 33;

// A result that no kind of operation gives.
void forty_two(void*, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] = 42;
}

bool gives(MPI_Op op, int expected) {
  int in[kCount], inout[kCount];
  for (int i = 0; i < kCount; ++i) {
    in[i] = 3;
    inout[i] = 4;
  }
  MPI_Reduce_local(in, inout, kCount, MPI_INT, op);
  for (int x : inout) {
    if (x != expected) return false;
  }
  return true;
}

void turns(int thread) {
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

}  // namespace

int main(int argc, char** argv) {
  if (start(argc, argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(turns, i);
    for (std::thread& thread : threads) thread.join();
    CHECK(true, "no thread was lost");
  } else {
    skip("this MPI does not have MPI_THREAD_MULTIPLE");
  }
  return finish();
}
