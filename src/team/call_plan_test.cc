// SPDX-License-Identifier: BSD-3-Clause
// The tests compare plans with what ranks really did. For shapes drawn at random, they compare the
// bytes that each rank sent each other, and the chunks that each level worked on by which
// algorithm, as traces tell.
#include "levels/call_plan.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "levels/price.h"
#include "levels/stage_works.h"
#include "observe/trace.h"
#include "testing/read_recording.h"
#include "testing/test_call.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr unsigned kShapes = 40;
#else
constexpr unsigned kShapes = 300;
#endif

// The bytes by sender and receiver, and the chunks by "level stage algorithm".
struct Seen {
  std::map<std::pair<int, int>, std::size_t> bytes;
  std::map<std::string, std::size_t> chunks;
};

// ---- What is planned ----

const char* stage_name(StagePlan::Kind kind) {
  constexpr const char* kNames[] = {"up", "across", "down", "up", "down", "up"};
  return kNames[static_cast<int>(kind)];
}

void add_messages(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                  const CallShape& shape, Seen& seen) {
  for (const Message& message : price(plan, stage, group, shape).messages) {
    if (message.from != group.rank || message.bytes == 0) continue;
    const auto at = [&](int index) { return group.members[index]; };
    seen.bytes[{at(message.from), at(message.to)}] += message.bytes;
  }
}

// Returns the chunks that a rank works on in a stage.
std::size_t chunks_of(const CallPlan& plan, const StagePlan& stage, const CallShape& shape,
                      const LevelGroup& group, const Layout& layout) {
  using Kind = StagePlan::Kind;
  const std::size_t chunks = plan.num_chunks();
  const bool exchanges = stage.kind == Kind::exchange;
  if (exchanges && plan.largest_piece(stage) == 0) return 0;
  if (stage.workers == Workers::across) {
    return (plan.first.bytes > 0 ? chunks - 1 : 0) + (plan.last.bytes > 0 ? 1 : 0);
  }
  const bool in_steps = stage.kind == Kind::scatter || stage.kind == Kind::gather;
  if (stage.workers != Workers::level || !in_steps) return chunks;
  const std::size_t piece =
      layout.slot_bytes / static_cast<std::size_t>(group.size) / kCacheLine * kCacheLine;
  return div_up(part_of(shape.bytes, group.size, 0).bytes, piece);
}

void add_stage(const AgreedLevels& agreed, const StagePlan& stage, const CallShape& shape,
               const CallPlan& plan, const Layout& layout, Seen& seen) {
  const LevelGroup& group = group_of(agreed, stage);
  if (stage.work == &kPassive && group.rank != stage.root) return;  // a member waits
  const std::size_t chunks = chunks_of(plan, stage, shape, group, layout);
  if (chunks == 0) return;  // this rank has no part
  if (!group.shared) add_messages(plan, stage, group, shape, seen);
  const std::string name = group.name;
  seen.chunks[name + " " + stage_name(stage.kind) + " " + name_of(stage.algorithm)] += chunks;
}

// ---- What is done ----

// Returns null if the collective has one group in shared memory.
LevelsRun* levels_of(Team& team, Collective collective) {
  return team.levels_for[static_cast<int>(collective)];
}

struct Buffers {
  std::vector<Word> in, out;
};

CallArguments arguments_of(const AgreedLevels& agreed, const CallShape& shape, int rank,
                           Buffers& buffers, int radix) {
  const std::size_t count = shape.bytes / sizeof(Word);
  buffers.in.assign(count, 1);
  buffers.out.assign(count, 1);
  const auto* const in = reinterpret_cast<const std::byte*>(buffers.in.data());
  auto* const out = reinterpret_cast<std::byte*>(buffers.out.data());
  const ArgumentKind arguments = info_of(shape.collective).arguments;
  if (arguments == ArgumentKind::bcast) {
    return BcastArguments{out, shape.bytes, shape.root, radix};
  }
  const Parts parts{shape.bytes, agreed.order ? static_cast<int>(agreed.order->ranks.size()) : 1, 1,
                    0, shape.listed};
  if (arguments == ArgumentKind::allgather) {
    return AllgatherArguments{in + parts[rank].offset, out, parts, radix};
  }
  ReduceArguments reduction{in, out, count, sizeof(Word), sum_kernel, shape.root};
  reduction.radix = radix;
  if (!gets_result(shape.collective, rank, shape.root)) reduction.output = nullptr;
  if (arguments != ArgumentKind::reduce_scatter) return reduction;
  return ReduceScatterArguments{reduction, parts};
}

// Where the MPI would be called, the test takes the plan called levels.
Choice choice_of(const AgreedLevels& agreed, const CallShape& shape) {
  Choice choice = agreed.whole.choose(shape.collective, shape.bytes);
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (choice.algorithm != Algorithm::native) break;
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.collective == shape.collective && info.needs == Needs::levels) {
      choice.algorithm = algorithm;
    }
  }
  return choice;
}

ChosenCall call_of(const AgreedLevels& agreed, const CallShape& shape, int rank, Buffers& buffers) {
  const Choice choice = choice_of(agreed, shape);
  return {arguments_of(agreed, shape, rank, buffers, choice.radix), shape.collective, choice};
}

void run(ThreadTeam& all, int ranks, const CallShape& shape) {
  std::vector<std::thread> threads;
  std::deque<Buffers> buffers(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      Buffers& own = buffers[static_cast<std::size_t>(r)];
      LevelsRun& levels = *levels_of(all[r], shape.collective);
      levels.run(call_of(levels.agreed(), shape, r, own), {}, WaitPolicy());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Reads the chunks that a trace tells of.
void read_chunks(const std::filesystem::path& file, Seen& seen) {
  const ReadRecording read = read_recording(file);
  std::map<std::string, std::string> lanes;
  for (const std::string& line : read.lines) {
    const std::string lane = value_of(line, "lane");
    if (lane.empty()) continue;
    lanes[lane] =
        value_of(line, "level") + " " + value_of(line, "stage") + " " + value_of(line, "algorithm");
  }
  for (const TracedPiece& piece : read.records<TracedPiece>()) {
    ++seen.chunks[lanes.at(std::to_string(piece.lane))];
  }
}

class CallPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sumac-plan-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Seen done(ThreadTeam& all, int ranks, const CallShape& shape) {
    const auto before = all.bytes();
    trace::start(folder_.c_str(), 1 << 16);
    run(all, ranks, shape);
    EXPECT_TRUE(trace::write(0, 1));
    Seen seen;
    for (const auto& [way, bytes] : all.bytes()) {
      const auto sent = before.find(way);
      const std::size_t now = bytes - (sent == before.end() ? 0 : sent->second);
      if (now > 0) seen.bytes[way] = now;
    }
    read_chunks(folder_ / "rank-0.trace", seen);
    std::filesystem::remove(folder_ / "rank-0.trace");
    return seen;
  }
  void expect_as_planned(const Setting& setting, ThreadTeam& all, const CallShape& shape);

 private:
  std::filesystem::path folder_;
};

Seen planned(ThreadTeam& all, const Setting& setting, const CallShape& shape) {
  Layout layout;
  layout.slot_bytes = setting.slot_bytes;
  Seen seen;
  CallPlan plan;
  for (int r = 0; r < setting.ranks(); ++r) {
    const AgreedLevels& agreed = levels_of(all[r], shape.collective)->agreed();
    plan_call(agreed, choice_of(agreed, shape), shape, plan);
    for (const StagePlan& stage : plan.stages) add_stage(agreed, stage, shape, plan, layout, seen);
  }
  return seen;
}

void CallPlans::expect_as_planned(const Setting& setting, ThreadTeam& all, const CallShape& shape) {
  const Seen expected = planned(all, setting, shape), seen = done(all, setting.ranks(), shape);
  std::ostringstream about;
  about << "seed " << setting.seed << ", " << setting.ranks() << " ranks, forced '"
        << setting.forced << "', " << name_of(shape.collective) << " of " << shape.bytes << " root "
        << shape.root;
  EXPECT_EQ(seen.chunks, expected.chunks) << about.str();
  EXPECT_EQ(seen.bytes, expected.bytes) << about.str();
}

// ---- Shapes ----

Setting setting_of(const std::vector<int>& nodes, const std::string& text) {
  Setting setting;
  for (const int node : nodes) {
    Place place;
    place.node = place.host = static_cast<std::uint64_t>(node);
    place.at.numa = static_cast<int>(setting.places.size()) / 2 % 3;
    setting.places.push_back(place);
  }
  setting.hierarchy = text;
  return setting;
}

Setting random_setting(Random& random) {
  static constexpr const char* kTexts[] = {"auto",      "auto",         "flat",    "node",
                                           "numa,node", "ranks:2,node", "ranks:3", "node,ranks:2"};
  const int each = 1 + below(random, 4), count = 1 + below(random, 5), style = below(random, 3);
  std::vector<int> nodes;
  for (int r = 0; r < std::max(2, each * count); ++r) {
    const int styles[] = {r / each, r % count, below(random, count)};
    nodes.push_back(styles[style]);
  }
  Setting setting = setting_of(nodes, kTexts[random() % std::size(kTexts)]);
  setting.shares_memory = random() % 4 != 0;
  setting.oversubscribed = random() % 2;
  setting.slot_bytes = 1024u << random() % 6;
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (random() % 6) continue;
    const AlgorithmInfo& info = info_of(algorithm);
    setting.forced += std::string(name_of(info.collective)) + ":" + info.name + ";";
  }
  return setting;
}

CallShape random_shape(int ranks, Random& random) {
  static constexpr int kMost[] = {40, 5000, 60000, 500000};
  const auto words = static_cast<std::size_t>(1 + below(random, kMost[random() % 4]));
  CallShape shape{random_collective(random), words * sizeof(Word), sizeof(Word)};
  if (info_of(shape.collective).has_root) shape.root = below(random, ranks);
  if (!info_of(shape.collective).reduces) shape.element = 1;
  return shape;
}

// Returns parts of any length, for a collective that has some; or none, which means equal ones.
std::vector<Part> random_parts(CallShape& shape, int ranks, Random& random) {
  std::vector<Part> parts;
  if (!has_parts(shape.collective)) return parts;
  const std::size_t row = static_cast<std::size_t>(ranks) * sizeof(Word);
  if (random() % 2) {
    shape.bytes = round_up(shape.bytes, row);
    return parts;
  }
  for (std::size_t r = 0, end = 0; r < static_cast<std::size_t>(ranks); ++r) {
    const bool last = r + 1 == static_cast<std::size_t>(ranks);
    const std::size_t words = (shape.bytes - end) / sizeof(Word);
    const std::size_t part = last ? words : random() % 4 ? random() % (words / 2 + 1) : 0;
    parts.push_back({end, part * sizeof(Word)});
    end += parts.back().bytes;
  }
  return parts;
}

TEST_F(CallPlans, AreWhatIsDone) {
  for (unsigned seed = 0; seed < kShapes && !HasFailure(); ++seed) {
    Random random(seed);
    Setting setting = random_setting(random);
    setting.seed = seed;
    ThreadTeam all(setting);
    // All ranks are one group that shares memory.
    if (!levels_of(all[0], Collective::allreduce)) continue;
    for (int i = 0; i < 2; ++i) {
      CallShape shape = random_shape(setting.ranks(), random);
      const std::vector<Part> parts = random_parts(shape, setting.ranks(), random);
      if (!parts.empty()) shape.listed = parts.data();
      expect_as_planned(setting, all, shape);
    }
  }
}

// A coprocessor's ranks on each node are slow: there are as many chunks as are handed over, and
// fewer.
TEST_F(CallPlans, WithSlowRanksAreWhatIsDone) {
  struct {
    int nodes, fast, slow;
  } const kNodes[] = {{2, 2, 2}, {3, 1, 1}, {2, 3, 2}, {2, 1, 3}, {2, 2, 3}};
  for (const auto& [nodes, fast, slow] : kNodes) {
    Setting setting;
    for (int r = 0; r < nodes * (fast + slow); ++r) {
      const int node = r / (fast + slow);
      Place place;
      place.slow = r % (fast + slow) >= fast;
      place.node = place.host = static_cast<std::uint64_t>(place.slow ? nodes + node : node) + 1;
      if (place.slow) place.attached = static_cast<std::uint64_t>(node) + 1;
      setting.places.push_back(place);
    }
    setting.forced = "allreduce:all_ranks_peers;reduce:all_ranks_peers;bcast:all_ranks";
    ThreadTeam all(setting);
    for (const std::size_t bytes : {8u, 100u << 10, 400u << 10, 1u << 20}) {
      expect_as_planned(setting, all, {Collective::allreduce, bytes, sizeof(Word)});
    }
    for (int root = 0; root < setting.ranks(); ++root) {
      const std::size_t bytes = root % 2 ? 100u << 10 : 400u << 10;
      expect_as_planned(setting, all, {Collective::reduce, bytes, sizeof(Word), root});
      expect_as_planned(setting, all, {Collective::bcast, bytes, 1, root});
    }
  }
}

// The executor once decided this by itself, and only there.
TEST_F(CallPlans, OfWhatWasDecidedWhileItBegan) {
  struct Case {
    int nodes, each;
    std::size_t bytes;
    const char* forced;
    std::size_t chunk, chunks;
    Algorithm between;
  };
  constexpr std::size_t kM = 1 << 20;
  const Case cases[] = {
      // A level alone has chunks of 4 MiB; the rules ask for the ring in these.
      {5, 1, 16 * kM, "", 4 * kM, 4, Algorithm::allreduce_ring},
      // The rank's part has 256 KiB, in one chunk.
      {4, 16, 4 * kM, "", kM / 4, 1, Algorithm::allreduce_rabenseifner},
  };
  for (const Case& c : cases) {
    std::vector<int> nodes;
    for (int r = 0; r < c.nodes * c.each; ++r) nodes.push_back(r / c.each);
    Setting setting = setting_of(nodes, "node");
    setting.slot_bytes = 32 << 10;
    setting.forced = c.forced;
    ThreadTeam all(setting);
    const CallShape shape{Collective::allreduce, c.bytes, sizeof(Word)};
    const AgreedLevels& agreed = levels_of(all[0], Collective::allreduce)->agreed();
    CallPlan plan;
    plan_call(agreed, choice_of(agreed, shape), shape, plan);
    EXPECT_EQ(plan.chunks[0].bytes, c.chunk);
    EXPECT_EQ(plan.chunks.count(), c.chunks);
    EXPECT_EQ(plan.stages[plan.stages.size() / 2].algorithm, c.between);
    expect_as_planned(setting, all, shape);
  }
}

}  // namespace
}  // namespace sumac::testing
