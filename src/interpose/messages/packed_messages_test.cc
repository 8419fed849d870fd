// SPDX-License-Identifier: BSD-3-Clause
// The tests check that messages arrive alike whether Sumac packs them or the MPI does: in random
// programs of sends and receives, with all ranks in this process. Types are random and differ
// between sender and receiver; sources and tags may be any; messages are shorter or longer than
// what is received; receives are cancelled, and requests freed while under way.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "interpose/messages/fake_messages_test.h"
#include "interpose/messages/packing_calls.h"
#include "interpose/messages/typed_data_test.h"
#include "interpose/mpi/fake_requests_test.h"
#include "interpose/process/entry.h"
#include "interpose/process/process.h"
#include "interpose/requests/events.h"
#include "interpose/requests/held_requests.h"

namespace sumac {

static Family the_family = Family::openmpi;
Family family() { return the_family; }

namespace {

using Random = std::mt19937_64;
constexpr int kRanks = 3, kTags = 3;
constexpr MpiComm kComm{0x10000};

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

// A receive of the program's, and what it should get: the first message that fits, in the order in
// which messages are sent.
struct Receive {
  int from, to, tag;
  std::unique_ptr<TypedMemory> memory;
  MpiRequest request = kMpi.request_null;
  bool matched = false, cancelled = false, ended = false;
  int source = 0, its_tag = 0;
  std::string bytes = {};

  bool is_truncated() const { return bytes.size() > memory->packed_bytes(); }
  bool has_arrived() const {
    return is_truncated() ? memory->has_kept_gaps() : memory->is_as_expected();
  }
};
struct Sent {
  int from, to, tag;
  std::string bytes;
};

struct Asked;

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    make_types(seed, 8);
    begin_messages(seed);
  }
  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    end();
  }

 private:
  void step() {
    fake_messages.own_rank = below(random_, kRanks);
    fake_messages.fails_in = below(random_, 30) == 0 ? 1 : 0;
    switch (below(random_, 8)) {
      case 0:
        return send_one();
      case 1:
      case 2:
        return begin_send_one();
      case 3:
      case 4:
        return begin_receive_one();
      case 5:
        return receive_one();
      case 6:
        return exchange_with_self();
      case 7:
        return complete_some();
    }
  }

  MpiDatatype any_type() { return random_() % 5 == 0 ? kMpi.byte : type_at(random_() % 8); }
  std::unique_ptr<TypedMemory> any_memory() {
    const int most = random_() % 4 == 0 ? 60 : 6;
    return std::make_unique<TypedMemory>(any_type(), below(random_, most), random_);
  }
  int any_peer() { return random_() % 16 == 0 ? kMpi.proc_null : below(random_, kRanks); }
  int any_source() { return random_() % 3 == 0 ? kMpi.any_source : any_peer(); }
  int any_tag() { return random_() % 3 == 0 ? kMpi.any_tag : below(random_, kTags); }

  // Notes a message that has been sent: the oldest receive that fits gets it.
  void note_sent(const Sent& sent) {
    if (sent.to == kMpi.proc_null) return;
    for (const auto& each : receives_) {
      if (each->matched || each->cancelled || !may_get(*each, sent)) continue;
      return match(*each, sent);
    }
    unmatched_.push_back(sent);
  }
  static bool may_get(const Receive& receive, const Sent& sent) {
    return receive.to == sent.to &&
           (receive.from == sent.from || receive.from == kMpi.any_source) &&
           (receive.tag == sent.tag || receive.tag == kMpi.any_tag);
  }
  static void match(Receive& receive, const Sent& sent) {
    receive.matched = true;
    receive.source = sent.from;
    receive.its_tag = sent.tag;
    receive.bytes = sent.bytes;
    if (!receive.is_truncated()) receive.memory->expect(sent.bytes);
  }
  // Matches a receive that begins. Returns false if it has to wait for a message.
  bool note_receive(Receive& receive) {
    for (auto each = unmatched_.begin(); each != unmatched_.end(); ++each) {
      if (!may_get(receive, *each)) continue;
      match(receive, *each);
      unmatched_.erase(each);
      return true;
    }
    return false;
  }

  // Returns true if Sumac may pack these data.
  static bool may_be_packed(const TypedMemory& memory) {
    const FakeType* type = find_fake_type(memory.type());
    return type && type->known && memory.packed_bytes() >= options.pack_messages &&
           (type->uniform || the_family != Family::mpich);
  }

  void send_one() {
    const auto memory = any_memory();
    const int to = any_peer(), tag = below(random_, kTags);
    const bool may = may_be_packed(*memory);
    const int before = fake_messages.packed_sent;
    const int error =
        in_front.Send(memory->address(), memory->count(), memory->type(), to, tag, kComm);
    EXPECT_TRUE(may || fake_messages.packed_sent == before);
    if (error == kMpiSuccess) note_sent({fake_messages.own_rank, to, tag, memory->packed()});
    EXPECT_TRUE(memory->is_as_expected());
  }
  void begin_send_one() {
    auto memory = any_memory();
    const int to = any_peer(), tag = below(random_, kTags);
    MpiRequest request = kMpi.request_null;
    const int error = in_front.Isend(memory->address(), memory->count(), memory->type(), to, tag,
                                     kComm, one(request));
    if (error != kMpiSuccess) return;
    note_sent({fake_messages.own_rank, to, tag, memory->packed()});
    sending_.push_back(std::move(memory));
    sends_.push_back(request);
    if (random_() % 4 == 0) free(sends_, sends_.size() - 1);
  }
  void begin_receive_one() {
    auto made = std::make_unique<Receive>();
    made->from = any_source();
    made->to = fake_messages.own_rank;
    made->tag = any_tag();
    made->memory = any_memory();
    TypedMemory& memory = *made->memory;
    const int error = in_front.Irecv(memory.address(), memory.count(), memory.type(), made->from,
                                     made->tag, kComm, one(made->request));
    if (error != kMpiSuccess) return;
    if (made->from == kMpi.proc_null) {
      made->matched = true;
      made->source = kMpi.proc_null;
    } else {
      note_receive(*made);
    }
    receives_.push_back(std::move(made));
    if (random_() % 8 == 0) cancel_one();
    if (random_() % 8 == 0) free_receive();
  }
  // Receives what a probe has found.
  void receive_one() {
    MpiStatus status;
    int found = 0;
    Receive made{any_source(), fake_messages.own_rank, any_tag(), any_memory()};
    if (made.from == kMpi.proc_null) made.from = kMpi.any_source;
    mpi.Iprobe(made.from, made.tag, kComm, &found, status.pointer());
    if (!found) return;
    const StatusPointer given = random_() % 3 == 0 ? status_ignore() : status.pointer();
    const int error = in_front.Recv(made.memory->address(), made.memory->count(),
                                    made.memory->type(), made.from, made.tag, kComm, given);
    if (error == kMpi.err_other) return;
    EXPECT_TRUE(note_receive(made));
    check(made, error, given);
  }
  // No other receive may take the message.
  void exchange_with_self() {
    for (const auto& each : receives_) {
      if (each->to == fake_messages.own_rank && !each->matched && !each->cancelled) return;
    }
    const auto sent = any_memory();
    Receive made{fake_messages.own_rank, fake_messages.own_rank, kTags,
                 any_memory()};  // the tag is for this alone
    MpiStatus status;
    const StatusPointer given = random_() % 3 == 0 ? status_ignore() : status.pointer();
    const int error =
        in_front.Sendrecv(sent->address(), sent->count(), sent->type(), fake_messages.own_rank,
                          kTags, made.memory->address(), made.memory->count(), made.memory->type(),
                          fake_messages.own_rank, kTags, kComm, given);
    if (error == kMpi.err_other) return;
    match(made, {fake_messages.own_rank, fake_messages.own_rank, kTags, sent->packed()});
    check(made, error, given);
  }

  static void check(Receive& receive, int error, StatusPointer status) {
    receive.ended = true;
    EXPECT_EQ(error, receive.is_truncated() ? kMpi.err_truncate : kMpiSuccess);
    EXPECT_TRUE(receive.has_arrived());
    if (status.is_ignored() || receive.is_truncated() || receive.cancelled) return;
    EXPECT_EQ(status.source(), receive.source);
    EXPECT_EQ(bytes_in(status), static_cast<int>(receive.bytes.size()));
  }

  void cancel_one() {
    Receive& asked = *receives_[random_() % receives_.size()];
    if (asked.request == kMpi.request_null || asked.ended) return;
    in_front.Cancel(one(asked.request));
    asked.cancelled |= !asked.matched;
  }
  // The program frees the request of a receive, whose data arrive all the same.
  void free_receive() {
    Receive& freed = *receives_[random_() % receives_.size()];
    if (freed.request == kMpi.request_null || freed.ended) return;
    in_front.Request_free(one(freed.request));
    EXPECT_EQ(freed.request, kMpi.request_null);
  }
  void free(std::vector<MpiRequest>& requests, std::size_t index) {
    in_front.Request_free(one(requests[index]));
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void complete_some();
  void keep_handles(const Asked& asked);
  void end();

  Random random_;
  std::vector<std::unique_ptr<TypedMemory>> sending_;
  std::vector<MpiRequest> sends_;
  std::vector<std::unique_ptr<Receive>> receives_;
  std::deque<Sent> unmatched_;
};

// These are requests of one call, with the receives that they belong to; null for a send.
struct Asked {
  HandleArray<MpiRequest> handles;
  std::vector<Receive*> receives;
};

// Asks about some requests in one of MPI's ways.
void Program::complete_some() {
  const auto ask = static_cast<Ask>(below(random_, kAsks));
  Asked asked;
  for (const auto& each : receives_) {
    const bool ends = each->matched || each->cancelled;
    if (each->request == kMpi.request_null || (waits(ask) && !ends) || random_() % 2) continue;
    asked.handles.push_back(each->request);
    asked.receives.push_back(each.get());
  }
  for (std::size_t i = 0; i < sends_.size() && !waits(ask); ++i) {
    if (random_() % 2 == 0) continue;
    asked.handles.push_back(sends_[i]);
    asked.receives.push_back(nullptr);
  }
  if (asked.handles.empty()) return;
  for (const Told& told : ask_about(in_front, ask, asked.handles).told) {
    const auto index = static_cast<std::size_t>(told.index);
    Receive* const receive = asked.receives[index];
    EXPECT_TRUE(looks(ask) || asked.handles[index] == kMpi.request_null);
    EXPECT_TRUE(!receive || receive->has_arrived());
    if (receive && !looks(ask)) check(*receive, told.error, told.status);
  }
  keep_handles(asked);
}

// Forgets requests that have ended.
void Program::keep_handles(const Asked& asked) {
  for (std::size_t i = 0; i < asked.receives.size(); ++i) {
    if (asked.receives[i]) asked.receives[i]->request = asked.handles[i];
  }
  std::erase_if(sends_, [](MpiRequest each) { return !fake_requests.is_live(each); });
}

// Sends what is waited for, receives what was sent, and ends all requests.
void Program::end() {
  fake_messages.fails_in = 0;
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    const Receive& each = *receives_[i];
    while (!each.matched && !each.cancelled) {
      fake_messages.own_rank = each.from == kMpi.any_source ? 0 : each.from;
      const int tag = each.tag == kMpi.any_tag ? 0 : each.tag;
      const auto memory = any_memory();
      in_front.Send(memory->address(), memory->count(), memory->type(), each.to, tag, kComm);
      note_sent({fake_messages.own_rank, each.to, tag, memory->packed()});
    }
  }
  while (!unmatched_.empty()) {
    const Sent sent = unmatched_.front();
    fake_messages.own_rank = sent.to;
    Receive made{sent.from, sent.to, sent.tag, any_memory()};
    const int error =
        in_front.Recv(made.memory->address(), made.memory->count(), made.memory->type(), sent.from,
                      sent.tag, kComm, status_ignore());
    note_receive(made);
    check(made, error, status_ignore());
  }
  for (MpiRequest& each : sends_) in_front.Wait(one(each), status_ignore());
  for (const auto& each : receives_) {
    MpiStatus status;
    const bool freed = each->request == kMpi.request_null && !each->ended;
    if (freed || each->ended) continue;
    const int error = in_front.Wait(one(each->request), status.pointer());
    check(*each, error, status.pointer());
  }
  wait_for_freed();
  for (const auto& each : receives_) EXPECT_TRUE(each->has_arrived());
  EXPECT_TRUE(all_have_arrived());
  EXPECT_FALSE(any_held());
  EXPECT_EQ(fake_requests.live(), 0);
}

class PackedMessages : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool is_served = [] {
      serve_requests(nullptr, in_front);
      redirect_messages(sumac_stub{});
      return true;
    }();
    EXPECT_TRUE(is_served);
    fake_messages = {};
  }
};

TEST_F(PackedMessages, ArriveAlike) {
  for (unsigned seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    the_family = seed % 2 == 0 ? Family::mpich : Family::openmpi;
    options.pack_messages = seed % 3 == 0 ? 1 : seed % 3 * 60;
    Program(seed).run(120);
  }
  EXPECT_GT(fake_messages.packed_sent, 1000);
  EXPECT_GT(fake_messages.packed_received, 1000);
}

// The program has said so, or buffers may be where nobody can tell.
TEST_F(PackedMessages, AreLeftToTheMpiWhereNothingMayBePacked) {
  options.pack_messages = 1;
  for (const int why : {0, 1, 2, 3}) {
    mpi_is_known_to_be_up = why != 0;
    device_runtime_is_there = why == 1;
    paused_threads = thread_state().pauses = why == 2;
    if (why == 3) options.pack_messages = UINT64_MAX;
    Program(7).run(200);
  }
  mpi_is_known_to_be_up = true;
  EXPECT_EQ(fake_messages.packed_sent + fake_messages.packed_received, 0);
}

}  // namespace
}  // namespace sumac
