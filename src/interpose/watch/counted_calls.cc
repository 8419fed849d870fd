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

namespace {

void* functions_below[SUMAC_NUM_CALLS];

// The column `size` of calls.def says what the size of a call is.
enum class SizeOf : std::uint8_t { gives, gets, gives_each };
constexpr SizeOf kSizes[] = {
#define SUMAC_CALL(name)
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) SizeOf::size,
#include "interpose/calls.def"
#undef SUMAC_CALL
};

CallSize size_for_neighbors(const MpiArguments& call) {
  Neighbors found;
  if (call.comm == kMpi.comm_null || find_neighbors(call.comm, found) != kMpiSuccess) return {};
  const auto blocks = static_cast<int>(found.to.size());
  const auto* const counts = static_cast<const int*>(call.send_counts);
  if (!counts) return size_of_data(call.send.type, call.send.count * blocks);
  CallSize sum{call.send.type, 0, 0};
  for (int b = 0; b < blocks; ++b) {
    const CallSize block =
        size_of_data(call.send_types ? call.send_types[b] : call.send.type, counts[b]);
    sum.type = block.type;
    sum.count += block.count;
    sum.bytes += block.bytes;
  }
  return sum;
}

// This is a call that the MPI has accepted: its size is found by asking the MPI about types, which
// would tell an error handler of wrong ones. Arguments that the standard calls insignificant are
// not looked at.
struct CountedArguments : MpiArguments {
  SizeOf size_of;
  bool has_root;

  const Data& own() const { return size_of == SizeOf::gets ? receive : send; }
  bool in_place() const { return size_of != SizeOf::gives_each && own().address == kMpi.in_place; }
  CallSize size() const {
    // A root below 0 belongs to a call between two groups, in which arguments may have no meaning.
    if (has_root && root < 0) return {};
    if (size_of == SizeOf::gives_each) return size_for_neighbors(*this);
    if (!in_place()) return size_of_data(own().type, own().count);
    // This rank is the root, if there is one.
    const bool gets = size_of == SizeOf::gets;
    const Data& all = gets ? send : receive;
    const auto* const listed = static_cast<const int*>(gets ? send_counts : counts);
    return size_of_data(all.type, listed ? listed[root] : all.count);
  }
};

void note(Counted counted, Form form, const CountedArguments& arguments, const CallSize& size,
          const void* site, std::uint64_t began, std::uint64_t ended) {
  CallKindKey key;
  key.function = name_of(counted);
  key.form = name_of(form);
  key.op = name_of_op(arguments.op);
  key.root = arguments.root;
  key.in_place = arguments.in_place();
  profile().note(key, form, arguments.comm, size, arguments.request, site, began, ended);
}

template <Function function, Counted counted, Form form, int call, class = FirstOf<function, int>,
          class = LastOf<form>>
struct CountedCall;

template <Function function, Counted counted, Form form, int call, class... First, class... Last>
struct CountedCall<function, counted, form, call, std::tuple<First...>, std::tuple<Last...>> {
  static int made(NativeOf<First>... first, NativeOf<Last>... last) {
    const auto below = reinterpret_cast<NativeFunction<function, form, int>>(functions_below[call]);
    const Inside inside;
    if (inside.nested() || !mpi_is_up()) return below(first..., last...);
    thread_state().last_path = kCountedPath;
    const bool timed = calls_are_timed() || calls_are_profiled();
    const std::uint64_t began = timed ? clock_ns() : 0;
    const int error = below(first..., last...);
    const std::uint64_t ended = timed ? clock_ns() : 0;
    CountedArguments arguments{{}, kSizes[static_cast<int>(counted)], has_argument(function, 'r')};
    CallSize size;
    if (error == kMpiSuccess) {
      Signature<function, int>::read(arguments, from_native<First>(first)...);
      Ending<form>::read(arguments, from_native<Last>(last)...);
      size = arguments.size();
    }
    count_call(counted, size.bytes);
    add_time(counted, ended - began);
    if (calls_are_profiled() && error == kMpiSuccess) {
      note(counted, form, arguments, size, __builtin_return_address(0), began, ended);
    }
    return error;
  }
};

}  // namespace

void redirect_counted(const sumac_stub& stub) {
#define SUMAC_CALL(name)
#define SUMAC_COUNTED(name, function, form)                                                    \
  if (stub.real[SUMAC_CALL_##name]) {                                                          \
    functions_below[SUMAC_CALL_##name] = stub.real[SUMAC_CALL_##name];                         \
    stub.redirect(SUMAC_CALL_##name,                                                           \
                  reinterpret_cast<void*>(&CountedCall<Function::function, Counted::function,  \
                                                       Form::form, SUMAC_CALL_##name>::made)); \
  }
#include "interpose/calls.def"
#undef SUMAC_CALL
}

void serve_counted(int call, void* function) { functions_below[call] = function; }

}  // namespace sumac
