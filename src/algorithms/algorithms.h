// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm. Each is described at the head of its own file.
#pragma once

#include "algorithms/arguments.h"
#include "engine/task.h"
#include "transport/shm/group.h"

namespace sumac {

namespace allreduce {
Task flat_slots(Strand& strand, ShmGroup& group, ReduceArguments args);
Task split_slots(Strand& strand, ShmGroup& group, ReduceArguments args);
Task single_copy(Strand& strand, ShmGroup& group, ReduceArguments args, SingleCopy peers);
}  // namespace allreduce

namespace reduce {
Task flat_slots(Strand& strand, ShmGroup& group, ReduceArguments args);
Task split_slots(Strand& strand, ShmGroup& group, ReduceArguments args);
Task single_copy(Strand& strand, ShmGroup& group, ReduceArguments args, SingleCopy peers);
}  // namespace reduce

namespace bcast {
Task slots(Strand& strand, ShmGroup& group, BcastArguments args);
Task single_copy(Strand& strand, ShmGroup& group, BcastArguments args, SingleCopy peers);
}  // namespace bcast

namespace barrier {
Task flat(Strand& strand, ShmGroup& group);
}  // namespace barrier

}  // namespace sumac
