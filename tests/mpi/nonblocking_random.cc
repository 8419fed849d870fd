// SPDX-License-Identifier: BSD-3-Clause
// Random programs: many nonblocking collectives outstanding on several communicators, with blocking
// collectives and messages between them, started in one order and completed in any.
// nonblocking_random SEEDS [FIRST_SEED] [STEPS]
#include "completion.h"
#include "groups.h"
#include "messages.h"
#include "random_cases.h"

namespace {

using namespace test;

constexpr std::size_t kMostOutstanding = 64;

struct Member : Group {
  bool served = false;  // true after the first two calls
};

class Program {
 public:
  Program(std::uint64_t seed, int steps)
      : seed_(seed),
        steps_(steps),
        shared_(seed),
        own_(seed * 1000 + static_cast<std::uint64_t>(rank)),
        slow_rank_(static_cast<int>(shared_.below(static_cast<std::uint64_t>(2 * ranks)))),
        pending_(own_) {}

  void run() {
    make_groups();
    for (int i = 0; i < steps_; ++i) {
      step("seed %llu, step %d, %zu outstanding", static_cast<unsigned long long>(seed_), i,
           pending_.size());
      dawdle();
      one_step(i);
      if (pending_.size() >= kMostOutstanding || own_.below(eagerness_) == 0) {
        pending_.complete_some();
      }
    }
    step("seed %llu, the end, %zu outstanding", static_cast<unsigned long long>(seed_),
         pending_.size());
    pending_.complete_all();
    for (Group& group : groups_) {
      if (group.comm != MPI_COMM_WORLD && group.comm != MPI_COMM_NULL) MPI_Comm_free(&group.comm);
    }
  }

 private:
  // Overlapping communicators. On some the first calls, in which Sumac sets a communicator up, have
  // not been made yet.
  void make_groups() {
    const int last = ranks - 1;
    MPI_Comm dup, halves, reversed, pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &halves);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    const bool in_pair = rank == 0 || rank == last;
    MPI_Comm_split(MPI_COMM_WORLD, in_pair ? 0 : MPI_UNDEFINED, -rank, &pair);
    for (MPI_Comm comm : {MPI_COMM_WORLD, dup, halves, reversed, pair}) {
      groups_.push_back({group_of(comm)});
      const bool wanted = shared_.below(3) > 0;
      if (wanted && comm != MPI_COMM_NULL) groups_.back().served = warm_up(comm);
    }
  }

  // All decisions come from shared_, whose state is the same on all ranks.
  void one_step(int number) {
    const std::uint64_t kind = shared_.below(10), salt = shared_.next();
    const Member& group = groups_[shared_.below(groups_.size())];
    const std::uint64_t state = shared_.next();
    if (group.comm == MPI_COMM_NULL) return;
    Random choices(state);
    if (kind < 6) {
      start(group, choices);
    } else if (kind < 8) {
      call(group, choices);
    } else if (group.size() > 1) {
      message(group, choices, number, salt);
    }
  }

  void start(const Member& group, Random& choices) {
    const Case c = random_case(choices, Form::nonblocking, group.size());
    pending_.add(std::make_unique<Begun>(c, group));
    if (group.served && group.size() > 1) expect_taken_nonblocking(step_text);
  }

  static void call(const Member& group, Random& choices) {
    test::run(random_case(choices, Form::blocking, group.size()), group, Served::anyhow);
  }

  // A message between two random ranks; either end may be blocking.
  void message(const Member& group, Random& choices, int number, std::uint64_t salt) {
    const auto size = static_cast<std::uint64_t>(group.size());
    const auto source = static_cast<int>(choices.below(size));
    const int target = (source + 1 + static_cast<int>(choices.below(size - 1))) % group.size();
    const Message message{source,        target,       number, random_bytes(choices),
                          salt % 5 == 0, salt % 5 == 1};
    if (group.rank != source && group.rank != target) return;
    const bool blocks = salt >> (group.rank == source ? 20 : 21) & 1;
    auto end = std::make_unique<PendingMessage>(message, group);
    if (blocks) {
      end->call(group.comm);
    } else {
      end->start(group.comm);
      pending_.add(std::move(end));
    }
  }

  // Delays this rank at random; one rank may be slower than the others all the time.
  void dawdle() {
    const std::uint64_t choice = own_.below(rank == slow_rank_ ? 6 : 24);
    if (choice == 0) {
      usleep(static_cast<useconds_t>(own_.below(own_.below(10) ? 300 : 4000)));
    } else if (choice < 3) {
      sched_yield();
    } else if (choice == 3) {
      for (int i = 0; i < 5000; ++i) busy_ = mix(busy_);
    }
  }

  std::uint64_t seed_;
  int steps_;
  Random shared_, own_;
  int slow_rank_;
  std::uint64_t eagerness_ = 2 + own_.below(20), busy_ = 1;
  Pending pending_;
  std::vector<Member> groups_;
};

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 200;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(seeds); ++seed) {
    const long before = failures;
    Program(seed, steps).run();
    if (failures != before) {
      std::fprintf(stderr, "rank %d: failures with seed %llu\n", rank,
                   static_cast<unsigned long long>(seed));
    }
  }
  return finish();
}
