// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/table.h"

namespace sumac {
namespace {

struct Starts {
  StartShared shared;
  StartSending sending;
};

template <class Arguments>
const Arguments& of(const CallArguments& args);
template <>
const ReduceArguments& of(const CallArguments& args) {
  return args.reduction;
}
template <>
const BcastArguments& of(const CallArguments& args) {
  return args.bcast;
}
template <>
const ReduceScatterArguments& of(const CallArguments& args) {
  return args.reduce_scatter;
}
template <>
const AllgatherArguments& of(const CallArguments& args) {
  return args.allgather;
}
template <>
const BarrierArguments& of(const CallArguments&) {
  static constexpr BarrierArguments kNothing;
  return kNothing;
}

// By the type of the function.
template <auto* function>
struct Adapters;

template <class Arguments, SharedFn<Arguments>* function>
struct Adapters<function> {
  static Task start(Strand& strand, ShmGroup& group, const CallArguments& args, const SingleCopy&) {
    return function(strand, group, of<Arguments>(args));
  }
  static constexpr Starts kStarts{start, nullptr};
};

template <class Arguments, CopyingFn<Arguments>* function>
struct Adapters<function> {
  static Task start(Strand& strand, ShmGroup& group, const CallArguments& args,
                    const SingleCopy& peers) {
    return function(strand, group, of<Arguments>(args), peers);
  }
  static constexpr Starts kStarts{start, nullptr};
};

template <class Arguments, SendingFn<Arguments>* function>
struct Adapters<function> {
  static Task start(Strand& strand, MessageGroup& group, const CallArguments& args) {
    return function(strand, group, of<Arguments>(args));
  }
  static constexpr Starts kStarts{nullptr, start};
};

template <LevelsFn* function>
struct Adapters<function> {
  static constexpr Starts kStarts{nullptr, nullptr};
};

template <CostFn* function>
constexpr CostFn* cost() {
  return function;
}
template <LevelsFn*>
constexpr CostFn* cost() {
  return nullptr;
}

template <auto* function>
constexpr AlgorithmEntry entry(Algorithm algorithm, CostFn* cost) {
  constexpr Starts starts = Adapters<function>::kStarts;
  return {info_of(algorithm), starts.shared, starts.sending, cost};
}

constexpr AlgorithmEntry kAlgorithms[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, description) \
  entry<collective::name>(Algorithm::collective##_##name, cost<collective::name##_cost>()),
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

}  // namespace

const AlgorithmEntry& entry_of(Algorithm algorithm) {
  return kAlgorithms[static_cast<int>(algorithm)];
}

}  // namespace sumac
