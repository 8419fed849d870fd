// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent operations that Sumac leaves to the MPI: user-defined operations,
// pairs of value and index, intercommunicators. Operations of Sumac's own are under way at the same
// time.
#include "cases.h"
#include "element_oracle.h"
#include "exercise.h"

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

// Begins a call, and says how it was served.
void begin(Call& call, const char* handed_down) {
  CHECK(call.begin() == MPI_SUCCESS, "%s", call.text().c_str());
  if (handed_down) {
    expect_handed_down(handed_down);
  } else {
    expect_taken_nonblocking(call.text().c_str());
  }
}

void user_operation(std::size_t count) {
  step("user-defined operation on %zu numbers", count);
  const auto digit = [](int giver, std::size_t i, std::uint64_t seed) {
    return static_cast<int>(value<unsigned>(giver, i, seed) % 10);
  };
  Numbers n = numbers<int>("two digits", MPI_INT, MPI_OP_NULL, digit,
                           [](int left, int right) { return 10 * left + right; });
  if (ranks != 2) n = ints();
  MPI_Op_create(ranks == 2 ? two_digits : sum_of, ranks != 2, &n.op);
  const Case own{
      .what = What::allreduce, .numbers = &n, .counts = {count}, .form = Form::nonblocking};
  Case started = own, ours = own, last = own;
  started.form = Form::persistent;
  ours.numbers = &ints();
  last.what = What::reduce;
  last.root = ranks - 1;
  {
    Call again(started);
    begin(again, "user-defined operation");
    for (std::uint64_t round = 0; round < 4; ++round) {
      Call once(own), served(ours);
      begin(once, "user-defined operation");
      begin(served, nullptr);
      again.fill(round);
      again.start();
      for (Call* call : {&once, &again, &served}) call->wait();
      for (Call* call : {&once, &again, &served}) call->check();
    }
  }
  Call call(last);
  call.begin();
  MPI_Op_free(&n.op);  // before the operation has ended
  call.wait();
  call.check();
}

void pairs() {
  step("pairs of value and place");
  const Predefined type{"DOUBLE_INT", MPI_DOUBLE_INT, kLocation, DType::f64_i32};
  const Numbers least = numbers_of(type, {"MINLOC", MPI_MINLOC, kLocation, Op::minloc}, type.dtype);
  const Numbers most = numbers_of(type, {"MAXLOC", MPI_MAXLOC, kLocation, Op::maxloc}, type.dtype);
  Sweep{.whats = {What::allreduce},
        .numbers = {&least, &most},
        .forms = {Form::nonblocking, Form::persistent}}
      .for_each([](const Case& c, std::uint64_t) { run(c); });
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
