// SPDX-License-Identifier: BSD-3-Clause
// A random call as a value. It follows from the program's seed and the call's number alone, so all
// ranks draw the same, and a call stays what it is when others are left out.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "mpi/data.h"
#include "mpi/forms.h"
#include "mpi/groups.h"

namespace test::sweep {

enum class Kind {
  allreduce,
  reduce,
  reduce_scatter_block,
  reduce_scatter,
  bcast,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  barrier,
  message,
};

struct KindInfo {
  const char* name;
  unsigned weight;  // how often it is drawn
  bool reduces, rooted;
};

inline const KindInfo& info_of(Kind kind) {
  static constexpr KindInfo kInfos[] = {{"Allreduce", 6, true, false},
                                        {"Reduce", 4, true, true},
                                        {"Reduce_scatter_block", 2, true, false},
                                        {"Reduce_scatter", 2, true, false},
                                        {"Bcast", 5, false, true},
                                        {"Allgather", 2, false, false},
                                        {"Allgatherv", 2, false, false},
                                        {"Alltoall", 2, false, false},
                                        {"Alltoallv", 2, false, false},
                                        {"Alltoallw", 1, false, false},
                                        {"Barrier", 2, false, false},
                                        {"message", 4, false, false}};
  return kInfos[static_cast<int>(kind)];
}

inline Kind draw_kind(Random& random) {
  constexpr int kKinds = static_cast<int>(Kind::message) + 1;
  unsigned sum = 0;
  for (int k = 0; k < kKinds; ++k) sum += info_of(static_cast<Kind>(k)).weight;
  auto at = static_cast<unsigned>(random.below(sum));
  int k = 0;
  while (at >= info_of(static_cast<Kind>(k)).weight) at -= info_of(static_cast<Kind>(k++)).weight;
  return static_cast<Kind>(k);
}

struct Spec {
  int number = 0;  // its place in the program
  Kind kind = Kind::barrier;
  Form form = Form::blocking;
  bool large = false;     // MPI_X_c, with counts of type MPI_Count
  bool in_place = false;  // where the call allows it
  bool fours = false;     // counts are multiples of 4, for types of several elements
  int communicator = 0;
  std::uint64_t root = 0;   // modulo the number of ranks
  std::size_t bytes = 0;    // that a rank gives or gets, about
  std::uint64_t what = 0;   // element type, or type and operation: modulo their number
  std::uint64_t state = 0;  // for all further choices
  int starts = 1;           // of a persistent one
  int apart = 1;            // steps from one start to the next

  const char* name() const { return info_of(kind).name; }
};

// Mostly small, often near a size where lines, slots, chunks or algorithms change, seldom `most`.
inline std::size_t draw_bytes(Random& random, std::size_t most) {
  constexpr std::array<std::size_t, 12> kThresholds{0,    8,     56,    64,    448,    2048,
                                                    4096, 16384, 32768, 65536, 131072, 262144};
  std::size_t bytes = random.below(300);
  const auto way = random.below(24);
  if (way == 0) bytes = random.below(320 << 10);
  if (way >= 1 && way < 3) bytes = random.below(20000);
  if (way >= 3 && way < 10) {
    bytes = kThresholds[random.below(way == 3 ? 12 : 8)] + random.below(41);
    bytes -= std::min<std::size_t>(bytes, 16);
  }
  if (way == 10) bytes = 0;
  return std::min(bytes, most);
}

// Where ranks share processors, each blocking call may last until every rank had its turn. So in
// most programs only few are blocking, and many operations are under way at a time.
inline bool is_in_flow(std::uint64_t seed) { return mix(seed + 0xf10) % 4 != 0; }

inline Form draw_form(Random& random, bool in_flow) {
  const auto way = random.below(8);
  const bool blocking = in_flow ? random.below(24) == 0 : way < 3;
  return blocking ? Form::blocking : way < 6 ? Form::nonblocking : Form::persistent;
}

inline Spec draw(std::uint64_t seed, int number, int communicators, std::size_t most_bytes) {
  Random random(mix(seed * 0x9e3779b97f4a7c15ull + 0x51) + static_cast<std::uint64_t>(number));
  Spec spec;
  spec.number = number;
  spec.kind = draw_kind(random);
  spec.form = draw_form(random, is_in_flow(seed));
  spec.large = random.below(6) == 0;
  spec.in_place = random.below(3) == 0;
  spec.fours = random.below(3) == 0;
  spec.communicator = static_cast<int>(random.below(static_cast<std::uint64_t>(communicators)));
  spec.root = random.next();
  spec.bytes = draw_bytes(random, most_bytes);
  spec.what = random.next();
  spec.state = random.next();
  spec.starts = spec.form == Form::persistent ? 1 + static_cast<int>(random.below(4)) : 1;
  spec.apart = 1 + static_cast<int>(random.below(6));
  return spec;
}

// One random call on one communicator: its data, the call itself, and the check of its result.

class Call {
 public:
  Call(const Spec& spec, const Group& group) : spec_(spec), group_(group) {}
  virtual ~Call() = default;
  // Writes this rank's input and clears what it receives. Each start has a `round` of its own.
  virtual void fill(std::uint64_t round) = 0;
  // Makes the call in its form. A derived type may be freed at once.
  virtual void make(MPI_Request* request) = 0;
  virtual void check(const char* how) = 0;
  // The call as a program would have it, without buffers.
  virtual std::string text() const = 0;

  const Spec& spec() const { return spec_; }
  const Group& group() const { return group_; }

 protected:
  int size() const { return group_.size(); }
  int me() const { return group_.rank; }
  int root() const {
    return static_cast<int>(spec_.root % static_cast<std::uint64_t>(group_.size()));
  }
  std::string function() const { return std::string(spec_.name()) + (spec_.large ? "_c" : ""); }
  // A random number that all ranks share.
  std::uint64_t shared(std::uint64_t which) const {
    return mix(spec_.state + which * 0x9e3779b97f);
  }
  // One of this rank's own.
  std::uint64_t own(std::uint64_t which) const {
    return mix(shared(which) + static_cast<std::uint64_t>(me()) * 0x51ed270b);
  }
  template <class... Arguments>
  void invoke(MPI_Request* request, Arguments... arguments) {
    call(function(), spec_.form, group_.comm, request, arguments...);
  }

 private:
  const Spec spec_;
  const Group& group_;
};

// Numbers of elements for each rank that sum up to about `total`: some are 0, some are larger.
template <class Draw>
std::vector<std::size_t> draw_counts(std::size_t total, int ranks, std::size_t unit, Draw draw) {
  std::vector<std::size_t> counts;
  const std::size_t each = total / static_cast<std::size_t>(ranks);
  for (int r = 0; r < ranks; ++r) {
    const std::uint64_t way = draw(static_cast<std::uint64_t>(r));
    const std::size_t n = way % 4 == 0 ? 0 : way % 4 == 1 ? each : (way >> 8) % (2 * each + 2);
    counts.push_back(n / unit * unit);
  }
  return counts;
}

std::unique_ptr<Call> make_call(const Spec& spec, const Group& group);

}  // namespace test::sweep
