// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/table.h"

namespace sumac {
namespace {

struct Starts {
  StartShared shared = nullptr;
  StartDirect direct = nullptr;
  StartSending sending = nullptr;
};

// Adapters are chosen by the type of the function.
template <Collective collective, auto* function>
struct Adapters;

template <Collective collective, SharedFn<ArgumentsOf<collective>>* function>
struct Adapters<collective, function> {
  static Task start(Strand& strand, ShmGroup& group, const CallArguments& args, const SingleCopy&) {
    return function(strand, group, args.*kArguments<collective>);
  }
  static constexpr Starts kStarts{.shared = start};
};

template <Collective collective, CopyingFn<ArgumentsOf<collective>>* function>
struct Adapters<collective, function> {
  static Task start(Strand& strand, ShmGroup& group, const CallArguments& args,
                    const SingleCopy& peers) {
    return function(strand, group, args.*kArguments<collective>, peers);
  }
  static constexpr Starts kStarts{.shared = start};
};

template <Collective collective, MappedFn<ArgumentsOf<collective>>* function>
struct Adapters<collective, function> {
  static Task start(Strand& strand, ShmGroup& group, const CallArguments& args,
                    const SingleCopy& peers, const Direct& direct) {
    return function(strand, group, args.*kArguments<collective>, peers, direct);
  }
  static constexpr Starts kStarts{.direct = start};
};

template <Collective collective, SendingFn<ArgumentsOf<collective>>* function>
struct Adapters<collective, function> {
  static Task start(Strand& strand, MessageGroup& group, const CallArguments& args) {
    return function(strand, group, args.*kArguments<collective>);
  }
  static constexpr Starts kStarts{.sending = start};
};

template <Collective collective, LevelsFn* function>
struct Adapters<collective, function> {
  static constexpr Starts kStarts{};
};

template <CostFn* function>
constexpr CostFn* cost() {
  return function;
}
template <LevelsFn*>
constexpr CostFn* cost() {
  return nullptr;
}

template <Collective collective, auto* function>
constexpr AlgorithmEntry entry(Algorithm algorithm, CostFn* cost) {
  constexpr Starts starts = Adapters<collective, function>::kStarts;
  return {info_of(algorithm), starts.shared, starts.direct, starts.sending, cost};
}

constexpr AlgorithmEntry kAlgorithms[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  entry<Collective::collective, collective::name>(Algorithm::collective##_##name,           \
                                                  cost<collective::name##_cost>()),
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

}  // namespace

const AlgorithmEntry& entry_of(Algorithm algorithm) {
  assert(algorithm != Algorithm::native);
  return kAlgorithms[static_cast<int>(algorithm)];
}

TakesGaps takes_gaps(const AlgorithmInfo& info, bool has_slots) {
  if (!needs_single_copy(info)) return {true, true};
  const Collective collective = info.collective;
  if (collective == Collective::alltoallv) return {true, true};
  // A root's data with gaps, and rows, go through slots.
  const bool through_slots =
      info.needs == Needs::single_copy &&
      (collective == Collective::bcast || collective == Collective::alltoall);
  if (through_slots && has_slots) return {true, true};
  // Data that are fetched from the others may be taken to pieces.
  return {false, collective == Collective::alltoall || collective == Collective::allgather};
}

}  // namespace sumac
