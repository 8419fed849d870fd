// SPDX-License-Identifier: BSD-3-Clause
// A rank sees a hierarchy as the levels it takes part in, and an operation as a list of stages,
// planned first and then carried out. A stage is one level working on all chunks, one after
// another, whenever its input is there: it has a strand of its own (or several, if it is worth
// having messages under way at the same time). Stages tell each other of finished chunks by
// counters and by nothing else, so levels progress independently: while a node reduces chunk k,
// leaders exchange k-1 and members get k-2. Some plans have strands that take a chunk through all
// of their stages instead, several chunks at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/chunks.h"
#include "algorithms/cost.h"
#include "algorithms/functions.h"
#include "algorithms/relay.h"
#include "base/measured.h"
#include "hierarchy/hierarchy.h"
#include "levels/direct_level.h"
#include "levels/spread.h"
#include "strands/together.h"

namespace sumac {

// A level's stage over messages has this many strands: while one waits, the other has messages
// under way.
inline constexpr int kWidth = 2;
// A stage among other ranks has at most this many.
inline constexpr int kMostWidth = 6;

// This rank takes part in this level of the hierarchy, with its group there.
struct LevelGroup {
  char name[16] = "";
  int size = 1, rank = 0, leader = 0;  // in its group of the level
  bool shared = false;                 // the group shares memory; else it sends messages
  Measured measured;                   // shared: its ranks have agreed on this
  std::byte* block = nullptr;          // shared: the group's memory
  ShmGroup up, down;                   // a lane of the block for each direction
  RankList members;                    // communicator ranks of the group
  RankList places;   // places of the members' first ranks in TreeOrder, and the end
  SingleCopy peers;  // shared: set if single copy is possible

  // Returns the group's member that leads to the rank at a place in TreeOrder; -1: none.
  int member_towards(int place) const {
    return place < places.back() ? places.last_up_to(place) : -1;
  }
};

// Returns the levels that `rank` takes part in, which are the first ones of the hierarchy. The
// caller adds shared memory, messages and single copy.
std::vector<LevelGroup> levels_of(const Hierarchy& hierarchy, const TreeOrder& order, int rank);

// Counts the chunks that a stage has done. Strand c % width does chunk c.
class ChunkCounter {
 public:
  void begin(int width) {
    width_ = width;
    for (int i = 0; i < width; ++i) {
      chunks_[static_cast<std::size_t>(i)].store(0, std::memory_order_relaxed);
    }
  }
  int width() const { return width_; }
  ChunkCounter() = default;
  ChunkCounter(const ChunkCounter&) = delete;
  ChunkCounter& operator=(const ChunkCounter&) = delete;
  Wait done(std::size_t chunk) const {
    const auto width = static_cast<std::size_t>(width_);
    return {chunks_[chunk % width], chunk / width + 1};
  }
  void note(std::size_t chunk) {
    const auto width = static_cast<std::size_t>(width_);
    publish(chunks_[chunk % width], chunk / width + 1);
  }

 private:
  int width_ = 1;
  std::array<Counter, kMostWidth> chunks_{};
};

struct CallPlan;
struct CallShape;
struct Operation;
struct Stage;
struct StagePlan;

// A strand of a stage works with these.
struct Worker {
  MessageGroup messages;    // its group, if that sends messages
  std::vector<Part> parts;  // parts of the chunk in the stage's group, where ranks have some
  CallArguments args;       // arguments of the algorithm that is under way
  bool idle = false;        // set by a piece that had nothing to do: the trace leaves it out
};

// This is how a stage does its chunks and what they cost. It is one value for all stages of a kind:
// an algorithm over levels takes some that there are, or brings its own.
struct StageWork {
  // Does one chunk.
  Task (*piece)(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                std::size_t chunk);
  // Counts what the stage costs its group: the steps of one chunk, the bytes of all chunks.
  Traffic (*price)(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                   const CallShape& shape);
  // Does the strand's chunks, where more is to be done than one after another (run_in_chunks()).
  Task (*run)(Strand& strand, Operation& operation, std::size_t stage, int which) = nullptr;
};

// These ranks work in a stage.
enum class Workers : std::uint8_t {
  level,         // the rank's group of a level
  all,           // all ranks, node after node
  counterparts,  // the ranks of the same place in all groups of the lowest level
  node,          // the ranks of the node
  across,        // the ranks of the same place on all nodes
};

// This says what a group does in one collective, as one rank of it sees it. All ranks of the group
// share the value, except for the order of the stages.
struct StagePlan {
  // scatter, exchange among counterparts, and gather are the stages of those plans in which all
  // ranks of a node work. collect is the way up of an all-gather, by which all ranks of a group get
  // its ranks' parts.
  enum class Kind : std::uint8_t { reduce, exchange, bcast, scatter, gather, collect };
  static constexpr int kNone = -1;

  Kind kind = Kind::reduce;
  Workers workers = Workers::level;
  bool first = false;               // the input is the caller's, not the result so far
  bool down = false;                // the data go down, on the lane for that
  int width = 1;                    // strands that take the chunks in turn
  int level = 0;                    // index in the levels that the rank takes part in
  int root = 0;                     // rank of the group where a reduction ends or data start
  const StageWork* work = nullptr;  // never null in a plan
  // The chunks of this stage are the input. kNone: the input is there from the beginning.
  int after = kNone;
  // Chunk c of this stage may reuse the place of chunk c - kKept once stage `room` has done that
  // chunk. kNone: it need not wait.
  int room = kNone;
  Algorithm algorithm = Algorithm::native;  // for each chunk
  int radix = 2;                            // radix of its tree
  std::int32_t rule = -1;                   // the rule that chose it: ChoiceRange::rule
};
using StagePlans = std::vector<StagePlan>;

// A planned stage that is carried out.
struct Stage : StagePlan {
  LevelGroup* group = nullptr;
  ChunkCounter done;
};

constexpr std::size_t most_stages(std::size_t levels) { return 2 * levels + 1; }

// A rank that has no output of its own keeps this many chunks of intermediate results, or one for
// each strand that takes chunks through all stages.
inline constexpr std::size_t kKept = 4;

// One collective over the levels, as this rank carries it out.
struct Operation {
  const CallPlan* plan = nullptr;
  ReduceArguments reduction;
  BcastArguments bcast;
  Chunks chunks{0, kCacheLine, kCacheLine};
  // A reduce-scatter and an all-gather use these, and have a Spread in place of chunks.
  ReduceScatterArguments reduce_scatter;
  AllgatherArguments allgather;
  const Spread* spread = nullptr;  // null: another collective
  bool gathers = false;            // true for an all-gather
  int place = 0;                   // this rank's place in TreeOrder
  std::byte* kept = nullptr;       // chunks used if reduction.output is null
  std::size_t num_kept = kKept;
  std::unique_ptr<Stage[]> stages;  // room for most_stages(levels)
  std::size_t num_stages = 0;
  std::uint64_t passive_position = 0;
  // Members of a leader copy for it by this relay. The counters are the turns of the stages that
  // ask them.
  std::optional<Relay> passive_relay;
  Counter passive_turn{0};
  std::uint64_t passive_turns = 0;
  DirectLevel direct;
  std::vector<Worker> workers;  // [stage * kMostWidth + strand]

  Worker& worker(std::size_t stage, std::size_t strand) {
    return workers[stage * kMostWidth + strand];
  }
  const ChunkCounter& progress(int stage) const {
    return stages[static_cast<std::size_t>(stage)].done;
  }
  std::size_t count() const { return spread ? spread->count() : chunks.count(); }
  std::byte* kept_chunk(std::size_t chunk) const {
    const std::size_t room = round_up(spread ? spread->bytes(0) : chunks[0].bytes, kCacheLine);
    return kept + (chunk % num_kept) * room;
  }
  std::byte* result(std::size_t chunk) const {
    if (!spread && reduction.output) return reduction.output + chunks[chunk].offset;
    return kept_chunk(chunk);
  }
};

// Does the chunks `which`, which + width, ... of a stage.
Task run_stage(Strand& strand, Operation& operation, std::size_t stage, int which);
// Does the same one after another, each as soon as its input is there.
Task run_in_chunks(Strand& strand, Operation& operation, std::size_t stage, int which);
// Takes the chunks `which`, which + strands, ... through all stages.
Task run_through(Strand& strand, Operation& operation, std::size_t which, std::size_t strands);

// Tell the trace of a chunk that a stage has done. The first returns when it begins, or 0 if
// nothing is traced.
std::uint64_t begin_piece();
void record_piece(const StagePlan& stage, const LevelGroup& group, std::size_t chunk,
                  std::uint64_t begun);

}  // namespace sumac
