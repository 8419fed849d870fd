// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/counted_calls.h"

#include "base/clock.h"
#include "interpose/calls/call_text.h"
#include "interpose/family/native.h"
#include "interpose/mpi/neighbors.h"
#include "interpose/process/entry.h"
#include "interpose/process/timed.h"
#include "interpose/watch/counted_arguments.h"
#include "interpose/watch/profile.h"

namespace sumac {

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
