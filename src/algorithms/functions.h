// SPDX-License-Identifier: BSD-3-Clause
// This header declares the functions of every row of algorithms.def: the algorithm, described at
// the head of its own file, and its cost. Arguments are taken by reference and must live until the
// operation ends.
#pragma once

#include <type_traits>

#include "algorithms/arguments.h"
#include "algorithms/cost.h"
#include "base/algorithm.h"
#include "strands/task.h"
#include "transport/p2p/messages.h"
#include "transport/shm/group.h"

namespace sumac {

template <class Arguments>
using SharedFn = Task(Strand& strand, ShmGroup& group, const Arguments& args);
template <class Arguments>
using CopyingFn = Task(Strand& strand, ShmGroup& group, const Arguments& args,
                       const SingleCopy& peers);
template <class Arguments>
using MappedFn = Task(Strand& strand, ShmGroup& group, const Arguments& args,
                      const SingleCopy& peers, const Direct& direct);
template <class Arguments>
using SendingFn = Task(Strand& strand, MessageGroup& group, const Arguments& args);
// Rows that need levels have no function here (this type is never defined): their plans are made
// of algorithms of the other rows.
using LevelsFn = void();
using CostFn = Traffic(const GroupCall& call);

// The type of a row's function follows from what the row needs and from its collective.
template <Needs, class Arguments>
struct FunctionFor {
  using Type = LevelsFn;
};
template <class Arguments>
struct FunctionFor<Needs::lines, Arguments> {
  using Type = SharedFn<Arguments>;
};
template <class Arguments>
struct FunctionFor<Needs::slots, Arguments> {
  using Type = SharedFn<Arguments>;
};
template <class Arguments>
struct FunctionFor<Needs::single_copy, Arguments> {
  using Type = CopyingFn<Arguments>;
};
template <class Arguments>
struct FunctionFor<Needs::maps, Arguments> {
  using Type = MappedFn<Arguments>;
};
template <class Arguments>
struct FunctionFor<Needs::messages, Arguments> {
  using Type = SendingFn<Arguments>;
};
template <Needs needs, Collective collective>
using FunctionOf = typename FunctionFor<needs, ArgumentsOf<collective>>::Type;
template <Needs needs>
using CostOf = std::conditional_t<over_of(needs) != Over::levels, CostFn, LevelsFn>;

#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  namespace collective {                                                                    \
  extern FunctionOf<Needs::needs, Collective::collective> name;                             \
  extern CostOf<Needs::needs> name##_cost;                                                  \
  }
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM

namespace allreduce {
// Does flat_lines without a coroutine, for blocking calls.
void flat_lines_directly(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                         const WaitPolicy& policy);
}  // namespace allreduce

}  // namespace sumac
