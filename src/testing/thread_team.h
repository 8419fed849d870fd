// SPDX-License-Identifier: BSD-3-Clause
// This is a team of ranks that are threads of this process. Everything is as in a job except the
// out-of-band communication; each rank has a process's options, rules and memory of its own.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <thread>

#include "observe/log.h"
#include "rules/rules.h"
#include "team/set_up.h"
#include "testing/post_office.h"

namespace sumac::testing {

// One process has this.
struct TestProcess {
  TestProcess(const std::vector<std::string>& environment, const RuleSet& its_rules,
              std::size_t slot_bytes, bool has_memory)
      : variables(environment), rules(its_rules), arena(slot_bytes, has_memory) {
    std::vector<char*> pointers;
    for (std::string& variable : variables) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    const auto problem = [](void*, const sumac_problem*) { std::abort(); };
    sumac_options_read(&options, pointers.data(), nullptr, problem, nullptr);
  }

  std::vector<std::string> variables;  // `options` point into them
  sumac_options options;
  RuleSet rules;
  Arena arena;
  IdleMessages idle;
  KnownMeasures measures;
  KnownGroups groups;
};

// Returns how far the clock passes on from one reading to the next in this thread.
inline double& batch_ns() {
  thread_local double ns = 0;
  return ns;
}
inline std::uint64_t clock_of_batches() {
  thread_local double now = 0;
  return static_cast<std::uint64_t>(now += batch_ns());
}
// This clock trusts that the other threads come, however late.
inline constexpr LineClock kClockOfBatches{clock_of_batches, 60'000'000'000};

// A test decides this about the ranks.
struct Setting {
  std::vector<Place> places;
  std::string hierarchy = "auto", forced;
  SlowDesign design = SlowDesign::basic;
  RuleSet rules;
  bool oversubscribed = false, shares_memory = true, reproducible = false;
  std::size_t slot_bytes = 1024;
  // Returns the nanoseconds that a line takes there and back as a rank measures it. If null, the
  // clock tells.
  std::function<double(int rank)> line_ns;
  LineClock clock;
  unsigned seed = 0;
  FileIdentity memory_file;  // every rank says that it has this file: threads share memory
  // One rank differs from the others. The next fields are what it says about itself, and what its
  // process is like.
  int odd = -1;
  std::function<void(Hello&)> odd_hello;
  std::vector<std::string> odd_environment;
  bool odd_has_no_memory = false;
  bool odd_has_no_messages = false;
  // The ranks of this one's node can gather something among them so many times, and then no more.
  int lonely = -1, lonely_after = 0;
  int tell_all = 1;  // teams of up to so many ranks introduce themselves by one all-gather
  // The ranks also say this about themselves.
  std::function<void(int rank, Hello&)> all_hellos;

  int ranks() const { return static_cast<int>(places.size()); }
  std::vector<std::string> environment(int rank) const {
    static constexpr const char* kDesigns[] = {"basic", "direct", "peer"};
    std::vector<std::string> all{
        "SUMAC_HIERARCHY=" + hierarchy,
        "SUMAC_ALGO=" + forced,
        "SUMAC_SPIN=1",
        "SUMAC_SHM_BUDGET=64M",
        "SUMAC_TELL_ALL=" + std::to_string(tell_all),
        std::string("SUMAC_SLOW_DESIGN=") + kDesigns[static_cast<int>(design)]};
    if (reproducible) all.push_back("SUMAC_REPRODUCIBLE=1");
    if (rank == odd) all.insert(all.end(), odd_environment.begin(), odd_environment.end());
    return all;
  }
};

// Returns ranks on nodes of about the same number of ranks each.
inline Setting setting_of(int ranks, int nodes) {
  Setting setting;
  for (int r = 0; r < ranks; ++r) {
    Place place;
    place.node = place.host = 1 + static_cast<std::uint64_t>(r * nodes / ranks);
    setting.places.push_back(place);
  }
  return setting;
}

// Adds a rule that takes what the rules before it leave of a collective.
inline void add_rule(RuleSet& rules, Over over, Algorithm algorithm, std::uint32_t chunk,
                     int radix) {
  Rule rule;
  rule.collective = info_of(algorithm).collective;
  rule.over = over;
  rule.choice.algorithm = algorithm;
  rule.choice.chunk = chunk;
  rule.choice.radix = static_cast<std::uint16_t>(radix);
  rules.rules.push_back(rule);
}

// Adds rules for each collective over levels, with chunks of up to so many cache lines. Algorithms
// that need more than levels come now and then, and behind them those that always run.
inline void add_level_rules(RuleSet& rules, unsigned most_lines, std::mt19937& random) {
  for (const bool always : {false, true}) {
    for (const Algorithm algorithm : kAllAlgorithms) {
      const AlgorithmInfo& info = info_of(algorithm);
      const bool cuts = over_of(info.needs) == Over::levels && info.tuned == Tuned::chunk;
      if (!cuts || (info.needs == Needs::levels) != always) continue;
      if (!always && random() % 3 != 0) continue;
      const auto lines = static_cast<std::uint32_t>(1 + random() % most_lines);
      add_rule(rules, Over::levels, algorithm, lines * kCacheLine, 2);
    }
  }
}

// The ranks of a team share this. They meet through it, and the tests look at it.
class TeamMeeting {
 public:
  explicit TeamMeeting(int ranks) : barrier_(ranks), words_(static_cast<std::size_t>(ranks)) {}

  // Exchanges each rank's data, which are in use until all have seen them.
  template <class Look>
  void exchange(int rank, const void* own, Look look) {
    words_[static_cast<std::size_t>(rank)] = own;
    barrier_.arrive_and_wait();
    look(words_);
    barrier_.arrive_and_wait();
  }
  PostOffice& office(std::size_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (offices_.size() <= number) offices_.emplace_back();
    return offices_[number];
  }
  // Returns the meeting of these members alone.
  TeamMeeting& among(const RankList& members) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<TeamMeeting>& meeting = parts_[{members.begin(), members.end()}];
    if (!meeting) meeting = std::make_unique<TeamMeeting>(members.size());
    return *meeting;
  }
  // Returns the bytes of all messages so far, (from, to) -> bytes. No thread may run.
  std::map<std::pair<int, int>, std::size_t> bytes() const {
    std::map<std::pair<int, int>, std::size_t> sum;
    for (const PostOffice& office : offices_) {
      for (const auto& [way, bytes] : office.bytes) sum[way] += bytes;
    }
    return sum;
  }

 private:
  std::barrier<> barrier_;
  std::vector<const void*> words_;
  std::mutex mutex_;
  std::deque<PostOffice> offices_;
  std::map<std::vector<int>, std::unique_ptr<TeamMeeting>> parts_;
};

class ThreadOob final : public Oob {
 public:
  ThreadOob(TeamMeeting& meeting, const Setting& setting, int rank)
      : meeting_(meeting), setting_(setting), rank_(rank) {}

  void all_gather(const void* own, void* all, std::size_t bytes) override {
    received += bytes * static_cast<std::size_t>(setting_.ranks());
    meeting_.exchange(rank_, own, [&](const std::vector<const void*>& of_ranks) {
      copy_all(of_ranks, all, bytes);
    });
  }
  void gather(const void* own, void* all, std::size_t bytes) override {
    received += rank_ == 0 ? bytes * static_cast<std::size_t>(setting_.ranks()) : 0;
    meeting_.exchange(rank_, own, [&](const std::vector<const void*>& of_ranks) {
      if (rank_ == 0) copy_all(of_ranks, all, bytes);
    });
  }
  bool all_gather_among(const RankList& members, const void* own, void* all,
                        std::size_t bytes) override {
    received += bytes * static_cast<std::size_t>(members.size());
    meeting_.among(members).exchange(
        members.index_of(rank_), own,
        [&](const std::vector<const void*>& of_ranks) { copy_all(of_ranks, all, bytes); });
    return node_of(setting_.lonely) != node_of(rank_) || gathered_++ < setting_.lonely_after;
  }
  void all_and(std::uint64_t* words, std::size_t count) override {
    fold(words, count, [](std::uint64_t a, std::uint64_t b) { return a & b; });
  }
  void all_max(std::uint64_t* words, std::size_t count) override {
    fold(words, count, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  }
  void broadcast(void* data, std::size_t bytes) override {
    received += bytes;
    meeting_.exchange(rank_, data, [&](const std::vector<const void*>& of_ranks) {
      if (rank_ != 0) std::memcpy(data, of_ranks[0], bytes);
    });
  }
  bool make_messages(std::shared_ptr<Messages>& made) override {
    PostOffice& office = meeting_.office(made_++);
    if (rank_ == setting_.odd && setting_.odd_has_no_messages) return false;
    const unsigned seed = setting_.seed * 64 + static_cast<unsigned>(rank_);
    made = std::make_shared<PostedMessages>(office, rank_, seed);
    return true;
  }
  void drive() override {}
  void end_job() override { ended = true; }

  bool ended = false;
  std::size_t received = 0;  // bytes so far

 private:
  static void copy_all(const std::vector<const void*>& of_ranks, void* all, std::size_t bytes) {
    auto* to = static_cast<std::byte*>(all);
    for (const void* from : of_ranks) {
      std::memcpy(to, from, bytes);
      to += bytes;
    }
  }
  // Returns the node of a rank; that of no rank is none.
  std::uint64_t node_of(int rank) const {
    return rank < 0 ? ~std::uint64_t{0} : setting_.places[static_cast<std::size_t>(rank)].node;
  }
  template <class Op>
  void fold(std::uint64_t* words, std::size_t count, Op op) {
    received += count * sizeof *words;
    const std::vector<std::uint64_t> own(words, words + count);
    meeting_.exchange(rank_, own.data(), [&](const std::vector<const void*>& of_ranks) {
      for (const void* from : of_ranks) {
        for (std::size_t i = 0; i < count; ++i) {
          words[i] = op(words[i], static_cast<const std::uint64_t*>(from)[i]);
        }
      }
    });
  }

  TeamMeeting& meeting_;
  const Setting& setting_;
  const int rank_;
  std::size_t made_ = 0;
  int gathered_ = 0;  // times among the ranks of the node
};

// This has all ranks of a team, set up. Each is for one thread.
class ThreadTeam {
 public:
  // `before` is done with the processes before they meet.
  explicit ThreadTeam(Setting setting, const std::function<void(ThreadTeam&)>& before = {},
                      bool agree_only = false)
      : setting_(std::move(setting)), meeting_(setting_.ranks()) {
    set_log(Level::off, 0);
    for (int r = 0; r < setting_.ranks(); ++r) {
      const bool odd = r == setting_.odd;
      ranks_.emplace_back(setting_, meeting_, r, !(odd && setting_.odd_has_no_memory));
    }
    if (before) before(*this);
    each([=](Team& team, const Hello& own) { set_up_team(team, own, agree_only); });
  }
  ~ThreadTeam() {
    for (Rank& rank : ranks_) rank.team.reset();
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Runs make(team, hello) on all ranks at once, and waits for its end.
  template <class Make>
  void each(Make make) {
    std::vector<std::thread> threads;
    for (Rank& rank : ranks_) {
      threads.emplace_back([&] {
        if (setting_.line_ns) batch_ns() = setting_.line_ns(rank.team.rank) * kLineTrips;
        make(rank.team, rank.hello(setting_));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  Team& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)].team; }
  ThreadOob& oob(int rank) { return ranks_[static_cast<std::size_t>(rank)].oob; }
  TestProcess& process(int rank) { return ranks_[static_cast<std::size_t>(rank)].process; }
  const Setting& setting() const { return setting_; }
  // Returns the bytes of all messages so far. No thread may run.
  std::map<std::pair<int, int>, std::size_t> bytes() const { return meeting_.bytes(); }

 private:
  struct Rank {
    Rank(const Setting& setting, TeamMeeting& meeting, int number, bool has_memory)
        : process(setting.environment(number), setting.rules, setting.slot_bytes, has_memory),
          context{process.options,  process.rules,
                  process.arena,    process.idle,
                  process.measures, process.groups,
                  Family::any,      static_cast<std::uint64_t>(number) + 1,
                  setting.clock,    setting.shares_memory},
          oob(meeting, setting, number),
          team(context, oob) {
      team.rank = number;
      team.size = setting.ranks();
    }
    // Each node looks like a machine of its own.
    Hello hello(const Setting& setting) const {
      Hello own = own_hello(context, team.hierarchy);
      own.place = setting.places[static_cast<std::size_t>(team.rank)];
      own.machine = own.place.node;
      own.job_ranks_on_node = own.cpu_quota = 0;
      for (std::uint64_t& word : own.cpus.words) word = setting.oversubscribed ? 0 : ~0ull;
      own.world = team.size;
      own.progresses_messages = 1;
      own.memory_file = setting.memory_file;
      if (setting.all_hellos) setting.all_hellos(team.rank, own);
      if (team.rank == setting.odd && setting.odd_hello) setting.odd_hello(own);
      return own;
    }

    TestProcess process;
    const Context context;
    ThreadOob oob;
    Team team;
  };

  const Setting setting_;
  TeamMeeting meeting_;
  std::deque<Rank> ranks_;
};

}  // namespace sumac::testing
