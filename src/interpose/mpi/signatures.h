// SPDX-License-Identifier: BSD-3-Clause
// This header says what the arguments of the collectives' MPI functions mean. It is the one place
// where they become a Call, and where a Call becomes them again.
//
// A signature has two functions: read() takes what comes before the communicator, write() gives it.
// A form has the same for what follows. The type of the MPI's function, and that of Sumac's in
// front of it, follow from both.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/mpi/call.h"

namespace sumac {

// `Count` is int, or MPI_Count in the functions MPI_X_c. Functions with the same arguments have the
// same signature.
template <Function function, class Count>
struct Signature : Signature<first_like(function), Count> {};

template <class Count>
struct Signature<Function::allreduce, Count> {
  static void read(Call& call, const void* send, void* receive, Count count, MpiDatatype type,
                   MpiOp op) {
    call.send = {const_cast<void*>(send), count, type};
    call.receive = {receive, count, type};
    call.op = op;
  }
  static std::tuple<const void*, void*, Count, MpiDatatype, MpiOp> write(const Call& call) {
    const Data& data = call.receive;
    return {call.send.address, data.address, static_cast<Count>(data.count), data.type, call.op};
  }
};

template <class Count>
struct Signature<Function::reduce, Count> {
  static void read(Call& call, const void* send, void* receive, Count count, MpiDatatype type,
                   MpiOp op, int root) {
    Signature<Function::allreduce, Count>::read(call, send, receive, count, type, op);
    call.root = root;
  }
  static auto write(const Call& call) {
    return std::tuple_cat(Signature<Function::allreduce, Count>::write(call),
                          std::tuple<int>(call.root));
  }
};

template <class Count>
struct Signature<Function::bcast, Count> {
  static void read(Call& call, void* buffer, Count count, MpiDatatype type, int root) {
    call.receive = {buffer, count, type};
    call.root = root;
  }
  static std::tuple<void*, Count, MpiDatatype, int> write(const Call& call) {
    const Data& data = call.receive;
    return {data.address, static_cast<Count>(data.count), data.type, call.root};
  }
};

template <class Count>
struct Signature<Function::barrier, Count> {
  static void read(Call&) {}
  static std::tuple<> write(const Call&) { return {}; }
};

// The count is that of each rank's part.
template <class Count>
struct Signature<Function::reduce_scatter_block, Count> : Signature<Function::allreduce, Count> {};

template <class Count>
struct Signature<Function::reduce_scatter, Count> {
  static void read(Call& call, const void* send, void* receive, const Count* counts,
                   MpiDatatype type, MpiOp op) {
    Signature<Function::allreduce, Count>::read(call, send, receive, 0, type, op);
    call.counts = counts;
  }
  static std::tuple<const void*, void*, const Count*, MpiDatatype, MpiOp> write(const Call& call) {
    return {call.send.address, call.receive.address, static_cast<const Count*>(call.counts),
            call.receive.type, call.op};
  }
};

template <class Count>
struct Signature<Function::allgather, Count> {
  static void read(Call& call, const void* send, Count send_count, MpiDatatype send_type,
                   void* receive, Count count, MpiDatatype type) {
    call.send = {const_cast<void*>(send), send_count, send_type};
    call.receive = {receive, count, type};
  }
  static std::tuple<const void*, Count, MpiDatatype, void*, Count, MpiDatatype> write(
      const Call& call) {
    const Data &send = call.send, &receive = call.receive;
    return {send.address,    static_cast<Count>(send.count),    send.type,
            receive.address, static_cast<Count>(receive.count), receive.type};
  }
};

template <class Count>
struct Signature<Function::allgatherv, Count> {
  using Place = std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>;

  static void read(Call& call, const void* send, Count send_count, MpiDatatype send_type,
                   void* receive, const Count* counts, const Place* displacements,
                   MpiDatatype type) {
    Signature<Function::allgather, Count>::read(call, send, send_count, send_type, receive, 0,
                                                type);
    call.counts = counts;
    call.displacements = displacements;
  }
  static std::tuple<const void*, Count, MpiDatatype, void*, const Count*, const Place*, MpiDatatype>
  write(const Call& call) {
    const Data &send = call.send, &receive = call.receive;
    return {send.address,
            static_cast<Count>(send.count),
            send.type,
            receive.address,
            static_cast<const Count*>(call.counts),
            static_cast<const Place*>(call.displacements),
            receive.type};
  }
};

template <class Count>
struct Signature<Function::alltoallv, Count> {
  using Place = std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>;

  static void read(Call& call, const void* send, const Count* send_counts,
                   const Place* send_displacements, MpiDatatype send_type, void* receive,
                   const Count* counts, const Place* displacements, MpiDatatype type) {
    call.send = {const_cast<void*>(send), 0, send_type};
    call.send_counts = send_counts;
    call.send_displacements = send_displacements;
    call.receive = {receive, 0, type};
    call.counts = counts;
    call.displacements = displacements;
  }
  static std::tuple<const void*, const Count*, const Place*, MpiDatatype, void*, const Count*,
                    const Place*, MpiDatatype>
  write(const Call& call) {
    return {call.send.address,
            static_cast<const Count*>(call.send_counts),
            static_cast<const Place*>(call.send_displacements),
            call.send.type,
            call.receive.address,
            static_cast<const Count*>(call.counts),
            static_cast<const Place*>(call.displacements),
            call.receive.type};
  }
};

// Displacements are in bytes.
template <class Count>
struct Signature<Function::alltoallw, Count> {
  using Place = std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>;

  static void read(Call& call, const void* send, const Count* send_counts,
                   const Place* send_displacements, DatatypePointer send_types, void* receive,
                   const Count* counts, const Place* displacements, DatatypePointer types) {
    Signature<Function::alltoallv, Count>::read(call, send, send_counts, send_displacements,
                                                kMpi.datatype_null, receive, counts, displacements,
                                                kMpi.datatype_null);
    call.send_types = send_types;
    call.types = types;
  }
  static std::tuple<const void*, const Count*, const Place*, DatatypePointer, void*, const Count*,
                    const Place*, DatatypePointer>
  write(const Call& call) {
    return {call.send.address,
            static_cast<const Count*>(call.send_counts),
            static_cast<const Place*>(call.send_displacements),
            call.send_types,
            call.receive.address,
            static_cast<const Count*>(call.counts),
            static_cast<const Place*>(call.displacements),
            call.types};
  }
};

// These are the arguments that follow in the functions of one form.
template <Form form>
struct Ending;

template <>
struct Ending<Form::blocking> {
  static void read(Call& call, MpiComm comm) { call.comm = comm; }
  static std::tuple<MpiComm> write(const Call& call) { return {call.comm}; }
};

template <>
struct Ending<Form::nonblocking> {
  static void read(Call& call, MpiComm comm, RequestPointer request) {
    call.comm = comm;
    call.request = request;
  }
  static std::tuple<MpiComm, RequestPointer> write(const Call& call) {
    return {call.comm, call.request};
  }
};

template <>
struct Ending<Form::persistent> {
  static void read(Call& call, MpiComm comm, MpiInfo info, RequestPointer request) {
    call.comm = comm;
    call.info = info;
    call.request = request;
  }
  static std::tuple<MpiComm, MpiInfo, RequestPointer> write(const Call& call) {
    return {call.comm, call.info, call.request};
  }
};

template <>
struct Ending<Form::local> {
  static void read(Call&) {}
  static std::tuple<> write(const Call&) { return {}; }
};

// This is the type of the MPI's function for a row of calls.def.
template <class Arguments>
struct FunctionWith;
template <class... Arguments>
struct FunctionWith<std::tuple<Arguments...>> {
  using Type = int (*)(Arguments...);
};

template <Function function, class Count>
using FirstOf = decltype(Signature<function, Count>::write(std::declval<const Call&>()));
template <Form form>
using LastOf = decltype(Ending<form>::write(std::declval<const Call&>()));
template <Function function, Form form, class Count>
using MpiFunction = typename FunctionWith<decltype(std::tuple_cat(
    std::declval<FirstOf<function, Count>>(), std::declval<LastOf<form>>()))>::Type;

}  // namespace sumac
