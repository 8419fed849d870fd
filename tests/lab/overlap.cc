// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives over several hosts: who serves them, the bits of the
// blocking calls with many outstanding, and communicators that are freed before operations end.
// Sumac serves them within a host. Between hosts it serves them if every MPI call makes messages
// progress: in Open MPI, and in MPICH with --multiple.
// overlap [ROUNDS] [--multiple]
#include <algorithm>

#include "../mpi/cases.h"
#include "../mpi/persistent.h"

namespace {

using namespace test;

bool messages_go_on() {
#ifdef OPEN_MPI
  return true;
#else
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
#endif
}

// A communicator; `mine` is true if Sumac serves operations started on it.
struct OfHosts : Group {
  bool mine = false;
};

OfHosts served(MPI_Comm comm, const Group& host) {
  OfHosts group{group_of(comm), false};
  CHECK(warm_up(comm), "path '%s'", path());
  const auto here = [&](int member) {
    return std::find(host.members.begin(), host.members.end(), member) != host.members.end();
  };
  group.mine = messages_go_on() || std::all_of(group.members.begin(), group.members.end(), here);
  return group;
}

void expect(const OfHosts& group) {
  if (!group.mine) {
    CHECK_HANDED_DOWN("nonblocking, and nothing would make it go on while the program computes");
  } else if (!was_handed_down("the rules prefer the MPI here")) {
    CHECK(was_taken(), "%s: path '%s'", step_text, path());
  }
}

void whose(const OfHosts& group) {
  const Sweep all{.whats = {What::allreduce, What::reduce, What::bcast, What::barrier},
                  .counts = {1, 500, 9000, 70000},
                  .roots = {group.size() - 1}};
  all.for_each([&](Case& c, std::uint64_t) {
    c.form = Form::nonblocking;
    Call once(c, group);
    c.form = Form::persistent;
    Call again(c, group);
    step("%s", once.text().c_str());
    once.begin();
    expect(group);
    again.begin();
    if (!group.mine) expect(group);
    again.start();
    if (group.mine) expect(group);
    once.wait();
    again.wait();
    once.check();
    again.check();
  });
}

// A sum of fractions by a nonblocking operation, which must have the bits of the blocking call.
struct Sum {
  Sum(std::size_t count, int to, std::uint64_t seed) : root(to), in(count), out(count) {
    for (std::size_t i = 0; i < count; ++i) in[i] = value<float>(rank, i, seed);
  }
  int count() const { return static_cast<int>(in.size()); }
  void start(MPI_Comm comm) {
    if (root < 0) {
      MPI_Iallreduce(in.data(), out.data(), count(), MPI_FLOAT, MPI_SUM, comm, &request);
    } else {
      MPI_Ireduce(in.data(), out.data(), count(), MPI_FLOAT, MPI_SUM, root, comm, &request);
    }
  }
  std::vector<float> blocking(MPI_Comm comm) const {
    std::vector<float> sums(in.size());
    if (root < 0) {
      MPI_Allreduce(in.data(), sums.data(), count(), MPI_FLOAT, MPI_SUM, comm);
    } else {
      MPI_Reduce(in.data(), sums.data(), count(), MPI_FLOAT, MPI_SUM, root, comm);
    }
    return sums;
  }
  int root;  // -1 means an all-reduce
  std::vector<float> in, out;
  MPI_Request request = MPI_REQUEST_NULL;
};

void same_bits(const OfHosts& group, std::uint64_t seed) {
  if (!group.mine) return;
  step("bits, %d ranks, round %d", group.size(), static_cast<int>(seed));
  Random shared(seed);
  const auto size = static_cast<std::uint64_t>(group.size());
  std::vector<Sum> sums;
  for (int i = 0; i < 30; ++i) {
    const std::size_t count = shared.below(5) ? shared.below(3000) : shared.below(60000);
    sums.emplace_back(1 + count, static_cast<int>(shared.below(size + 2)) % (group.size() + 1) - 1,
                      seed + static_cast<std::uint64_t>(i));
  }
  std::vector<MPI_Request> requests;
  for (Sum& sum : sums) {
    sum.start(group.comm);
    expect(group);
    requests.push_back(sum.request);
  }
  // Completes every other request before those around it.
  for (std::size_t i = requests.size(); i > 0; i -= 2) {
    MPI_Wait(&requests[i - 1], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const Sum& sum : sums) {
    const std::vector<float> expected = sum.blocking(group.comm);
    if (sum.root >= 0 && sum.root != group.rank) continue;
    CHECK(std::memcmp(expected.data(), sum.out.data(), expected.size() * sizeof(float)) == 0,
          "%zu numbers to %d, %s, blocking '%s'", expected.size(), sum.root, step_text, path());
  }
}

// An operation of the MPI's own that is under way when the communicator is freed: a collective, or
// in Open MPI, which crashes then, a message.
struct Foreign {
  explicit Foreign(MPI_Comm comm) : out(static_cast<std::size_t>(ranks), rank), in(out.size(), -1) {
#ifdef OPEN_MPI
    if (rank == 0) MPI_Irecv(&in.back(), 1, MPI_INT, ranks - 1, 3, comm, &request);
    if (rank == ranks - 1) MPI_Send(&rank, 1, MPI_INT, 0, 3, comm);
#else
    MPI_Ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &request);
#endif
  }
  std::vector<int> out, in;
  MPI_Request request = MPI_REQUEST_NULL;
};

// The MPI then deletes the rest of the communicator in whatever call its own operation ends, even
// in a call that Sumac makes in the background.
void freed_under_the_mpi(int round) {
  step("freed under the MPI, round %d", round);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  MPI_Request requests[3];
  MPI_Ibarrier(comm, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (rank == ranks - 1) usleep(20000);
  Foreign foreign(comm);
  requests[0] = foreign.request;
  MPI_Comm_free(&comm);
  int sums[2] = {-1, -1};
  MPI_Iallreduce(&rank, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  if (rank == 0) usleep(60000);
  MPI_Iallreduce(&rank, &sums[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  if (rank == 1) usleep(100000);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(rank != 0 || foreign.in.back() == ranks - 1, "%d", foreign.in.back());
  for (int sum : sums) CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
}

// Frees a communicator with many operations outstanding, makes others in its place, and then
// completes the operations.
void freed_with_operations(int round) {
  step("freed with operations, round %d", round);
  MPI_Comm comm, next;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  const bool mine = messages_go_on();
  std::vector<Sum> sums;
  for (std::size_t i = 0; i < 12; ++i) sums.emplace_back(1 + i * i * 400, -1, i);
  std::vector<std::vector<float>> expected;
  for (Sum& sum : sums) expected.push_back(sum.blocking(MPI_COMM_WORLD));
  std::vector<MPI_Request> requests;
  for (Sum& sum : sums) {
    sum.start(comm);
    requests.push_back(sum.request);
  }
  if (mine) MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  warm_up(next);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < sums.size() && mine; ++i) {
    CHECK(std::memcmp(expected[i].data(), sums[i].out.data(), expected[i].size() * sizeof(float)) ==
              0,
          "%zu numbers", expected[i].size());
  }
  if (!mine) MPI_Comm_free(&comm);
  MPI_Comm_free(&next);
}

// A persistent request can still be started after its communicator has been freed.
void started_after_freed() {
  step("started after the communicator was freed");
  if (!messages_go_on()) return;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  std::vector<int> in(20000, rank), out(in.size());
  MPI_Request requests[2];
  inits().Allreduce(in.data(), out.data(), 20000, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                    &requests[0]);
  inits().Barrier(comm, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < 6; ++i) {
    if (i == 3) MPI_Comm_free(&comm);
    std::fill(out.begin(), out.end(), -1);
    MPI_Startall(2, requests);
    if (rank == i % ranks) usleep(3000);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    const int sum = ranks * (ranks - 1) / 2;
    CHECK(out.front() == sum && out.back() == sum, "%d %d", out.front(), out.back());
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

// The program ends without freeing a persistent request.
void left_for_finalize() {
  static int in = rank, out = -1;
  MPI_Request request;
  inits().Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out == ranks * (ranks - 1) / 2, "%d", out);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2;
  require_taken = true;  // path() is then checked for each operation
  MPI_Comm host, across, back;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  const Group own = group_of(host);
  MPI_Comm_split(MPI_COMM_WORLD, own.rank, rank, &across);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
  std::vector<OfHosts> groups;
  for (MPI_Comm comm : {MPI_COMM_WORLD, host, across, back}) {
    if (group_of(comm).size() > 1) groups.push_back(served(comm, own));
  }
  for (const OfHosts& group : groups) whose(group);
  for (int round = 0; round < rounds; ++round) {
    for (const OfHosts& group : groups) same_bits(group, static_cast<std::uint64_t>(round));
    freed_with_operations(round);
    freed_under_the_mpi(round);
  }
  started_after_freed();
  left_for_finalize();
  for (MPI_Comm* comm : {&host, &across, &back}) MPI_Comm_free(comm);
  require_taken = false;
  return finish();
}
