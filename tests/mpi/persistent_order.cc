// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives are matched in the order of their initialisation, in whatever order the
// ranks start them, relative to each other and to other collectives. Also requests that are freed
// or tested without having been waited for.
// persistent_order SEEDS      0: only the start that comes seconds late
#include <algorithm>
#include <numeric>
#include <vector>

#include "cases.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

// An operation that is initialised once and started many times, each time with new data.
class Operation : public Call {
 public:
  Operation(int number, std::size_t count, MPI_Comm comm)
      : Call(case_of(number, count), group_of(comm)), number_(number) {
    CHECK(begin() == MPI_SUCCESS);
    expect_taken_nonblocking("init");
  }
  void take_data_of(int round) { fill(static_cast<std::uint64_t>(1000 * number_ + round)); }
  void start(int round) {
    take_data_of(round);
    Call::start();
  }

 private:
  static Case case_of(int number, std::size_t count) {
    constexpr What kWhats[] = {What::allreduce, What::bcast, What::reduce, What::barrier};
    return {.what = kWhats[number % 4],
            .numbers = number % 4 == 2 ? &whole_kinds()[0] : &ints(),
            .counts = {count},
            .root = number % ranks,
            .form = Form::persistent};
  }
  int number_;
};

using Operations = std::vector<std::unique_ptr<Operation>>;

Operations make_operations(std::size_t count, std::uint64_t seed, MPI_Comm comm) {
  constexpr std::size_t kCounts[] = {0, 1, 14, 15, 500, 3000, 20000, 70000};
  Operations operations;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = kCounts[(i + seed) % std::size(kCounts)];
    operations.push_back(std::make_unique<Operation>(static_cast<int>(i), size, comm));
  }
  return operations;
}

// Each rank starts the operations in a permutation of its own, one by one or by MPI_Startall, which
// starts them in the order of the array; one rank waits for each before it starts the next.
void in_any_order(std::uint64_t seed, MPI_Comm comm) {
  step("any order, seed %lu", static_cast<unsigned long>(seed));
  Operations operations = make_operations(4 + 5 * (seed % 5), seed, comm);
  Random own(seed * 1000 + static_cast<std::uint64_t>(rank));
  std::vector<std::size_t> order(operations.size());
  for (int round = 0; round < 4; ++round) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool one_by_one = rank == round % ranks;
    if (!one_by_one) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[own.below(i)]);
    }
    const bool by_startall = !one_by_one && own.below(2);
    std::vector<MPI_Request> requests;
    for (const std::size_t i : order) {
      if (by_startall) {
        operations[i]->take_data_of(round);
      } else {
        operations[i]->start(round);
      }
      if (one_by_one) MPI_Wait(&operations[i]->request, MPI_STATUS_IGNORE);
      requests.push_back(operations[i]->request);
    }
    const int count = static_cast<int>(requests.size());
    if (by_startall) MPI_Startall(count, requests.data());
    for (std::size_t k = 0; k < order.size(); ++k) {
      CHECK(requests[k] == operations[order[k]]->request, "a start changes a request");
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& operation : operations) operation->check();
  }
}

// Ranks may also order a start differently relative to blocking and nonblocking calls.
void among_others(std::uint64_t seed, MPI_Comm comm) {
  step("among others, seed %lu", static_cast<unsigned long>(seed));
  Operations operations = make_operations(6, seed, comm);
  for (int round = 0; round < 3; ++round) {
    for (int call = 0; call < 6; ++call) {
      const auto mine = static_cast<std::size_t>((call + rank + round) % 6);
      operations[mine]->start(round);
      int in = rank, sum = -1, later = -1;
      MPI_Request request;
      MPI_Iallreduce(&in, &later, 1, MPI_INT, MPI_MAX, comm, &request);
      if (call % 2) MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
      CHECK(call % 2 == 0 || sum == ranks * (ranks - 1) / 2, "%d", sum);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(later == ranks - 1, "%d", later);
    }
    for (const auto& operation : operations) {
      MPI_Wait(&operation->request, MPI_STATUS_IGNORE);
      operation->check();
    }
  }
}

struct Pair {
  double value;
  int index;
};

// Sumac unpacks data with gaps after the operation has ended: it must never do so twice, nor for an
// operation that was not started.
void freed_when_inactive(MPI_Comm comm) {
  step("freed when inactive");
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (const bool started : {false, true}) {
    std::vector<int> data(8, rank == 0 ? 5 : -1);
    Pair in{1.0 + rank, rank}, out{-1, -1};
    MPI_Request requests[2];
    inits().Bcast(data.data(), 1, column, 0, comm, MPI_INFO_NULL, &requests[0]);
    inits().Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm, MPI_INFO_NULL, &requests[1]);
    if (started) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      CHECK(data[0] == 5 && out.value == 1.0 && out.index == 0, "%d %g", data[0], out.value);
    }
    std::fill(data.begin(), data.end(), 77);
    out = {77, 77};
    for (MPI_Request& request : requests) MPI_Request_free(&request);
    const bool untouched = std::all_of(data.begin(), data.end(), [](int i) { return i == 77; });
    CHECK(untouched && out.value == 77 && out.index == 77, "started %d", started);
    MPI_Barrier(comm);
  }
  MPI_Type_free(&column);
}

// After MPI_Request_get_status has reported completion the program may write to the buffer: a later
// wait must not change it.
void told_by_get_status(MPI_Comm comm) {
  step("told by get_status");
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < 6; ++round) {
    std::vector<int> data(8, rank == 0 ? round : -1);
    Pair in{1.0 + rank, rank}, out{-1, -1};
    MPI_Request requests[2];
    MPI_Ibcast(data.data(), 1, column, 0, comm, &requests[0]);
    MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm, &requests[1]);
    for (int done = 0, i = 0; i < 2; i += done) {
      done = 0;
      MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    }
    CHECK(data[6] == round && out.value == 1.0 && out.index == 0, "%d %g", data[6], out.value);
    std::fill(data.begin(), data.end(), 77);
    out = {77, 77};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(data[6] == 77 && out.value == 77 && out.index == 77, "%d %g", data[6], out.value);
    MPI_Barrier(comm);
  }
  MPI_Type_free(&column);
}

// Starting an active or a nonblocking request must fail and must not disturb it.
void started_when_it_may_not(MPI_Comm comm) {
  step("started when it may not be");
  MPI_Comm_set_errhandler(comm, errors_return());
  int in = rank, out[2] = {-1, -1};
  MPI_Request requests[2];
  forget_path();
  inits().Allreduce(&in, &out[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  const bool own = was_taken();
  MPI_Iallreduce(&in, &out[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Start(&requests[0]);
  if (own && require_taken) {  // an MPI's own may crash
    for (MPI_Request& request : requests) CHECK(MPI_Start(&request) != MPI_SUCCESS);
    CHECK(MPI_Startall(2, requests) != MPI_SUCCESS);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(out[0] == ranks * (ranks - 1) / 2 && out[1] == out[0], "%d %d", out[0], out[1]);
  // MPI_Waitany must make the request inactive, so that it can be started again.
  for (int round = 0; round < 3; ++round) {
    out[0] = -1;
    CHECK(MPI_Start(&requests[0]) == MPI_SUCCESS);
    int index = -1;
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == 0 && out[0] == ranks * (ranks - 1) / 2, "%d %d", index, out[0]);
  }
  MPI_Request_free(&requests[0]);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

// A rank that waits for long checks for calls that differ between ranks: a rank that only computes
// must not be reported.
void started_late(MPI_Comm comm) {
  step("started late");
  Operation operation(0, 3, comm);
  if (rank == 0) usleep(2'500'000);
  operation.start(1);
  MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
  operation.check();
}

void in_all_orders(std::uint64_t seeds, MPI_Comm comm) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    in_any_order(seed, comm);
    among_others(seed, seed % 2 ? comm : MPI_COMM_WORLD);
  }
  freed_when_inactive(comm);
  told_by_get_status(comm);
  started_when_it_may_not(comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const auto seeds = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 5);
  if (!has_persistent()) return finish();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  warm_up(MPI_COMM_WORLD);
  if (seeds == 0) {
    started_late(comm);
  } else {
    in_all_orders(seeds, comm);
  }
  MPI_Comm_free(&comm);
  return finish();
}
