// SPDX-License-Identifier: BSD-3-Clause
// This header says what the arguments of the collectives' MPI functions mean. It is the one place
// where they become a Call, or that of counted calls, and where a Call becomes them again.
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
  static void read(MpiArguments& call, const void* send, void* receive, Count count,
                   MpiDatatype type, MpiOp op) {
    call.send = {const_cast<void*>(send), count, type};
    call.receive = {receive, count, type};
    call.op = op;
  }
  static std::tuple<const void*, void*, Count, MpiDatatype, MpiOp> write(const MpiArguments& call) {
    const Data& data = call.receive;
    return {call.send.address, data.address, static_cast<Count>(data.count), data.type, call.op};
  }
};

// These are the arguments of another function, and a root.
template <Function like, class Count,
          class = decltype(Signature<like, Count>::write(std::declval<const MpiArguments&>()))>
struct SignatureWithRoot;
template <Function like, class Count, class... First>
struct SignatureWithRoot<like, Count, std::tuple<First...>> {
  static void read(MpiArguments& call, First... first, int root) {
    Signature<like, Count>::read(call, first...);
    call.root = root;
  }
  static std::tuple<First..., int> write(const MpiArguments& call) {
    return std::tuple_cat(Signature<like, Count>::write(call), std::tuple<int>(call.root));
  }
};

template <class Count>
struct Signature<Function::reduce, Count> : SignatureWithRoot<Function::allreduce, Count> {};

template <class Count>
struct Signature<Function::bcast, Count> {
  static void read(MpiArguments& call, void* buffer, Count count, MpiDatatype type, int root) {
    call.receive = {buffer, count, type};
    call.root = root;
  }
  static std::tuple<void*, Count, MpiDatatype, int> write(const MpiArguments& call) {
    const Data& data = call.receive;
    return {data.address, static_cast<Count>(data.count), data.type, call.root};
  }
};

template <class Count>
struct Signature<Function::barrier, Count> {
  static void read(MpiArguments&) {}
  static std::tuple<> write(const MpiArguments&) { return {}; }
};

// The count is that of each rank's part.
template <class Count>
struct Signature<Function::reduce_scatter_block, Count> : Signature<Function::allreduce, Count> {};

template <class Count>
struct Signature<Function::reduce_scatter, Count> {
  static void read(MpiArguments& call, const void* send, void* receive, const Count* counts,
                   MpiDatatype type, MpiOp op) {
    Signature<Function::allreduce, Count>::read(call, send, receive, 0, type, op);
    call.counts = counts;
  }
  static std::tuple<const void*, void*, const Count*, MpiDatatype, MpiOp> write(
      const MpiArguments& call) {
    return {call.send.address, call.receive.address, static_cast<const Count*>(call.counts),
            call.receive.type, call.op};
  }
};

template <class Count>
struct Signature<Function::allgather, Count> {
  static void read(MpiArguments& call, const void* send, Count send_count, MpiDatatype send_type,
                   void* receive, Count count, MpiDatatype type) {
    call.send = {const_cast<void*>(send), send_count, send_type};
    call.receive = {receive, count, type};
  }
  static std::tuple<const void*, Count, MpiDatatype, void*, Count, MpiDatatype> write(
      const MpiArguments& call) {
    const Data &send = call.send, &receive = call.receive;
    return {send.address,    static_cast<Count>(send.count),    send.type,
            receive.address, static_cast<Count>(receive.count), receive.type};
  }
};

template <class Count>
struct Signature<Function::allgatherv, Count> {
  using Place = std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>;

  static void read(MpiArguments& call, const void* send, Count send_count, MpiDatatype send_type,
                   void* receive, const Count* counts, const Place* displacements,
                   MpiDatatype type) {
    Signature<Function::allgather, Count>::read(call, send, send_count, send_type, receive, 0,
                                                type);
    call.counts = counts;
    call.displacements = displacements;
  }
  static std::tuple<const void*, Count, MpiDatatype, void*, const Count*, const Place*, MpiDatatype>
  write(const MpiArguments& call) {
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

  static void read(MpiArguments& call, const void* send, const Count* send_counts,
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
  write(const MpiArguments& call) {
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
template <class Count, class Place>
struct SignatureWithTypes {
  static void read(MpiArguments& call, const void* send, const Count* send_counts,
                   const Place* send_displacements, DatatypePointer send_types, void* receive,
                   const Count* counts, const Place* displacements, DatatypePointer types) {
    call.send.address = const_cast<void*>(send);
    call.send_counts = send_counts;
    call.send_displacements = send_displacements;
    call.send_types = send_types;
    call.receive.address = receive;
    call.counts = counts;
    call.displacements = displacements;
    call.types = types;
  }
  static std::tuple<const void*, const Count*, const Place*, DatatypePointer, void*, const Count*,
                    const Place*, DatatypePointer>
  write(const MpiArguments& call) {
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
template <class Count>
struct Signature<Function::alltoallw, Count>
    : SignatureWithTypes<Count, std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>> {};
template <class Count>
struct Signature<Function::neighbor_alltoallw, Count> : SignatureWithTypes<Count, MpiAint> {};

template <class Count>
struct Signature<Function::gather, Count> : SignatureWithRoot<Function::allgather, Count> {};
template <class Count>
struct Signature<Function::gatherv, Count> : SignatureWithRoot<Function::allgatherv, Count> {};

template <class Count>
struct Signature<Function::scatterv, Count> {
  using Place = std::conditional_t<std::is_same_v<Count, int>, int, MpiAint>;

  static void read(MpiArguments& call, const void* send, const Count* send_counts,
                   const Place* send_displacements, MpiDatatype send_type, void* receive,
                   Count count, MpiDatatype type, int root) {
    call.send = {const_cast<void*>(send), 0, send_type};
    call.send_counts = send_counts;
    call.send_displacements = send_displacements;
    call.receive = {receive, count, type};
    call.root = root;
  }
  static std::tuple<const void*, const Count*, const Place*, MpiDatatype, void*, Count, MpiDatatype,
                    int>
  write(const MpiArguments& call) {
    const Data &send = call.send, &receive = call.receive;
    return {send.address,
            static_cast<const Count*>(call.send_counts),
            static_cast<const Place*>(call.send_displacements),
            send.type,
            receive.address,
            static_cast<Count>(receive.count),
            receive.type,
            call.root};
  }
};

// These are the arguments that follow in the functions of one form.
template <Form form>
struct Ending;

template <>
struct Ending<Form::blocking> {
  static void read(MpiArguments& call, MpiComm comm) { call.comm = comm; }
  static std::tuple<MpiComm> write(const MpiArguments& call) { return {call.comm}; }
};

template <>
struct Ending<Form::nonblocking> {
  static void read(MpiArguments& call, MpiComm comm, RequestPointer request) {
    call.comm = comm;
    call.request = request;
  }
  static std::tuple<MpiComm, RequestPointer> write(const MpiArguments& call) {
    return {call.comm, call.request};
  }
};

template <>
struct Ending<Form::persistent> {
  static void read(MpiArguments& call, MpiComm comm, MpiInfo info, RequestPointer request) {
    call.comm = comm;
    call.info = info;
    call.request = request;
  }
  static std::tuple<MpiComm, MpiInfo, RequestPointer> write(const MpiArguments& call) {
    return {call.comm, call.info, call.request};
  }
};

template <>
struct Ending<Form::local> {
  static void read(MpiArguments&) {}
  static std::tuple<> write(const MpiArguments&) { return {}; }
};

// This is the type of the MPI's function for a row of calls.def.
template <class Arguments>
struct FunctionWith;
template <class... Arguments>
struct FunctionWith<std::tuple<Arguments...>> {
  using Type = int (*)(Arguments...);
};

template <Function function, class Count>
using FirstOf = decltype(Signature<function, Count>::write(std::declval<const MpiArguments&>()));
template <Form form>
using LastOf = decltype(Ending<form>::write(std::declval<const MpiArguments&>()));
template <Function function, Form form, class Count>
using MpiFunction = typename FunctionWith<decltype(std::tuple_cat(
    std::declval<FirstOf<function, Count>>(), std::declval<LastOf<form>>()))>::Type;

}  // namespace sumac
