// SPDX-License-Identifier: BSD-3-Clause
// A random program: all that follows from one seed, run by one or several threads.
#pragma once

#include <map>
#include <set>
#include <thread>

#include "call.h"
#include "members.h"
#include "mpi/messages.h"

namespace test::sweep {

struct Options {
  int calls = 40;
  int threads = 1;
  std::size_t most_bytes = 320 << 10;
  std::set<int> only;      // the calls to make; all where it is empty
  bool calm = false;       // no delays
  bool large = true;       // the MPI, or Sumac, has MPI_X_c
  bool persistent = true;  // and MPI_X_init
  bool listed = false;     // rank 0 prints the program
  bool served = false;     // Sumac has to serve what it serves elsewhere

  bool has(int number) const { return only.empty() || only.count(number); }
};

inline std::atomic<long> collectives{0};  // that began, counted by rank 0 of each communicator

// The place where each thread is, for the message of a rank that hangs.
inline constexpr int kMostThreads = 4;
inline char places[kMostThreads][400];

// A nonblocking operation, or one start of a persistent one, whose call outlives it.
class Started : public Work {
 public:
  Started(std::shared_ptr<Call> call, bool* active) : call_(std::move(call)), active_(active) {}
  bool is_persistent() const override { return active_ != nullptr; }
  void ended(const char* how) override {
    call_->check(how);
    if (active_) *active_ = false;
  }

 private:
  std::shared_ptr<Call> call_;
  bool* active_;
};

// The calls of one thread: those on every `threads`-th communicator. Decisions that ranks must
// share come from the seed; when, and by which function, operations are completed is this rank's
// own choice.
class Thread {
 public:
  Thread(std::uint64_t seed, const Options& options, const std::vector<Member>& members, int number)
      : seed_(seed),
        options_(options),
        members_(members),
        number_(number),
        own_(mix(seed) + static_cast<std::uint64_t>(rank * kMostThreads + number)),
        slow_rank_(static_cast<int>(mix(seed) % static_cast<std::uint64_t>(2 * ranks))),
        pending_(own_) {}

  void run() {
    for (int i = 0; i < options_.calls; ++i) {
      start_again(i);
      const Spec spec = drawn(i);
      if (!options_.has(i) || spec.communicator % options_.threads != number_) continue;
      const Member& member = members_[static_cast<std::size_t>(spec.communicator)];
      if (member.comm == MPI_COMM_NULL) continue;
      dawdle();
      if (spec.kind == Kind::message) {
        message(spec, member);
      } else {
        collective(spec, member);
      }
      if (pending_.size() >= kMostPending || own_.below(eagerness_) == 0) pending_.complete_some();
    }
    for (int i = options_.calls; !starts_.empty(); ++i) start_again(i);
    at("the end");
    pending_.complete_all();
    for (auto& each : persistent_) MPI_Request_free(&each->request);
  }

 private:
  static constexpr std::size_t kMostPending = 48;

  struct Persistent {
    std::shared_ptr<Call> call;
    MPI_Request request = MPI_REQUEST_NULL;
    bool active = false;
    const Work* work = nullptr;  // while it is active
  };

  Spec drawn(int number) const {
    Spec spec = draw(seed_, number, static_cast<int>(members_.size()), options_.most_bytes);
    spec.large &= options_.large;
    if (spec.form == Form::persistent && !options_.persistent) spec.form = Form::nonblocking;
#ifndef OPEN_MPI
    // Debian's MPICH crashes in its own in-place MPI_Reduce where the root is not 0, and its
    // MPI_Allgatherv of one rank puts the data in a wrong place.
    const Member& member = members_[static_cast<std::size_t>(spec.communicator)];
    const auto size = static_cast<std::uint64_t>(std::max(member.size(), 1));
    if (spec.kind == Kind::reduce && spec.form == Form::blocking) {
      spec.in_place &= spec.root % size == 0;
    }
    if (spec.kind == Kind::allgatherv && size == 1) spec.kind = Kind::allgather;
#endif
    return spec;
  }

  void at(const char* what) {
    std::snprintf(places[number_], sizeof places[number_], "seed %llu, %s, %zu pending",
                  static_cast<unsigned long long>(seed_), what, pending_.size());
  }

  void collective(const Spec& spec, const Member& member) {
    const auto call = std::make_shared<Call>(spec, member);
    const std::string text = describe(spec, member, call->text());
    at(text.c_str());
    if (spec.form == Form::persistent) {
      persistent_.push_back(std::make_unique<Persistent>());
      Persistent& made = *persistent_.back();
      made.call = call;
      call->fill(0);
      call->make(&made.request);
      for (int s = 1; s < starts_of(spec); ++s)
        starts_[spec.number + s * spec.apart].push_back(&made);
      return start(made, 0);
    }
    call->fill(0);
    collectives += member.rank == 0;
    if (spec.form == Form::blocking) {
      call->make(nullptr);
      return call->check((text + ", path " + path()).c_str());
    }
    auto work = std::make_unique<Started>(call, nullptr);
    const bool must_be_served = options_.served && member.served && call->is_simple();
    if (must_be_served) leave_path();
    call->make(&work->request);
    CHECK(!must_be_served || was_taken() || was_handed_down("the rules prefer the MPI here"),
          "%s: path '%s'", text.c_str(), path());
    pending_.add(std::move(work));
  }

  void start(Persistent& made, std::uint64_t round) {
    made.call->fill(round);
    collectives += made.call->group().rank == 0;
    if (own_.below(3) == 0) {
      MPI_Startall(1, &made.request);
    } else {
      MPI_Start(&made.request);
    }
    auto work = std::make_unique<Started>(made.call, &made.active);
    made.active = true;
    made.work = work.get();
    work->request = made.request;
    pending_.add(std::move(work));
  }

  // MPICH 4.0's own persistent all-gather gives what was there when it was initialised.
  static int starts_of(const Spec& spec) {
#ifdef OPEN_MPI
    return spec.starts;
#else
    return was_taken() ? spec.starts : 1;
#endif
  }

  // Starts the persistent operations that are due before call `i` once more.
  void start_again(int i) {
    const auto due = starts_.find(i);
    if (due == starts_.end()) return;
    for (Persistent* made : due->second) {
      at(("again: " + made->call->text()).c_str());
      if (made->active) pending_.complete_one(*made->work);
      start(*made, static_cast<std::uint64_t>(i) + 1);
    }
    starts_.erase(due);
  }

  // A message between two random ranks; either end may be blocking.
  void message(const Spec& spec, const Member& member) {
    const auto size = static_cast<std::uint64_t>(member.size());
    if (size < 2) return;
    const auto source = static_cast<int>(spec.root % size);
    const auto way = static_cast<int>(1 + spec.what % (size - 1));
    const Message message{source,
                          (source + way) % member.size(),
                          spec.number,
                          spec.bytes,
                          spec.state % 5 == 0,
                          spec.state % 5 == 1};
    if (member.rank != source && member.rank != message.target) return;
    at(describe(spec, member, "message").c_str());
    auto end = std::make_unique<PendingMessage>(message, member);
    if (spec.state >> (member.rank == source ? 20 : 21) & 1) return end->call(member.comm);
    end->start(member.comm);
    pending_.add(std::move(end));
  }

  // Delays this rank at random; one rank may be slower than the others all the time.
  void dawdle() {
    if (options_.calm) return;
    const std::uint64_t choice = own_.below(rank == slow_rank_ ? 8 : 32);
    if (choice == 0) {
      usleep(static_cast<useconds_t>(own_.below(own_.below(12) ? 300 : 4000)));
    } else if (choice < 3) {
      for (std::uint64_t i = own_.below(5); i > 0; --i) sched_yield();
    } else if (choice == 3) {
      for (int i = 0; i < 5000; ++i) busy_ = mix(busy_);
    }
  }

 public:
  static std::string describe(const Spec& spec, const Member& member, const std::string& text) {
    static constexpr const char* kNames[] = {"blocking", "nonblocking", "persistent"};
    return "call " + std::to_string(spec.number) + " " + text + " " +
           kNames[static_cast<int>(spec.form)] + " on " + std::to_string(spec.communicator) + " (" +
           member.made + ")";
  }
  // What this thread would do, a line for each of its calls.
  void list() const {
    for (int i = 0; i < options_.calls; ++i) {
      const Spec spec = drawn(i);
      const Member& member = members_[static_cast<std::size_t>(spec.communicator)];
      if (!options_.has(i) || spec.communicator % options_.threads != number_) continue;
      const bool is_message = spec.kind == Kind::message;
      const bool inside = member.comm != MPI_COMM_NULL;
      const std::string text = is_message ? "message of " + std::to_string(spec.bytes) + " bytes"
                               : inside   ? Call(spec, member).text()
                                          : "not on this rank";
      std::printf("  thread %d, %s%s\n", number_, describe(spec, member, text).c_str(),
                  spec.starts > 1 ? (", " + std::to_string(spec.starts) + " starts").c_str() : "");
    }
  }

 private:
  const std::uint64_t seed_;
  const Options& options_;
  const std::vector<Member>& members_;
  const int number_;
  Random own_;
  const int slow_rank_;
  // How many calls it makes before it completes some, in the mean.
  const std::uint64_t eagerness_ = is_in_flow(seed_) ? 10 + own_.below(50) : 2 + own_.below(20);
  std::uint64_t busy_ = 1;
  Pending pending_;
  std::vector<std::unique_ptr<Persistent>> persistent_;
  std::map<int, std::vector<Persistent*>> starts_;
};

// All ranks must call it.
inline void run_program(std::uint64_t seed, std::uint64_t number, const Options& options) {
  Random shared(mix(seed + 77));
  std::snprintf(places[0], sizeof places[0], "seed %llu, communicators",
                static_cast<unsigned long long>(seed));
  std::vector<Member> members = draw_members(shared, static_cast<std::size_t>(options.threads));
  notes->align(number + 1);
  // On some communicators the first calls, in which Sumac sets them up, are calls of the program.
  for (Member& member : members) {
    const bool wanted = shared.below(3) > 0;
    if (wanted && member.comm != MPI_COMM_NULL) {
      member.served = warm_up(member.comm) && member.size() > 1;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);  // all have aligned their notes
  std::vector<std::unique_ptr<Thread>> work;
  for (int t = 0; t < options.threads; ++t) {
    work.push_back(std::make_unique<Thread>(seed, options, members, t));
    if (options.listed && rank == 0) work.back()->list();
  }
  std::vector<std::thread> threads;
  for (int t = 1; t < options.threads; ++t) {
    threads.emplace_back([&work, t] { work[static_cast<std::size_t>(t)]->run(); });
  }
  work[0]->run();
  for (std::thread& thread : threads) thread.join();
  work.clear();
  free_members(members);
}

}  // namespace test::sweep
