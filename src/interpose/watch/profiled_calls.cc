// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/profile.h"

#include "base/cpu.h"
#include "interpose/calls/perform.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

void note_reduce_local(const Call& call, const void* site, std::uint64_t ns) {
  CallKindKey key;
  key.function = "reduce_local";
  key.op = name_of_op(call.op);
  profile().note_alone(key, call.receive.type, call.receive.count, site, ns);
}

// Packs or unpacks by `below`.
template <class Below>
int move(const char* function, MpiDatatype type, MpiCount count, const void* site, Below below) {
  const std::uint64_t begin = clock_ns();
  const int error = below();
  const std::uint64_t ns = clock_ns() - begin;
  CallKindKey key;
  key.function = function;
  if (error == kMpiSuccess) profile().note_alone(key, type, count, site, ns);
  return error;
}

int pack_int(const void* in, int count, MpiDatatype type, void* out, int size, int* position,
             MpiComm comm) {
  return move("pack", type, count, __builtin_return_address(0),
              [&] { return mpi.Pack(in, count, type, out, size, position, comm); });
}

int unpack_int(const void* in, int size, int* position, void* out, int count, MpiDatatype type,
               MpiComm comm) {
  return move("unpack", type, count, __builtin_return_address(0),
              [&] { return mpi.Unpack(in, size, position, out, count, type, comm); });
}

int pack_count(const void* in, MpiCount count, MpiDatatype type, void* out, MpiCount size,
               MpiCount* position, MpiComm comm) {
  return move("pack", type, count, __builtin_return_address(0),
              [&] { return mpi.Pack_c(in, count, type, out, size, position, comm); });
}

int unpack_count(const void* in, MpiCount size, MpiCount* position, void* out, MpiCount count,
                 MpiDatatype type, MpiComm comm) {
  return move("unpack", type, count, __builtin_return_address(0),
              [&] { return mpi.Unpack_c(in, size, position, out, count, type, comm); });
}

}  // namespace

int serve_profiled(const Call& call, const void* site) {
  const Entry entry(call.collective());
  if (entry.nested()) return call.kind.below(call);
  const std::uint64_t begin = clock_ns();
  const int error = call.kind.below(call);
  const std::uint64_t end = clock_ns();
  if (call.kind.form == Form::local) {
    if (error == kMpiSuccess) note_reduce_local(call, site, end - begin);
    return error;
  }
  const bool has_request = error == kMpiSuccess || !call.is_deferred();
  if (has_request && was_made(error)) profile().note(call, site, begin, end);
  return error;
}

void redirect_profiled_packing(const sumac_stub& stub) {
  in_front.Pack = pack_int;
  in_front.Unpack = unpack_int;
  in_front.Pack_c = pack_count;
  in_front.Unpack_c = unpack_count;
  put_packing_in_front(stub);
}

}  // namespace sumac
