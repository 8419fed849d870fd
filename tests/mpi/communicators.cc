// SPDX-License-Identifier: BSD-3-Clause
// Communicators of every kind, and every way for one to end.
#include <vector>

#include "exercise.h"
#include "groups.h"

namespace {

using namespace test;

// Operations on parts of a communicator between operations on all of it, in different orders on
// different ranks.
void test_nested() {
  step("nested communicators");
  MPI_Comm whole, half, pair;
  MPI_Comm_dup(MPI_COMM_WORLD, &whole);
  MPI_Comm_split(whole, rank % 2, -rank, &half);
  MPI_Comm_split(whole, rank / 2, rank, &pair);
  for (int i = 0; i < 20; ++i) {
    use(whole, i);
    if (rank % 4 < 2) use(pair, 2 * i);
    use(half, i + 1);
    if (rank % 4 >= 2) use(pair, 2 * i);
    if (rank % 3 == 0) usleep(100);
    use(whole, i + 100);
  }
  CHECK_TAKEN();
  for (MPI_Comm* comm : {&pair, &half, &whole}) MPI_Comm_free(comm);
}

// A communicator that is freed while a receive on it is pending stays alive inside the MPI until
// the receive ends, but its handle may already be used for another communicator.
void test_freed_with_pending_receive() {
  step("freed with a pending receive");
  for (int round = 0; round < 6; ++round) {
    MPI_Comm comm, next;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 3);
    int got = -1, sent = rank + round;
    MPI_Request requests[2];
    MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % ranks, 5, comm, &requests[0]);
    if (rank != 0) MPI_Isend(&sent, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, comm, &requests[1]);
    if (rank == 0) {
      usleep(2000);
      MPI_Isend(&sent, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, comm, &requests[1]);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    use(next, 4);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(got == (rank + 1) % ranks + round, "%d", got);
    use(next, 5);
    CHECK_TAKEN();
    MPI_Comm_free(&next);
  }
}

void test_intercommunicator() {
  if (ranks < 2) return;
  step("intercommunicator");
  const Sides sides;
  const MPI_Comm inter = sides.between;
  const int root = sides.root();
  for (int i = 0; i < 8; ++i) {
    const bool deferred = i % 2 == 1;
    int sum = -1, total = -1, word = rank == 0 ? 70 + i : -1;
    MPI_Request requests[4];
    forget_path();
    if (deferred) {
      MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, inter, &requests[0]);
      CHECK(!was_taken(), "path '%s'", path());
      MPI_Ibcast(&word, 1, MPI_INT, root, inter, &requests[1]);
      MPI_Ireduce(&i, &total, 1, MPI_INT, MPI_SUM, root, inter, &requests[2]);
      MPI_Ibarrier(inter, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, inter);
      MPI_Bcast(&word, 1, MPI_INT, root, inter);
      MPI_Reduce(&i, &total, 1, MPI_INT, MPI_SUM, root, inter);
      MPI_Barrier(inter);
      CHECK_HANDED_DOWN("inter-communicator");
    }
    CHECK(sum == i * sides.others, "%d", sum);
    CHECK(word == (sides.odd || rank == 0 ? 70 + i : -1), "%d", word);
    CHECK(rank != 0 || total == i * sides.others, "%d", total);
  }
}

void test_alone() {
  step("one rank");
  for (int i = 0; i < 4; ++i) use(MPI_COMM_SELF, i);
  CHECK(std::strcmp(path(), "local") == 0, "'%s'", path());
  std::vector<double> in(5000, 1.5), out(5000);
  MPI_Allreduce(in.data(), out.data(), 5000, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  CHECK(in == out);
  MPI_Reduce(MPI_IN_PLACE, out.data(), 5000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_SELF);
  CHECK(in == out);
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Comm single;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &single);
  for (int i = 0; i < 3; ++i) use(single, i);
  CHECK(std::strcmp(path(), "local") == 0, "'%s'", path());
  MPI_Comm_free(&single);
}

// Nonblocking calls wait for nobody, but they count: the first call after them in which all ranks
// wait for all sets the communicator up.
void test_set_up_after_nonblocking_calls() {
  if (ranks < 2) return;
  step("nonblocking calls come first");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  constexpr int kCalls = 6;
  int go = 1, sums[kCalls];
  MPI_Request requests[kCalls];
  // Rank 0 makes all of them before rank 1 makes one.
  if (rank == 1) MPI_Recv(&go, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < kCalls; ++i) {
    MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    const bool among_first = i < 2;
    CHECK_HANDED_DOWN(among_first ? "first calls on the communicator"
                                  : "no call in which all ranks wait for all has been made yet");
  }
  if (rank == 0) MPI_Send(&go, 1, MPI_INT, 1, 5, comm);
  MPI_Barrier(comm);
  CHECK_HANDED_DOWN("no call in which all ranks wait for all has been made yet");
  MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_SUM, comm);
  CHECK_TAKEN();
  CHECK(go == ranks, "%d", go);
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  for (const int sum : sums) CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
  MPI_Comm_free(&comm);
}

int deletions = 0, copies = 0;

int on_copy(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  ++copies;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

// An attribute's delete callback may use any communicator, even the one that is being freed.
int on_delete(MPI_Comm comm, int, void* value, void*) {
  ++deletions;
  use(comm, 10);
  use(*static_cast<MPI_Comm*>(value), 11);
  return MPI_SUCCESS;
}

// The program's attributes, set before and after Sumac's, are deleted after and before it. When the
// MPI uses a handle again, nothing remembered of the old communicator may be applied to the new
// one.
void test_attributes() {
  step("attributes");
  MPI_Comm other;
  int before, after, copied = copies;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_create_keyval(on_copy, on_delete, &before, nullptr);
  MPI_Comm_create_keyval(on_copy, on_delete, &after, nullptr);
  for (int i = 0; i < 5; ++i) {
    MPI_Comm comm, copy, own = MPI_COMM_NULL;
    // Rank 0 creates more communicators than the others, so that handles differ between ranks.
    if (rank == 0 && i % 2) MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
    MPI_Comm_set_attr(comm, before, &other);
    use(comm, i);
    MPI_Comm_set_attr(comm, after, &other);
    use(comm, i);
    const int deleted = deletions;
    MPI_Comm_dup(comm, &copy);
    use(copy, i);
    CHECK_TAKEN();
    MPI_Comm_free(&comm);
    use(copy, i);
    CHECK(deletions == deleted + 2, "%d", deletions - deleted);
    MPI_Comm_disconnect(&copy);
    CHECK(deletions == deleted + 4, "%d", deletions - deleted);
  }
  CHECK(copies == copied + 10, "%d", copies - copied);
  MPI_Comm_free_keyval(&before);
  MPI_Comm_free_keyval(&after);
  MPI_Comm_free(&other);
}

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF; everything must still work in their
// callbacks.
int at_finalize(MPI_Comm, int, void*, void*) {
  step("MPI_Finalize");
  use(MPI_COMM_WORLD, 12);
  MPI_Comm late;
  MPI_Comm_dup(MPI_COMM_WORLD, &late);
  use(late, 13);
  MPI_Comm_free(&late);
  int sum = -1;
  MPI_Request requests[2];
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
  if (failures > 0) _exit(1);
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  use(MPI_COMM_WORLD, 1);
  test_nested();
  test_freed_with_pending_receive();
  test_intercommunicator();
  test_alone();
  test_set_up_after_nonblocking_calls();
  test_attributes();
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  return finish();
}
