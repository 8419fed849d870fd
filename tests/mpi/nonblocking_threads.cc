// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: each thread starts nonblocking and blocking operations on its own
// communicators; another thread may complete what it has started.
// nonblocking_threads ROUNDS
#include <unistd.h>

#include <barrier>
#include <thread>
#include <vector>

#include "completion.h"
#include "exercise.h"
#include "random_cases.h"

namespace {

using namespace test;

constexpr int kThreads = 4;

// Data shared by all threads of the process.
struct Shared {
  std::vector<Group> groups;
  std::vector<std::vector<std::unique_ptr<Work>>> started{kThreads};
  std::barrier<> all{kThreads};
};

class Thread {
 public:
  Thread(Shared& shared, int number, int rounds)
      : shared_(shared),
        group_(shared.groups[static_cast<std::size_t>(number)]),
        number_(static_cast<std::size_t>(number)),
        rounds_(rounds),
        same_(static_cast<std::uint64_t>(number)),
        own_(same_.next() + static_cast<std::uint64_t>(rank)) {}

  void run() {
    for (int round = 0; round < rounds_; ++round) {
      alone(round);
      handing_over();
    }
  }

 private:
  std::unique_ptr<Work> start_one() {
    const Case c = random_case(same_, Form::nonblocking, group_.size());
    auto begun = std::make_unique<Begun>(c, group_);
    if (group_.size() > 1) expect_taken_nonblocking("in a thread");
    return begun;
  }

  // Only this thread uses its requests.
  void alone(int round) {
    Pending pending(own_);
    for (int i = 0; i < 20; ++i) {
      pending.add(start_one());
      if (same_.below(4) == 0) use(group_.comm, round + i);
      if (own_.below(6) == 0) pending.complete_some();
    }
    pending.complete_all();
  }

  // Each thread completes what its neighbour has started, while the neighbour goes on with blocking
  // calls.
  void handing_over() {
    for (int i = 0; i < 8; ++i) shared_.started[number_].push_back(start_one());
    shared_.all.arrive_and_wait();
    Pending taken_over(own_);
    for (auto& work : shared_.started[(number_ + 1) % kThreads]) taken_over.add(std::move(work));
    const bool first = number_ % 2;
    if (first) use(group_.comm, 1);
    taken_over.complete_all();
    if (!first) use(group_.comm, 2);
    shared_.all.arrive_and_wait();
    shared_.started[number_].clear();
  }

  Shared& shared_;
  const Group& group_;
  std::size_t number_;
  int rounds_;
  Random same_, own_;  // same_ draws the same on all ranks
};

// On rank 0 one thread waits for an operation while another starts the next operation and sends a
// message. Rank 1 starts neither operation before it has that message.
void start_beside_a_wait(MPI_Comm comm) {
  step("an operation started while another thread waits on the communicator");
  int in = rank + 1, out[2] = {-1, -1}, word = 7;
  MPI_Request requests[2];
  if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&in, &out[0], 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  std::thread waiting([&] { MPI_Wait(&requests[0], MPI_STATUS_IGNORE); });
  if (rank == 0) usleep(20000);  // so that the other thread is probably waiting
  MPI_Iallreduce(&in, &out[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 3, comm);
  waiting.join();
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  for (int sum : out) CHECK(sum == ranks * (ranks + 1) / 2, "%d", sum);
}

}  // namespace

int main(int argc, char** argv) {
  const int provided = start(argc, argv, MPI_THREAD_MULTIPLE);
  if (provided != MPI_THREAD_MULTIPLE) {
    skip("this MPI does not grant MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  step("%d rounds in %d threads", rounds, kThreads);
  Shared shared;
  for (int t = 0; t < kThreads; ++t) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(warm_up(comm), "path '%s'", path());
    shared.groups.push_back(group_of(comm));
  }
  whole_kinds();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shared, t, rounds] { Thread(shared, t, rounds).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  start_beside_a_wait(shared.groups[0].comm);
  use(MPI_COMM_WORLD, 1);
  for (Group& group : shared.groups) MPI_Comm_free(&group.comm);
  return finish();
}
