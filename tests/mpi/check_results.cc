// SPDX-License-Identifier: BSD-3-Clause
// Calls of collectives on 1000 ints, of which the MPI gives a wrong result now and then
// (check_liar.c): with SUMAC_CHECK=results the program gets the MPI's result wherever it differs,
// and what Sumac found right otherwise. Started by check_results_test.sh.
// check_results [--honest]: with a liar, or without one
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"

namespace {

using namespace test;

constexpr int kCount = 1000, kCalls = 20, kOneIn = 5, kWhich = 17, kError = 1000;
bool honest = false;

int element(int of, int i) { return of * 7 + i % 31; }

// One collective: fills its input, and says what an element of its result must be.
struct Case {
  const char* name;
  int sent, received;  // elements: each count in thousands
  int (*blocking)(const int* in, int* out);
  int (*nonblocking)(const int* in, int* out, MPI_Request* request);
  int (*expected)(int i);
  bool (*shows_error)(int i);  // whether a changed element of rank 0's input shows in element i
};

int sum_at(int i) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += element(r, i);
  return sum;
}
bool is_which(int i) { return i == kWhich; }

constexpr auto kComm = [] { return MPI_COMM_WORLD; };

const Case kCases[] = {
    {"allreduce", 1, 1,
     [](const int* in, int* out) {
       return MPI_Allreduce(in, out, kCount, MPI_INT, MPI_SUM, kComm());
     },
     [](const int* in, int* out, MPI_Request* request) {
       return MPI_Iallreduce(in, out, kCount, MPI_INT, MPI_SUM, kComm(), request);
     },
     sum_at, is_which},
    {"reduce", 1, 1,
     [](const int* in, int* out) {
       return MPI_Reduce(in, out, kCount, MPI_INT, MPI_SUM, ranks - 1, kComm());
     },
     [](const int* in, int* out, MPI_Request* request) {
       return MPI_Ireduce(in, out, kCount, MPI_INT, MPI_SUM, ranks - 1, kComm(), request);
     },
     [](int i) { return rank == ranks - 1 ? sum_at(i) : -1; },
     [](int i) { return rank == ranks - 1 && i == kWhich; }},
    {"bcast", 0, 1,
     [](const int*, int* out) { return MPI_Bcast(out, kCount, MPI_INT, 0, kComm()); },
     [](const int*, int* out, MPI_Request* request) {
       return MPI_Ibcast(out, kCount, MPI_INT, 0, kComm(), request);
     },
     [](int i) { return element(0, i); }, is_which},
    {"allgather", 1, 0,
     [](const int* in, int* out) {
       return MPI_Allgather(in, kCount, MPI_INT, out, kCount, MPI_INT, kComm());
     },
     [](const int* in, int* out, MPI_Request* request) {
       return MPI_Iallgather(in, kCount, MPI_INT, out, kCount, MPI_INT, kComm(), request);
     },
     [](int i) { return element(i / kCount, i % kCount); }, is_which},
    {"alltoall", 0, 0,
     [](const int* in, int* out) {
       return MPI_Alltoall(in, kCount, MPI_INT, out, kCount, MPI_INT, kComm());
     },
     [](const int* in, int* out, MPI_Request* request) {
       return MPI_Ialltoall(in, kCount, MPI_INT, out, kCount, MPI_INT, kComm(), request);
     },
     [](int i) { return element(i / kCount, rank * kCount + i % kCount); },
     [](int i) { return rank == 0 && i == kWhich; }},
    {"reduce_scatter_block", 0, 1,
     [](const int* in, int* out) {
       return MPI_Reduce_scatter_block(in, out, kCount, MPI_INT, MPI_SUM, kComm());
     },
     [](const int* in, int* out, MPI_Request* request) {
       return MPI_Ireduce_scatter_block(in, out, kCount, MPI_INT, MPI_SUM, kComm(), request);
     },
     [](int i) { return sum_at(rank * kCount + i); },
     [](int i) { return rank == 0 && i == kWhich; }},
};

void check_result(const Case& each, const std::vector<int>& out, bool wrong, const char* form) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int at = static_cast<int>(i);
    const int expected = each.expected(at) + (wrong && each.shows_error(at) ? kError : 0);
    if (!CHECK(out[i] == expected, "%s %s [%zu]: %d, not %d", form, each.name, i, out[i],
               expected)) {
      return;
    }
  }
}

void run(const Case& each, bool deferred) {
  const auto p = static_cast<std::size_t>(ranks), n = std::size_t{kCount};
  std::vector<int> in(each.sent ? n : p * n), out(each.received ? n : p * n);
  for (int call = 1; call <= kCalls; ++call) {
    step("%s, deferred %d, call %d", each.name, deferred, call);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = element(rank, static_cast<int>(i));
    std::fill(out.begin(), out.end(), -1);
    if (each.expected == kCases[2].expected && rank == 0)
      out.assign(in.begin(), in.begin() + kCount);
    if (deferred) {
      MPI_Request request;
      each.nonblocking(in.data(), out.data(), &request);
      CHECK_TAKEN();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      each.blocking(in.data(), out.data());
      CHECK_TAKEN();
    }
    check_result(each, out, !honest && call % kOneIn == 0, deferred ? "nonblocking" : "blocking");
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  honest = take_flag(argc, argv, "--honest");
  warm_up(MPI_COMM_WORLD);
  for (const Case& each : kCases) {
    run(each, false);
    run(each, true);
  }
  return finish();
}
