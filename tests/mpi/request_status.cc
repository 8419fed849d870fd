// SPDX-License-Identifier: BSD-3-Clause
// MPI_Request_get_status_all, _any and _some of MPI 4.1, which Sumac provides where the MPI lacks
// them. They must work on Sumac's and the MPI's own requests and leave both unchanged. Also the
// error fields of statuses when one of several requests fails.
#include <algorithm>
#include <vector>

#include "forms.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

using All = int (*)(int, const MPI_Request*, int*, MPI_Status*);
using Any = int (*)(int, const MPI_Request*, int*, int*, MPI_Status*);
using Some = int (*)(int, const MPI_Request*, int*, int*, MPI_Status*);

All get_status_all;
Any get_status_any;
Some get_status_some;

constexpr int kRequests = 7;

// Requests of collectives, of messages to and from a neighbour, and a null one. The last is
// persistent.
struct Mixture {
  MPI_Request requests[kRequests];
  int in = rank, sum = -1, word = -1, sent = rank, received = -1, again = -1;
  MPI_Comm comm;

  explicit Mixture(MPI_Comm c) : comm(c) {
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (rank == 0) word = 42;
    MPI_Irecv(&received, 1, MPI_INT, before, 5, comm, &requests[0]);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &requests[2]);
    requests[3] = MPI_REQUEST_NULL;
    MPI_Isend(&sent, 1, MPI_INT, next, 5, comm, &requests[4]);
    MPI_Ibarrier(comm, &requests[5]);
    inits().Allreduce(&in, &again, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[6]);
    MPI_Start(&requests[6]);
  }
  void check_and_end() {
    const int before = (rank + ranks - 1) % ranks, all = ranks * (ranks - 1) / 2;
    CHECK(received == before && sum == all && word == 42 && again == ranks - 1, "%d %d %d %d",
          received, sum, word, again);
    for (int i = 0; i < kRequests; ++i) {
      CHECK((requests[i] == MPI_REQUEST_NULL) == (i == 3), "request %d", i);
    }
    MPI_Status statuses[kRequests];
    MPI_Waitall(kRequests, requests, statuses);
    CHECK(statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == 5);
    MPI_Request_free(&requests[6]);
  }
};

void all_of_them(MPI_Comm comm, bool ignore) {
  step("all");
  Mixture mixture(comm);
  std::vector<MPI_Status> statuses(kRequests);
  for (int done = 0; !done;) {
    CHECK(get_status_all(kRequests, mixture.requests, &done,
                         ignore ? MPI_STATUSES_IGNORE : statuses.data()) == MPI_SUCCESS);
  }
  CHECK(ignore || statuses[0].MPI_TAG == 5, "%d", statuses[0].MPI_TAG);
  mixture.check_and_end();
}

// Asks for any completed request, and removes it from the array, until none is left.
void any_of_them(MPI_Comm comm) {
  step("any");
  Mixture mixture(comm);
  MPI_Request left[kRequests];
  std::copy(std::begin(mixture.requests), std::end(mixture.requests), left);
  for (int told = 0; told < kRequests - 1; ++told) {
    int index = -1, done = 0;
    MPI_Status status;
    while (!done) CHECK(get_status_any(kRequests, left, &index, &done, &status) == MPI_SUCCESS);
    if (!CHECK(index >= 0 && index < kRequests && left[index] != MPI_REQUEST_NULL, "%d", index)) {
      break;
    }
    left[index] = MPI_REQUEST_NULL;
  }
  int index = -1, done = 0;
  get_status_any(kRequests, left, &index, &done, MPI_STATUS_IGNORE);
  CHECK(done && index == MPI_UNDEFINED, "%d %d", done, index);
  MPI_Status empty;
  empty.MPI_ERROR = MPI_ERR_OTHER;
  get_status_any(kRequests, left, &index, &done, &empty);
  CHECK(empty.MPI_ERROR == MPI_SUCCESS && empty.MPI_SOURCE == MPI_ANY_SOURCE);
  mixture.check_and_end();
}

void some_of_them(MPI_Comm comm) {
  step("some");
  Mixture mixture(comm);
  int count = 0;
  std::vector<int> indices(kRequests);
  MPI_Status statuses[kRequests];
  while (count < kRequests - 1) {
    CHECK(get_status_some(kRequests, mixture.requests, &count, indices.data(), statuses) ==
          MPI_SUCCESS);
  }
  const std::vector<int> expected{0, 1, 2, 4, 5, 6};
  indices.resize(expected.size());
  CHECK(count == 6 && indices == expected, "%d", count);
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  get_status_some(2, none, &count, indices.data(), statuses);
  CHECK(count == MPI_UNDEFINED, "%d", count);
  mixture.check_and_end();
}

// One message is longer than its receive buffer; the collectives around it succeed. `busy`: an
// operation that is not waited for is under way.
void one_fails(MPI_Comm comm, bool busy) {
  step("one of several fails, %s", busy ? "others under way" : "nothing else");
  return_errors(comm);
  int in = rank, sum[2] = {-1, -1}, sent[4] = {1, 2, 3, 4}, received = -1;
  MPI_Request requests[4];
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Iallreduce(&in, &sum[0], 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Irecv(&received, 1, MPI_INT, before, 6, comm, &requests[1]);
  MPI_Isend(sent, 4, MPI_INT, next, 6, comm, &requests[2]);
  MPI_Iallreduce(&in, &sum[1], 1, MPI_INT, MPI_SUM, comm, &requests[3]);
  MPI_Status statuses[4];
  for (MPI_Status& status : statuses) status.MPI_ERROR = 12345;
  const bool early = busy && rank < ranks - 1;
  MPI_Request other = MPI_REQUEST_NULL;
  if (early) MPI_Ibarrier(MPI_COMM_WORLD, &other);
  const int error = MPI_Waitall(4, requests, statuses);
  if (busy && !early) MPI_Ibarrier(MPI_COMM_WORLD, &other);
  MPI_Wait(&other, MPI_STATUS_IGNORE);
  const int error_class = class_of(error);
  CHECK(error_class == MPI_ERR_IN_STATUS, "%d", error_class);
  for (const int i : {0, 3}) {
    CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS, "%d: %d", i, statuses[i].MPI_ERROR);
  }
  CHECK(statuses[1].MPI_ERROR != MPI_SUCCESS && statuses[1].MPI_ERROR != 12345);
  CHECK(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == sum[0], "%d %d", sum[0], sum[1]);
  die_of_errors(comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  get_status_all = in_sumac<All>("MPI_Request_get_status_all");
  get_status_any = in_sumac<Any>("MPI_Request_get_status_any");
  get_status_some = in_sumac<Some>("MPI_Request_get_status_some");
  const bool some_is_right =
      some_reports_again(native_function<Some>("MPI_Request_get_status_some"));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 8; ++round) {
    all_of_them(comm, round % 2);
    any_of_them(comm);
    if (some_is_right) some_of_them(comm);
    if (round == 0) warm_up(comm);
  }
  warm_up(MPI_COMM_WORLD);
  for (const bool busy : {false, true}) one_fails(comm, busy);
  int in = rank, sum = -1;
  MPI_Request request;
  forget_path();
  MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  expect_taken_nonblocking("Iallreduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  return finish();
}
