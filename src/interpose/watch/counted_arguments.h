// SPDX-License-Identifier: BSD-3-Clause
// This header says what the arguments of counted collectives mean, as far as the statistics ask. It
// is the one place that knows the types of these functions. It does not look at arguments that the
// standard calls insignificant.
#pragma once

#include "interpose/calls/call_size.h"
#include "interpose/mpi/handle_types.h"
#include "observe/counted.h"

namespace sumac {

struct CountedArguments {
  MpiComm comm = kMpi.comm_null;
  CallSize size = {};  // size of what this rank gives; in a scatter, of what it gets
  int root = kNoRoot;
  MpiOp op = kMpi.op_null;
  bool in_place = false;
};

// Returns the number of blocks that a neighbourhood collective sends; 0 if there is no topology.
int blocks_sent(MpiComm comm);

// Returns the sum of blocks with counts and types of their own. `types` has one type for each
// block; null: all have `type`.
CallSize size_of_blocks(const int* counts, MpiDatatype type, DatatypePointer types, int blocks);

// read() takes the arguments up to the communicator, of a call that the MPI has accepted: it asks
// the MPI about types, which would tell an error handler of wrong ones. A root below 0 belongs to a
// call between two groups, in which other arguments may have no meaning.
template <Counted>
struct CountedSignature;

template <>
struct CountedSignature<Counted::gather> {
  static CountedArguments read(const void* send, int sent, MpiDatatype sent_type, void*,
                               int received, MpiDatatype received_type, int root, MpiComm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = send == kMpi.in_place;
    const CallSize size =
        in_place ? size_of_data(received_type, received) : size_of_data(sent_type, sent);
    return {comm, size, root, kMpi.op_null, in_place};
  }
};

template <>
struct CountedSignature<Counted::gatherv> {
  static CountedArguments read(const void* send, int sent, MpiDatatype sent_type, void*,
                               const int* received, const int*, MpiDatatype received_type, int root,
                               MpiComm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = send == kMpi.in_place;  // allowed on the root alone
    const CallSize size = in_place ? size_of_data(received_type, received ? received[root] : 0)
                                   : size_of_data(sent_type, sent);
    return {comm, size, root, kMpi.op_null, in_place};
  }
};

template <>
struct CountedSignature<Counted::scatter> {
  static CountedArguments read(const void*, int sent, MpiDatatype sent_type, void* receive,
                               int received, MpiDatatype received_type, int root, MpiComm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = receive == kMpi.in_place;
    const CallSize size =
        in_place ? size_of_data(sent_type, sent) : size_of_data(received_type, received);
    return {comm, size, root, kMpi.op_null, in_place};
  }
};

template <>
struct CountedSignature<Counted::scatterv> {
  static CountedArguments read(const void*, const int* sent, const int*, MpiDatatype sent_type,
                               void* receive, int received, MpiDatatype received_type, int root,
                               MpiComm comm) {
    if (root < 0) return {comm, {}, root};
    const bool in_place = receive == kMpi.in_place;  // allowed on the root alone
    const CallSize size = in_place ? size_of_data(sent_type, sent ? sent[root] : 0)
                                   : size_of_data(received_type, received);
    return {comm, size, root, kMpi.op_null, in_place};
  }
};

template <>
struct CountedSignature<Counted::scan> {
  static CountedArguments read(const void* send, void*, int count, MpiDatatype type, MpiOp op,
                               MpiComm comm) {
    return {comm, size_of_data(type, count), kNoRoot, op, send == kMpi.in_place};
  }
};

template <>
struct CountedSignature<Counted::exscan> : CountedSignature<Counted::scan> {};

template <>
struct CountedSignature<Counted::neighbor_allgather> {
  static CountedArguments read(const void*, int sent, MpiDatatype type, void*, int, MpiDatatype,
                               MpiComm comm) {
    return {comm, size_of_data(type, sent)};
  }
};

template <>
struct CountedSignature<Counted::neighbor_allgatherv> {
  static CountedArguments read(const void*, int sent, MpiDatatype type, void*, const int*,
                               const int*, MpiDatatype, MpiComm comm) {
    return {comm, size_of_data(type, sent)};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoall> {
  static CountedArguments read(const void*, int sent, MpiDatatype type, void*, int, MpiDatatype,
                               MpiComm comm) {
    return {comm, size_of_data(type, MpiCount{sent} * blocks_sent(comm))};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoallv> {
  static CountedArguments read(const void*, const int* sent, const int*, MpiDatatype type, void*,
                               const int*, const int*, MpiDatatype, MpiComm comm) {
    return {comm, size_of_blocks(sent, type, nullptr, blocks_sent(comm))};
  }
};

template <>
struct CountedSignature<Counted::neighbor_alltoallw> {
  static CountedArguments read(const void*, const int* sent, const MpiAint*, DatatypePointer types,
                               void*, const int*, const MpiAint*, DatatypePointer, MpiComm comm) {
    return {comm, size_of_blocks(sent, kMpi.datatype_null, types, blocks_sent(comm))};
  }
};

}  // namespace sumac
