// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 starts operations and then blocks in a call that ends only when the other ranks have
// completed these operations. A library that makes progress only while the owner waits deadlocks
// here. Each case has its own alarm.
// trap [STRIDE]: every STRIDE-th of all cases
#include <deque>
#include <functional>
#include <vector>

#include "cases.h"

namespace {

using namespace test;

constexpr int kLarge = 1 << 20;  // bytes: far beyond any eager limit
constexpr std::size_t kMany = 20;
int stride = 1;

constexpr unsigned kCaseSeconds = 30;
MPI_Comm other;  // for the calls in which rank 0 blocks; no operation uses it

// Rank 0 blocks in `before_wait`. The other ranks call `after_wait`, which releases it, after their
// operations have ended.
struct Blocker {
  const char* name;
  std::function<void()> before_wait, after_wait;
};

std::vector<char>& large() {
  static std::vector<char> buffer(kLarge);
  return buffer;
}

void receive() { MPI_Recv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
void send() {
  if (rank == 1) MPI_Send(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
}
void large_send() { MPI_Send(large().data(), kLarge, MPI_CHAR, 1, 1, MPI_COMM_WORLD); }
void large_receive() {
  if (rank != 1) return;
  MPI_Recv(large().data(), kLarge, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void ssend() { MPI_Ssend(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD); }
void ssend_taken() {
  if (rank != 1) return;
  MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void probe() {
  MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  receive();
}
void matched_probe() {
  MPI_Message message;
  MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(nullptr, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
}
void iprobe() {
  for (int flag = 0; !flag;) MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  receive();
}
void exchange() {
  if (rank > 1) return;
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got == 1 - rank, "%d", got);
}

// Completion functions, on a request that does not belong to the operations.
template <class Complete>
std::function<void()> receive_by(Complete complete) {
  return [complete] {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    complete(requests);
    CHECK(requests[1] == MPI_REQUEST_NULL);
  };
}
void by_wait(MPI_Request* requests) { MPI_Wait(&requests[1], MPI_STATUS_IGNORE); }
void by_waitall(MPI_Request* requests) { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); }
void by_waitany(MPI_Request* requests) {
  int index;
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
void by_waitsome(MPI_Request* requests) {
  int count, indices[2];
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}
void by_test(MPI_Request* requests) {
  for (int flag = 0; !flag;) MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
}
void by_testall(MPI_Request* requests) {
  for (int flag = 0; !flag;) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
}
void by_get_status(MPI_Request* requests) {
  for (int flag = 0; !flag;) MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
  by_wait(requests);
}

// Collectives on another communicator.
std::function<void()> collective(What what, std::size_t count, int root,
                                 Form form = Form::blocking) {
  return [=] {
    run({.what = what, .counts = {count}, .root = root, .form = form}, group_of(other),
        Served::anyhow);
  };
}
void comm_dup() {
  MPI_Comm made;
  MPI_Comm_dup(other, &made);
  MPI_Comm_free(&made);
}
void comm_split() {
  MPI_Comm made;
  MPI_Comm_split(other, 0, -rank, &made);
  MPI_Comm_free(&made);
}

// Rank 0 makes no MPI call for a while: the operations must end all the same.
void away() { usleep(300000); }
void computing() {
  std::uint64_t busy = 1;
  for (int i = 0; i < 100000000; ++i) busy = mix(busy);
  CHECK(busy != 0);
}
void nothing() {}

Blocker both(const char* name, const std::function<void()>& call) { return {name, call, call}; }

const std::vector<Blocker>& blockers() {
  static const std::vector<Blocker> all{
      {"Recv", receive, send},
      {"Send", large_send, large_receive},
      {"Ssend", ssend, ssend_taken},
      {"Probe", probe, send},
      {"Mprobe", matched_probe, send},
      {"Iprobe", iprobe, send},
      {"Sendrecv", exchange, exchange},
      {"Wait", receive_by(by_wait), send},
      {"Waitall", receive_by(by_waitall), send},
      {"Waitany", receive_by(by_waitany), send},
      {"Waitsome", receive_by(by_waitsome), send},
      {"Test", receive_by(by_test), send},
      {"Testall", receive_by(by_testall), send},
      {"Request_get_status", receive_by(by_get_status), send},
      both("Barrier", collective(What::barrier, 0, 0)),
      both("Allreduce", collective(What::allreduce, 1, 0)),
      both("Reduce", collective(What::reduce, 50000, 0)),
      both("Bcast", collective(What::bcast, 1, 1)),
      both("Allgather", collective(What::allgather, 1, 0)),
      both("Alltoall", collective(What::alltoall, 1, 0)),
      both("Iallreduce", collective(What::allreduce, 1, 0, Form::nonblocking)),
      {"Comm_dup", comm_dup, comm_dup},
      {"Comm_split", comm_split, comm_split},
  };
  return all;
}

const std::vector<Blocker> kAbsences{{"sleep", away, nothing}, {"computation", computing, nothing}};

struct Operation {
  What what;
  int root;  // -1: the last rank
};
constexpr Operation kOperations[] = {{What::allreduce, 0}, {What::reduce, -1}, {What::reduce, 0},
                                     {What::bcast, 0},     {What::bcast, -1},  {What::barrier, 0}};

void one_case(const Operation& operation, std::size_t bytes, std::size_t many,
              const Blocker& blocker) {
  alarm(kCaseSeconds);
  std::deque<Call> calls;
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < many; ++i) {
    Call& call = calls.emplace_back(Case{.what = operation.what,
                                         .counts = {bytes / sizeof(int)},
                                         .root = operation.root < 0 ? ranks - 1 : operation.root,
                                         .form = Form::nonblocking,
                                         .seed = i + bytes});
    step("%zu times, rank 0 in %s: %s", many, blocker.name, call.text().c_str());
    call.begin();
    requests.push_back(call.request);
    expect_taken_nonblocking(step_text);
  }
  if (rank == 0) blocker.before_wait();
  MPI_Waitall(static_cast<int>(many), requests.data(), MPI_STATUSES_IGNORE);
  if (rank != 0) blocker.after_wait();
  for (Call& call : calls) call.check(blocker.name);
}

void cases(const std::vector<Blocker>& blocking, const Operation& operation, std::size_t bytes,
           std::size_t many) {
  static int number = 0;
  if (operation.what == What::barrier && bytes > 4) return;
  for (const Blocker& blocker : blocking) {
    if (number++ % stride == 0) one_case(operation, bytes, many, blocker);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (argc > 1) stride = std::atoi(argv[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  CHECK(warm_up(MPI_COMM_WORLD) && warm_up(other), "path '%s'", path());
  for (const Operation& operation : kOperations) {
    for (std::size_t bytes : {4, 56, 2048, 2052, 30000, 65536, 300000, 1 << 20}) {
      cases(blockers(), operation, bytes, 1);
    }
    for (std::size_t bytes : {4, 3000, 40000}) cases(blockers(), operation, bytes, kMany);
    cases(kAbsences, operation, 4, 1);
  }
  MPI_Comm_free(&other);
  return finish();
}
