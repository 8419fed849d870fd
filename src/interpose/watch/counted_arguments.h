// SPDX-License-Identifier: BSD-3-Clause
// What the arguments of counted collectives mean, as far as the statistics ask: the one place that
// knows the types of these functions. Arguments that the standard calls insignificant are not
// looked at.
#pragma once

#include <mpi.h>

#include "interpose/calls/call_size.h"
#include "observe/counted.h"

namespace sumac {

struct CountedArguments {
  MPI_Comm comm = MPI_COMM_NULL;
  CallSize size = {};  // what this rank gives; of scatters, what it gets
  int root = kNoRoot;
  MPI_Op op = MPI_OP_NULL;
  bool in_place = false;
};

// The number of blocks that a neighbourhood collective sends; 0 where there is no topology.
int blocks_sent(MPI_Comm comm);

// The sum of blocks with counts and types of their own. `types`: one a block; null: all have
// `type`.
CallSize size_of_blocks(const int* counts, MPI_Datatype type, const MPI_Datatype* types,
                        int blocks);

// read() takes the arguments up to the communicator, of a call that the MPI has accepted: it asks
// the MPI about types, which would tell an error handler of wrong ones. A root below 0 is that of a
// call between two groups, in which other arguments may have no meaning.
template <Counted>
struct CountedSignature;

template <>
struct CountedSignature<Counted::gather> {
  static CountedArguments read(const void* send, int sent, MPI_Datatype sent_type, void*,
                               int received, MPI_Datatype received_type, int root, MPI_Comm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = send == MPI_IN_PLACE;
    const CallSize size =
        in_place ? size_of_data(received_type, received) : size_of_data(sent_type, sent);
    return {comm, size, root, MPI_OP_NULL, in_place};
  }
};

template <>
struct CountedSignature<Counted::gatherv> {
  static CountedArguments read(const void* send, int sent, MPI_Datatype sent_type, void*,
                               const int* received, const int*, MPI_Datatype received_type,
                               int root, MPI_Comm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = send == MPI_IN_PLACE;  // on the root alone
    const CallSize size = in_place ? size_of_data(received_type, received ? received[root] : 0)
                                   : size_of_data(sent_type, sent);
    return {comm, size, root, MPI_OP_NULL, in_place};
  }
};

template <>
struct CountedSignature<Counted::scatter> {
  static CountedArguments read(const void*, int sent, MPI_Datatype sent_type, void* receive,
                               int received, MPI_Datatype received_type, int root, MPI_Comm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = receive == MPI_IN_PLACE;
    const CallSize size =
        in_place ? size_of_data(sent_type, sent) : size_of_data(received_type, received);
    return {comm, size, root, MPI_OP_NULL, in_place};
  }
};

template <>
struct CountedSignature<Counted::scatterv> {
  static CountedArguments read(const void*, const int* sent, const int*, MPI_Datatype sent_type,
                               void* receive, int received, MPI_Datatype received_type, int root,
                               MPI_Comm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = receive == MPI_IN_PLACE;  // on the root alone
    const CallSize size = in_place ? size_of_data(sent_type, sent ? sent[root] : 0)
                                   : size_of_data(received_type, received);
    return {comm, size, root, MPI_OP_NULL, in_place};
  }
};

template <>
struct CountedSignature<Counted::scan> {
  static CountedArguments read(const void* send, void*, int count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm) {
    return {comm, size_of_data(type, count), kNoRoot, op, send == MPI_IN_PLACE};
  }
};

template <>
struct CountedSignature<Counted::exscan> : CountedSignature<Counted::scan> {};

template <>
struct CountedSignature<Counted::neighbor_allgather> {
  static CountedArguments read(const void*, int sent, MPI_Datatype type, void*, int, MPI_Datatype,
                               MPI_Comm comm) {
    return {comm, size_of_data(type, sent)};
  }
};

template <>
struct CountedSignature<Counted::neighbor_allgatherv> {
  static CountedArguments read(const void*, int sent, MPI_Datatype type, void*, const int*,
                               const int*, MPI_Datatype, MPI_Comm comm) {
    return {comm, size_of_data(type, sent)};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoall> {
  static CountedArguments read(const void*, int sent, MPI_Datatype type, void*, int, MPI_Datatype,
                               MPI_Comm comm) {
    return {comm, size_of_data(type, MPI_Count{sent} * blocks_sent(comm))};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoallv> {
  static CountedArguments read(const void*, const int* sent, const int*, MPI_Datatype type, void*,
                               const int*, const int*, MPI_Datatype, MPI_Comm comm) {
    return {comm, size_of_blocks(sent, type, nullptr, blocks_sent(comm))};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoallw> {
  static CountedArguments read(const void*, const int* sent, const MPI_Aint*,
                               const MPI_Datatype* types, void*, const int*, const MPI_Aint*,
                               const MPI_Datatype*, MPI_Comm comm) {
    return {comm, size_of_blocks(sent, MPI_DATATYPE_NULL, types, blocks_sent(comm))};
  }
};

}  // namespace sumac
