// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/served_ranks_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "interpose/calls/direct_memory.h"
#include "interpose/mpi/fake_requests_test.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/world.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/progress_hooks.h"
#include "interpose/process/timed.h"
#include "progress/announced.h"

namespace sumac {
namespace {

constexpr MpiComm kComm{0x10000}, kSelf{0x20000};
constexpr std::size_t kRing = 8, kSlot = 1024;

ServedRanks* ranks = nullptr;
std::uint64_t polls_ns = 0;
int last_error = kMpiSuccess;
std::map<int, MpiRequest> carriers;  // the key is a tag

const WaitKernel kPolls{
    .now_ns = [] { return polls_ns += 1000; },
    .yield = [] { ranks->step(); },
    .sleep = [](std::uint64_t) { ranks->step(); },
    .crowded = [](std::uint64_t) { return false; },
};

ChosenCall call_of(const std::int32_t& own, std::int32_t& result) {
  const ReduceArguments args{reinterpret_cast<const std::byte*>(&own),
                             reinterpret_cast<std::byte*>(&result), 1, sizeof own,
                             find_reduce(Op::sum, DType::i32)};
  Choice choice;
  choice.algorithm = Algorithm::allreduce_flat_slots;
  return {args, Collective::allreduce, choice, reduces_by(Op::sum, DType::i32)};
}

// The MPI has these of the functions behind carriers.
int init_receive(void*, int, MpiDatatype, int, int tag, MpiComm comm, RequestPointer request) {
  EXPECT_EQ(comm, kSelf);
  FakeRequest made;
  made.persistent = true;
  made.active = false;
  made.tag = tag;
  const MpiRequest handle = fake_requests.add(made);
  fake_requests.at(handle).begins = [handle] {
    fake_requests.at(handle).polls = FakeRequest::kNever;
  };
  carriers[tag] = handle;
  request.set(handle);
  return kMpiSuccess;
}
int send(const void*, int, MpiDatatype, int, int tag, MpiComm) {
  FakeRequest& receive = fake_requests.at(carriers.at(tag));
  EXPECT_TRUE(receive.active && receive.polls == FakeRequest::kNever);
  receive.source = 0;
  receive.polls = 0;
  return kMpiSuccess;
}

}  // namespace

ServedRanks::ServedRanks(unsigned seed)
    : random_(seed), block_(2, kRing, kSlot), group_of_peer_(block_.group(1)) {
  static const bool is_served = [] {
    serve_requests(&collective_server(), in_front);
    return true;
  }();
  EXPECT_TRUE(is_served);
  ranks = this;
  last_error = kMpiSuccess;
  carriers.clear();
  fake_requests.begin(seed, mpi);
  mpi.Recv_init = init_receive;
  mpi.Send = send;
  mpi.Comm_call_errhandler = [](MpiComm comm, int error) {
    EXPECT_EQ(comm, kComm);
    return last_error = error, kMpiSuccess;
  };
  communicator_.comm = kComm;
  communicator_.handle = kComm.bits;
  communicator_.rank = 0;
  communicator_.size = 2;
  communicator_.group = block_.group(0);
  communicator_.state = Team::State::together;
  communicator_.wait_policy.kernel = &kPolls;
  engine_of_peer_.watch(queue_of_peer_, false);
}

// The peer ends its part, and the MPI has nothing left.
ServedRanks::~ServedRanks() {
  for (int i = 0; i < 1000; ++i) step();
  EXPECT_TRUE(queue_of_peer_.empty());
  EXPECT_TRUE(communicator_.queue.empty());
  EXPECT_EQ(communicator_.keepers, 1);
  EXPECT_EQ(requests_held, 0);
  end_requests();
  end_carriers();
  EXPECT_EQ(fake_requests.live(), 0);
  engine().forget(communicator_.queue);
  engine_of_peer_.forget(queue_of_peer_);
}

MpiRequest ServedRanks::begin(Sum& sum) {
  CollectiveRequest& request = acquire_nonblocking(communicator_);
  request.described = call_of(sum.own, sum.result);
  sumac::begin(request, {});
  begun_.push_back(&calls_of_peer_.emplace_back(sum.of_peer));
  return request.handle;
}

MpiRequest ServedRanks::initialise(Sum& sum) {
  Persistent& made = persistent_.emplace_back(sum);
  made.own.group = made.block.group(0);
  made.of_peer = made.block.group(1);
  CollectiveRequest& request = *acquire_persistent(communicator_, &made.own);
  made.own.in_use = true;
  request.described = call_of(sum.own, sum.result);
  return request.handle;
}

void ServedRanks::started(CollectiveRequest& request) {
  const auto found =
      std::ranges::find(persistent_, request.own_ranks, [](Persistent& each) { return &each.own; });
  CallOfPeer& call = calls_of_peer_.emplace_back(found->sum.of_peer);
  call.persistent = &*found;
  started_.push_back(&call);
}

void ServedRanks::step() {
  polls_ns += 1000;
  if (!begun_.empty() && random_() % 3 == 0) {
    CallOfPeer& call = *begun_.front();
    begun_.pop_front();
    queue_of_peer_.add(call.work, call_of(call.own, call.result), {}, {&group_of_peer_}, true);
  }
  if (!started_.empty() && random_() % 3 == 0) start_one();
  if (random_() % 2 == 0) engine_of_peer_.progress();
}

// An operation is started again only when its last start has ended.
void ServedRanks::start_one() {
  const auto at = started_.begin() + static_cast<std::ptrdiff_t>(random_() % started_.size());
  CallOfPeer& call = **at;
  const auto first = std::ranges::find(started_, call.persistent, &CallOfPeer::persistent);
  if (first != at || (call.persistent->last && !call.persistent->last->ended)) return;
  started_.erase(at);
  call.persistent->last = &call.work;
  queue_of_peer_.add_apart(call.work, call_of(call.own, call.result), {},
                           {&call.persistent->of_peer});
}

int ServedRanks::take_error() { return std::exchange(last_error, kMpiSuccess); }

MpiFunctions& ServedRanks::calls() { return in_front; }

void start(CallRecord&, CollectiveRequest& request) {
  begin(request, {});
  ranks->started(request);
}

WaitPolicy wait_policy_of_process() {
  WaitPolicy policy;
  policy.kernel = &kPolls;
  return policy;
}
MpiComm self_communicator() { return kSelf; }
bool make_inner(MpiComm, int, int, MpiComm&) { return false; }
void end_job(MpiComm) { ADD_FAILURE(); }
Family family() { return Family::mpich; }
void probe_mpi(const Communicator&) { ranks->step(); }
void report_late_anywhere(void*, double) {}
bool calls_are_timed() { return false; }
void TimedCall::end(std::uint64_t) const {}
bool called_from_within() { return false; }
Helper& helper() {
  static auto* the_helper = new Helper(engine());
  return *the_helper;
}
void start_progress() {}
void end_use_of_own_memory() {}
void drop_keeper(Communicator& c) { --c.keepers; }
void let_go(Communicator&) {}
std::vector<Communicator*> all_communicators() { return {&ranks->communicator()}; }

// These sums lie as algorithms take them, in host memory, and are not checked.
void CallData::free() {}
void CallData::load_copies(const ChosenCall&) {}
void CallData::deliver_copies() {}
ResultCheck::~ResultCheck() = default;
bool ResultCheck::ended() { return true; }
void ResultCheck::compare_alone() {}
void DeviceData::deliver() {}
void DeviceData::before(Part, Part) {}
void DeviceData::after(Part) {}
ShadowBuffer::~ShadowBuffer() = default;

}  // namespace sumac
