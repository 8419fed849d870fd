// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent operations that Sumac leaves to the MPI: user-defined operations,
// pairs of value and index, intercommunicators. Operations of Sumac's own are under way at the same
// time.
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

// Checks that the operation just started was handed down for this reason.
void expect_handed_down(const char* reason) {
  if (require_taken) CHECK_HANDED_DOWN(reason);
}

// Not commutative: with two ranks the digits are in rank order. With more the result would depend
// on how the MPI associates the operations, so more ranks use a sum.
void two_digits(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* from = static_cast<int*>(in);
  auto* to = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) to[i] += from[i] * 10;
}

void sum_of(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* from = static_cast<int*>(in);
  auto* to = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) to[i] += from[i];
}

void user_operation(std::size_t count) {
  step("user-defined operation on %zu numbers", count);
  const int n = static_cast<int>(count);
  const int expected = ranks == 2 ? 12 : ranks * (ranks + 1) / 2;
  std::vector<int> in(count, rank + 1), out(count, -1), again(count, -1), served(count, -1);
  MPI_Op op;
  MPI_Op_create(ranks == 2 ? two_digits : sum_of, ranks != 2, &op);
  MPI_Request requests[3];
  inits().Allreduce(in.data(), again.data(), n, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[1]);
  expect_handed_down("user-defined operation");
  for (int round = 0; round < 4; ++round) {
    out.assign(count, -1);
    again.assign(count, -1);
    MPI_Iallreduce(in.data(), out.data(), n, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
    expect_handed_down("user-defined operation");
    forget_path();
    MPI_Iallreduce(in.data(), served.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    expect_taken_nonblocking(step_text);
    MPI_Start(&requests[1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(out.front() == expected && out.back() == expected, "%d", out[0]);
    CHECK(again.front() == expected && again.back() == expected, "%d", again[0]);
    CHECK(served.front() == ranks * (ranks + 1) / 2, "%d", served[0]);
  }
  MPI_Request_free(&requests[1]);
  MPI_Ireduce(in.data(), out.data(), n, MPI_INT, op, ranks - 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Op_free(&op);  // before the operation has ended
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(rank != ranks - 1 || out.back() == expected, "%d", out.back());
}

void pairs() {
  step("pairs of value and place");
  struct Pair {
    double value;
    int place;
  };
  const Pair mine{static_cast<double>((rank + 1) % ranks), rank};
  Pair least{}, most{};
  MPI_Request requests[2];
  MPI_Iallreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD, &requests[0]);
  if (require_taken) CHECK(was_taken(), "path '%s'", path());
  inits().Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[1]);
  if (require_taken) CHECK(was_taken(), "path '%s'", path());
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(least.value == 0 && least.place == ranks - 1, "%g %d", least.value, least.place);
    const int last = (ranks - 2 + ranks) % ranks;
    CHECK(most.value == ranks - 1 && most.place == last, "%g %d", most.value, most.place);
    most = Pair{};
  }
  MPI_Request_free(&requests[1]);
}

// Even ranks form one group, odd ranks the other.
void intercommunicator() {
  step("inter-communicator");
  MPI_Comm side, between;
  const int odd = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - odd, 7, &between);
  int others;
  MPI_Comm_remote_size(between, &others);
  for (int round = 0; round < 4; ++round) {
    int one = 1, sum = -1, word = rank == 0 ? round : -1, total = -1;
    const int root = odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between, &requests[0]);
    if (require_taken) CHECK(!was_taken(), "path '%s'", path());
    MPI_Ibcast(&word, 1, MPI_INT, root, between, &requests[1]);
    MPI_Ireduce(&one, &total, 1, MPI_INT, MPI_SUM, root, between, &requests[2]);
    MPI_Ibarrier(between, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == others, "%d of %d", sum, others);
    CHECK(word == (odd || rank == 0 ? round : -1), "%d", word);
    CHECK(rank != 0 || total == others, "%d of %d", total, others);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&side);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  for (std::size_t count : {1, 14, 600, 30000}) {
    user_operation(count);
    use(MPI_COMM_WORLD, static_cast<int>(count));
  }
  pairs();
  intercommunicator();
  use(MPI_COMM_WORLD, 1);
  CHECK_TAKEN();
  return finish();
}
