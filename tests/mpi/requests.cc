// SPDX-License-Identifier: BSD-3-Clause
// The life of requests: very many of them, communicators freed before their requests end, requests
// freed too early, operations without data; and the same bits from the blocking, nonblocking and
// persistent forms.
// requests CYCLES
#include <vector>

#include "exercise.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

// Open MPI crashes when a communicator is freed before an operation of Open MPI's own on it has
// ended.
#ifdef OPEN_MPI
constexpr bool kMpiKeepsCommunicators = false;
#else
constexpr bool kMpiKeepsCommunicators = true;
#endif

void many_cycles(int cycles) {
  for (int i = 0; i < cycles; ++i) {
    step("cycle %d", i);
    int mine = rank + i, sum = -1, word = rank == i % ranks ? i : -1, most = -1;
    MPI_Request requests[4];
    forget_path();
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    expect_taken_nonblocking("Iallreduce");
    forget_path();
    MPI_Ibcast(&word, 1, MPI_INT, i % ranks, MPI_COMM_WORLD, &requests[1]);
    expect_taken_nonblocking("Ibcast");
    forget_path();
    MPI_Ireduce(&mine, &most, 1, MPI_INT, MPI_MAX, (i + 1) % ranks, MPI_COMM_WORLD, &requests[2]);
    expect_taken_nonblocking("Ireduce");
    forget_path();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
    expect_taken_nonblocking("Ibarrier");
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == i * ranks + ranks * (ranks - 1) / 2, "%d in cycle %d", sum, i);
    CHECK(word == i, "%d in cycle %d", word, i);
    CHECK(rank != (i + 1) % ranks || most == i + ranks - 1, "%d in cycle %d", most, i);
  }
}

// A nonblocking operation must end although nobody has waited for those started before it.
void thousand_outstanding() {
  step("1000 outstanding");
  constexpr std::size_t kCount = 1000, kNumbers = 20;
  std::vector<MPI_Request> requests(kCount);
  std::vector<int> in(kCount * kNumbers), out(in.size(), -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i) + rank;
  const int sums = ranks * (ranks - 1) / 2;
  auto is_right = [&](std::size_t i) { return out[i] == static_cast<int>(i) * ranks + sums; };
  for (std::size_t i = 0; i < kCount; ++i) {
    MPI_Iallreduce(&in[i * kNumbers], &out[i * kNumbers], kNumbers, MPI_INT, MPI_SUM,
                   MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
  CHECK(is_right(out.size() - 1), "%d", out.back());
  use(MPI_COMM_WORLD, 3);
  MPI_Waitall(kCount, requests.data(), MPI_STATUSES_IGNORE);
  long wrong = 0;
  for (std::size_t i = 0; i < out.size(); ++i) wrong += !is_right(i);
  CHECK(wrong == 0, "%ld", wrong);
}

void alone_and_empty() {
  for (MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
    step("%s", comm == MPI_COMM_SELF ? "MPI_COMM_SELF" : "zero counts");
    const int count = comm == MPI_COMM_SELF ? 3 : 0;
    for (int round = 0; round < 4; ++round) {
      int in[3] = {1, 2, 3}, out[3] = {17, 17, 17}, reduced[3] = {17, 17, 17};
      MPI_Request requests[5];
      MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &requests[0]);
      MPI_Ireduce(in, reduced, count, MPI_INT, MPI_SUM, 0, comm, &requests[1]);
      MPI_Ibcast(in, count, MPI_INT, 0, comm, &requests[2]);
      MPI_Ibarrier(comm, &requests[3]);
      MPI_Ibcast(nullptr, 0, MPI_INT, 0, comm, &requests[4]);
      MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < 3; ++i) {
        const int expected = count ? i + 1 : 17;
        CHECK(out[i] == expected && reduced[i] == expected, "%d %d", out[i], reduced[i]);
      }
    }
  }
}

// The communicator is freed before operations on it have ended. Its handle may be used for another
// communicator in the meantime.
void communicator_freed(int round) {
  step("communicator freed, round %d", round);
  MPI_Comm comm, next;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  const std::size_t count = round % 2 ? 30000 : 5;
  std::vector<int> in(count, rank + round), out(count, -1), word(count, rank == 0 ? round : -1);
  MPI_Request requests[3];
  forget_path();
  MPI_Iallreduce(in.data(), out.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm,
                 &requests[0]);
  const bool freed_now = kMpiKeepsCommunicators || (require_taken && was_taken());
  MPI_Ibcast(word.data(), static_cast<int>(count), MPI_INT, 0, comm, &requests[1]);
  MPI_Ibarrier(comm, &requests[2]);
  if (freed_now) MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  use(next, round);
  use(next, round + 1);
  if (rank == round % ranks) usleep(2000);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (!freed_now) MPI_Comm_free(&comm);
  const int sum = round * ranks + ranks * (ranks - 1) / 2;
  CHECK(out.front() == sum && out.back() == sum, "%d %d", out.front(), out.back());
  CHECK(word.front() == round && word.back() == round, "%d %d", word.front(), word.back());
  MPI_Comm_free(&next);
}

// The communicator is freed while the persistent request is inactive; then the request is freed.
void communicator_of_persistent_freed() {
  step("communicator of a persistent request freed");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  int in = rank, out = -1;
  MPI_Request request;
  inits().Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == ranks * (ranks - 1) / 2, "%d", out);
    out = -1;
  }
  MPI_Comm_free(&comm);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  use(MPI_COMM_WORLD, 2);
}

void add_ints(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

// A persistent request of Sumac's and, with an operation that it does not know, one of the MPI's
// own, while an operation of Sumac's that ends later is under way on all ranks but the first.
// The last rank is late, so that its start of the MPI's own probably ends it.
void persistent_of_both() {
  step("persistent requests of both");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  MPI_Op op;
  MPI_Op_create(add_ints, 1, &op);
  int in = rank, sums[2] = {-1, -1};
  MPI_Request requests[2], later;
  for (int i : {0, 1}) {
    inits().Allreduce(&in, &sums[i], 1, MPI_INT, i == 0 ? op : MPI_SUM, comm, MPI_INFO_NULL,
                      &requests[i]);
  }
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&requests[1]);
    if (rank > 0) MPI_Ibarrier(comm, &later);
    if (rank == ranks - 1) usleep(20000);
    MPI_Start(&requests[0]);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int& sum : sums) {
      CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
      sum = -1;
    }
    if (rank == 0) MPI_Ibarrier(comm, &later);
    MPI_Wait(&later, MPI_STATUS_IGNORE);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
}

// Freeing an active request of a collective is an error, which some MPIs do not notice; the others
// go on after it. The request must stay valid.
void freed_while_active() {
  step("requests freed while active");
  const auto free_native = reinterpret_cast<decltype(&MPI_Request_free)>(
      in_sumac<void* (*)(const char*)>("sumac_native")("MPI_Request_free"));
  const auto start_native = reinterpret_cast<decltype(&MPI_Iallreduce)>(
      in_sumac<void* (*)(const char*)>("sumac_native")("MPI_Iallreduce"));
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, errors_return());
  }
  int classes[2] = {};
  static int in, out[2];  // which the MPI may write later, where it does not notice
  in = rank;
  MPI_Request requests[2];
  start_native(&in, &out[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Error_class(free_native(&requests[0]), &classes[0]);
  MPI_Iallreduce(&in, &out[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Error_class(MPI_Request_free(&requests[1]), &classes[1]);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  }
  const bool unnoticed = classes[0] == MPI_SUCCESS;
  CHECK(unnoticed || classes[1] == classes[0], "class %d, the MPI's %d", classes[1], classes[0]);
  CHECK(requests[1] != MPI_REQUEST_NULL);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (unnoticed) out[0] = out[1];
  for (int sum : out) CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
}

// Sums of fractions, whose bits depend on the order of additions. Only Sumac guarantees the same
// bits.
template <class T>
void same_bits(std::size_t count, MPI_Datatype type) {
  step("bits of %zu numbers of %zu bytes", count, sizeof(T));
  const int n = static_cast<int>(count);
  std::vector<T> in(count), blocking(count), nonblocking(count), persistent(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = value<T>(rank, i, count);
  MPI_Allreduce(in.data(), blocking.data(), n, type, MPI_SUM, MPI_COMM_WORLD);
  bool all_taken = was_taken();
  MPI_Request request;
  forget_path();
  MPI_Iallreduce(in.data(), nonblocking.data(), n, type, MPI_SUM, MPI_COMM_WORLD, &request);
  expect_taken_nonblocking(step_text);
  all_taken &= was_taken();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  inits().Allreduce(in.data(), persistent.data(), n, type, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &request);
  forget_path();
  MPI_Start(&request);
  expect_taken_nonblocking(step_text);
  all_taken &= was_taken();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  if (!require_taken || !all_taken) return;
  CHECK(std::memcmp(blocking.data(), nonblocking.data(), count * sizeof(T)) == 0, "%s", step_text);
  CHECK(std::memcmp(blocking.data(), persistent.data(), count * sizeof(T)) == 0, "%s", step_text);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 1000;
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  many_cycles(cycles);
  thousand_outstanding();
  alone_and_empty();
  for (int round = 0; round < 8; ++round) communicator_freed(round);
  communicator_of_persistent_freed();
  persistent_of_both();
  freed_while_active();
  for (std::size_t count : {1, 7, 14, 200, 600, 5000, 9000, 40000}) {
    same_bits<float>(count, MPI_FLOAT);
    same_bits<double>(count, MPI_DOUBLE);
  }
  return finish();
}
