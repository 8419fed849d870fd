// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads, each of which makes, uses and frees communicators of its
// own all the time; and threads that complete what others have started. Random programs
// (tests/random) have threads of which each completes its own operations.
// threads [ROUNDS]
#include <barrier>
#include <thread>
#include <vector>

#include "completion.h"
#include "exercise.h"

namespace {

using namespace test;

constexpr std::size_t kThreads = 4;

// Calls act(thread) in each of them.
template <class Act>
void in_threads(Act act) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) threads.emplace_back([&act, t] { act(t); });
  for (std::thread& thread : threads) thread.join();
}

void make_and_use(const Group& group, int thread, int rounds) {
  const MPI_Comm comm = group.comm;
  Random random(static_cast<std::uint64_t>(thread));
  int taken = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 20; ++i) use(comm, round + thread);
    taken += was_taken();
    Call large({.what = What::allreduce,
                .numbers = round % 2 ? &ints() : &doubles(),
                .counts = {1 + random.below(60000)},
                .seed = static_cast<std::uint64_t>(round)},
               group);
    large.begin();
    large.check();
    MPI_Comm mine;
    if (round % 3 == 0) {
      MPI_Comm_dup(comm, &mine);
    } else {
      MPI_Comm_split(comm, 0, -rank, &mine);
    }
    use(mine, round);
    use(mine, round + 1);
    MPI_Comm_free(&mine);
    MPI_Barrier(comm);
  }
  CHECK(taken == rounds, "%d of %d rounds", taken, rounds);
}

// What the threads of the process share: their communicators, and what they have started.
struct Shared {
  std::vector<Group> groups;
  std::vector<std::vector<std::unique_ptr<Work>>> started{kThreads};
  std::barrier<> all{kThreads};
};

std::unique_ptr<Work> start_one(const Group& group, int number) {
  constexpr What kWhats[] = {What::allreduce, What::reduce, What::bcast, What::barrier};
  constexpr std::size_t kCounts[] = {1, 14, 500, 20000, 7};
  Case c{.what = kWhats[number % 4],
         .counts = {kCounts[number % 5]},
         .root = number % group.size(),
         .form = Form::nonblocking,
         .seed = static_cast<std::uint64_t>(number)};
  c.in_place = number % 3 == 0;
  c.large = number % 7 == 0 && c.what != What::barrier;
  if (c.what == What::bcast && number % 8 == 6) {
    c.counts = {300};
    c.gets = {blocks("blocks of ", ints(), 100, 3, 5)};
    c.frees_types = true;
  }
  auto begun = std::make_unique<Begun>(c, group);
  if (group.size() > 1) expect_taken_nonblocking("in a thread");
  return begun;
}

// Each thread completes what its neighbour has started, while the neighbour goes on with blocking
// calls.
void hand_over(Shared& shared, std::size_t thread, int rounds) {
  const Group& group = shared.groups[thread];
  Random own(thread * 64 + static_cast<std::uint64_t>(rank));
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 8; ++i) shared.started[thread].push_back(start_one(group, 8 * round + i));
    shared.all.arrive_and_wait();
    Pending taken_over(own);
    for (auto& work : shared.started[(thread + 1) % kThreads]) taken_over.add(std::move(work));
    const bool first = thread % 2;
    if (first) use(group.comm, 1);
    taken_over.complete_all();
    if (!first) use(group.comm, 2);
    shared.all.arrive_and_wait();
    shared.started[thread].clear();
  }
}

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
  if (provided != MPI_THREAD_MULTIPLE) return end_without_threads();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  step("%d rounds in %zu threads", rounds, kThreads);
  Shared shared;
  for (std::size_t t = 0; t < kThreads; ++t) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    shared.groups.push_back(group_of(comm));
  }
  whole_kinds();  // made before there are threads
  in_threads([&](std::size_t t) {
    make_and_use(shared.groups[t], static_cast<int>(t), rounds);
    hand_over(shared, t, rounds);
  });
  start_beside_a_wait(shared.groups[0].comm);
  use(MPI_COMM_WORLD, 1);
  for (Group& group : shared.groups) MPI_Comm_free(&group.comm);
  return finish();
}
