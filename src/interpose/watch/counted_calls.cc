// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/counted_calls.h"

#include "base/cpu.h"
#include "interpose/calls/call_text.h"
#include "interpose/family/native.h"
#include "interpose/mpi/handle_types.h"
#include "interpose/mpi/neighbors.h"
#include "interpose/process/entry.h"
#include "interpose/process/timed.h"
#include "interpose/watch/profile.h"
#include "observe/stats.h"

namespace sumac {

// Here is what the arguments of counted collectives mean, as far as the statistics ask: it is
// the one place that knows the types of these functions. It does not look at arguments that the
// standard calls insignificant.

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

int blocks_sent(MpiComm comm) {
  Neighbors found;
  if (comm == kMpi.comm_null || find_neighbors(comm, found) != kMpiSuccess) return 0;
  return static_cast<int>(found.to.size());
}

CallSize size_of_blocks(const int* counts, MpiDatatype type, DatatypePointer types, int blocks) {
  CallSize sum{type, 0, 0};
  for (int b = 0; counts && b < blocks; ++b) {
    const CallSize block = size_of_data(types ? types[b] : type, counts[b]);
    sum.type = block.type;
    sum.count += block.count;
    sum.bytes += block.bytes;
  }
  return sum;
}

namespace {

void* functions_below[SUMAC_NUM_CALLS];

// These are the arguments that follow the communicator in the functions of one form.
template <Form form>
struct EndOf;
template <>
struct EndOf<Form::blocking> {
  static RequestPointer request() { return nullptr; }
};
template <>
struct EndOf<Form::nonblocking> {
  static RequestPointer request(RequestPointer request) { return request; }
};
template <>
struct EndOf<Form::persistent> {
  static RequestPointer request(MpiInfo, RequestPointer request) { return request; }
};

void note(Counted counted, Form form, const CountedArguments& arguments, RequestPointer request,
          const void* site, std::uint64_t began, std::uint64_t ended) {
  CallKindKey key;
  key.function = name_of(counted);
  key.form = name_of(form);
  key.op = name_of_op(arguments.op);
  key.root = arguments.root;
  key.in_place = arguments.in_place;
  profile().note(key, form, arguments.comm, arguments.size, request, site, began, ended);
}

template <Counted counted, Form form, int call, class = decltype(&CountedSignature<counted>::read),
          class = decltype(&EndOf<form>::request)>
struct CountedCall;

template <Counted counted, Form form, int call, class... First, class... Last>
struct CountedCall<counted, form, call, CountedArguments (*)(First...),
                   RequestPointer (*)(Last...)> {
  static int made(NativeOf<First>... first, NativeOf<Last>... last) {
    using Function = int (*)(NativeOf<First>..., NativeOf<Last>...);
    const auto below = reinterpret_cast<Function>(functions_below[call]);
    const Inside inside;
    if (inside.nested() || !mpi_is_up()) return below(first..., last...);
    thread_state().last_path = kCountedPath;
    const bool timed = calls_are_timed() || calls_are_profiled();
    const std::uint64_t began = timed ? clock_ns() : 0;
    const int error = below(first..., last...);
    const std::uint64_t ended = timed ? clock_ns() : 0;
    CountedArguments arguments;
    if (error == kMpiSuccess)
      arguments = CountedSignature<counted>::read(from_native<First>(first)...);
    count_call(counted, arguments.size.bytes);
    add_time(counted, ended - began);
    if (calls_are_profiled() && error == kMpiSuccess) {
      note(counted, form, arguments, EndOf<form>::request(from_native<Last>(last)...),
           __builtin_return_address(0), began, ended);
    }
    return error;
  }
};

}  // namespace

void redirect_counted(const sumac_stub& stub) {
#define SUMAC_CALL(name)
#define SUMAC_COUNTED(name, counted, form)                                                   \
  if (stub.real[SUMAC_CALL_##name]) {                                                        \
    functions_below[SUMAC_CALL_##name] = stub.real[SUMAC_CALL_##name];                       \
    stub.redirect(SUMAC_CALL_##name,                                                         \
                  reinterpret_cast<void*>(                                                   \
                      &CountedCall<Counted::counted, Form::form, SUMAC_CALL_##name>::made)); \
  }
#include "interpose/calls.def"
#undef SUMAC_CALL
}

void serve_counted(int call, void* function) { functions_below[call] = function; }

}  // namespace sumac
