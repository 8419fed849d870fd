// SPDX-License-Identifier: BSD-3-Clause
// The life of requests: very many of them, communicators freed before their requests end, requests
// freed too early, operations without data, and some that Sumac leaves to the MPI; and the same
// bits from the blocking, nonblocking and persistent forms.
// requests CYCLES
#include <deque>
#include <vector>

#include "cases.h"
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

// Begins operations together, and ends and checks them.
class Together {
 public:
  explicit Together(MPI_Comm comm) : group_(group_of(comm)) {}
  Call& begin(Case c) {
    c.form = Form::nonblocking;
    Call& call = calls_.emplace_back(c, group_);
    CHECK(call.begin() == MPI_SUCCESS, "%s", call.text().c_str());
    return call;
  }
  void end() {
    std::vector<MPI_Request> requests;
    for (const Call& call : calls_) requests.push_back(call.request);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (Call& call : calls_) call.check();
  }

 private:
  const Group group_;
  std::deque<Call> calls_;
};

void many_cycles(int cycles) {
  for (int i = 0; i < cycles; ++i) {
    step("cycle %d", i);
    const auto seed = static_cast<std::uint64_t>(i);
    Together all(MPI_COMM_WORLD);
    for (const Case& c : {Case{.what = What::allreduce, .counts = {1}, .seed = seed},
                          Case{.what = What::bcast, .counts = {1}, .root = i % ranks, .seed = seed},
                          Case{.what = What::reduce,
                          .numbers = &whole_kinds()[0],
                          .counts = {1},
                          .root = (i + 1) % ranks,
                          .seed = seed},
                          Case{.what = What::barrier}}) {
      all.begin(c);
      expect_taken_nonblocking(name_of(c.what));
    }
    all.end();
  }
}

// A nonblocking operation must end although nobody has waited for those started before it.
void thousand_outstanding() {
  step("1000 outstanding");
  Together all(MPI_COMM_WORLD);
  Call* last = nullptr;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    last = &all.begin({.what = What::allreduce, .counts = {20}, .seed = i});
  }
  last->wait();
  last->check();
  use(MPI_COMM_WORLD, 3);
  all.end();
}

void alone_and_empty() {
  for (MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
    step("%s", comm == MPI_COMM_SELF ? "MPI_COMM_SELF" : "zero counts");
    const std::size_t count = comm == MPI_COMM_SELF ? 3 : 0;
    for (int round = 0; round < 4; ++round) {
      Together all(comm);
      for (const What what : {What::allreduce, What::reduce, What::bcast, What::barrier}) {
        all.begin({.what = what, .counts = {count}});
      }
      MPI_Request without_buffer;
      MPI_Ibcast(nullptr, 0, MPI_INT, 0, comm, &without_buffer);
      all.end();
      MPI_Wait(&without_buffer, MPI_STATUS_IGNORE);
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
  Together all(comm);
  all.begin({.what = What::allreduce, .counts = {count}});
  const bool freed_now = kMpiKeepsCommunicators || (require_taken && was_taken());
  all.begin({.what = What::bcast, .counts = {count}});
  all.begin({});
  if (freed_now) MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  use(next, round);
  use(next, round + 1);
  if (rank == round % ranks) usleep(2000);
  all.end();
  if (!freed_now) MPI_Comm_free(&comm);
  MPI_Comm_free(&next);
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

// Not commutative: with two ranks the digits are in rank order. With more the result would depend
// on how the MPI associates the operations, so more ranks use a sum.
void two_digits(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* from = static_cast<int*>(in);
  auto* to = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) to[i] += from[i] * 10;
}

// Begins a call, and says how it was served.
void begin(Call& call, const char* handed_down) {
  CHECK(call.begin() == MPI_SUCCESS, "%s", call.text().c_str());
  if (handed_down) {
    if (require_taken) CHECK_HANDED_DOWN(handed_down);
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
  MPI_Op_create(ranks == 2 ? two_digits : add_ints, ranks != 2, &n.op);
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

// Freeing an active request of a collective is an error, which some MPIs do not notice; the others
// go on after it. The request must stay valid.
void freed_while_active() {
  step("requests freed while active");
  const auto free_native = native_function<decltype(&MPI_Request_free)>("MPI_Request_free");
  const auto start_native = native_function<decltype(&MPI_Iallreduce)>("MPI_Iallreduce");
  return_errors();
  int classes[2] = {};
  static int in, out[2];  // which the MPI may write later, where it does not notice
  in = rank;
  MPI_Request requests[2];
  start_native(&in, &out[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Error_class(free_native(&requests[0]), &classes[0]);
  MPI_Iallreduce(&in, &out[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Error_class(MPI_Request_free(&requests[1]), &classes[1]);
  die_of_errors();
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
  const Numbers n = any_numbers<T>("fraction", type, MPI_SUM, Sum());
  std::vector<unsigned char> first;
  bool all_taken = true;
  for (const Form form : kForms) {
    Call call({.what = What::allreduce, .numbers = &n, .counts = {count}, .form = form});
    step("%s", call.text().c_str());
    call.begin();
    if (form != Form::blocking) expect_taken_nonblocking(step_text);
    all_taken &= was_taken();
    call.start();
    call.wait();
    const unsigned char* const bits = call.received();
    if (form == Form::blocking) first.assign(bits, bits + call.receive_bytes());
    CHECK(!require_taken || !all_taken || std::equal(first.begin(), first.end(), bits), "%s",
          step_text);
  }
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
  persistent_of_both();
  for (std::size_t count : {1, 14, 600, 30000}) user_operation(count);
  freed_while_active();
  for (std::size_t count : {1, 7, 14, 200, 600, 5000, 9000, 40000}) {
    same_bits<float>(count, MPI_FLOAT);
    same_bits<double>(count, MPI_DOUBLE);
  }
  return finish();
}
