// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm. Each is described at the head of its own file. Arguments are taken by reference
// and must live until the operation ends.
#pragma once

#include "algorithms/arguments.h"
#include "engine/task.h"
#include "transport/p2p/messages.h"
#include "transport/shm/group.h"

namespace sumac {

namespace allreduce {
Task flat_lines(Strand& strand, ShmGroup& group, const ReduceArguments& args);
void flat_lines_directly(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                         const WaitPolicy& policy);
Task flat_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args);
Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args);
Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers);
Task recursive_doubling(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task rabenseifner(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task ring(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task knomial(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task native(Strand& strand, MessageGroup& group, const ReduceArguments& args);
}  // namespace allreduce

namespace reduce {
Task flat_lines(Strand& strand, ShmGroup& group, const ReduceArguments& args);
Task flat_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args);
Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args);
Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers);
Task knomial(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task chain(Strand& strand, MessageGroup& group, const ReduceArguments& args);
}  // namespace reduce

namespace bcast {
Task lines(Strand& strand, ShmGroup& group, const BcastArguments& args);
Task slots(Strand& strand, ShmGroup& group, const BcastArguments& args);
Task single_copy(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers);
Task knomial(Strand& strand, MessageGroup& group, const BcastArguments& args);
Task chain(Strand& strand, MessageGroup& group, const BcastArguments& args);
}  // namespace bcast

namespace barrier {
Task flat(Strand& strand, ShmGroup& group);
}  // namespace barrier

}  // namespace sumac
