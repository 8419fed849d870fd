// SPDX-License-Identifier: BSD-3-Clause
#include "collectives.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "sumac/sumac.h"

namespace sumac::bench {
namespace {

constexpr std::size_t kPage = 4096;

template <typename Function>
Function loaded(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The MPI's function behind `name`, or `called` when Sumac is not there to be asked.
template <typename Function>
Function native(const char* name, Function called) {
  const auto ask = loaded<decltype(&sumac_native)>("sumac_native");
  void* const function = ask != nullptr ? ask(name) : nullptr;
  return function != nullptr ? reinterpret_cast<Function>(function) : called;
}

std::byte* allocate(std::size_t bytes) {
  const std::size_t size = (bytes / kPage + 1) * kPage;
  void* const memory = std::aligned_alloc(kPage, size);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, size);
  return static_cast<std::byte*>(memory);
}

}  // namespace

Functions as_called() { return {MPI_Allreduce, MPI_Reduce, MPI_Bcast, MPI_Barrier}; }

Functions of_the_mpi() {
  const Functions called = as_called();
  return {native("MPI_Allreduce", called.allreduce), native("MPI_Reduce", called.reduce),
          native("MPI_Bcast", called.bcast), native("MPI_Barrier", called.barrier)};
}

Presence presence() {
  const auto version = loaded<decltype(&sumac_version)>("sumac_version");
  const auto active = loaded<decltype(&sumac_active)>("sumac_active");
  const auto description = loaded<decltype(&sumac_description)>("sumac_description");
  if (version == nullptr || active == nullptr || description == nullptr) return {};
  return {true, active() != 0, version(), description()};
}

const char* last_path() {
  const auto path = loaded<decltype(&sumac_last_path)>("sumac_last_path");
  const char* const name = path != nullptr ? path() : nullptr;
  return name != nullptr ? name : "";
}

Buffers::Buffers(std::size_t bytes) : send_(allocate(bytes)), recv_(allocate(bytes)) {}
void Buffers::Free::operator()(std::byte* memory) const { std::free(memory); }

MPI_Datatype mpi_type(DType type) {
  const MPI_Datatype types[] = {MPI_INT8_T,   MPI_UINT8_T, MPI_INT16_T,  MPI_UINT16_T, MPI_INT,
                                MPI_UNSIGNED, MPI_INT64_T, MPI_UINT64_T, MPI_FLOAT,    MPI_DOUBLE};
  return types[static_cast<int>(type)];
}

MPI_Op mpi_op(Op op) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                        MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  return ops[static_cast<int>(op)];
}

void issue(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
           MPI_Comm comm) {
  const int count = static_cast<int>(test.count);
  const MPI_Datatype type = mpi_type(test.type);
  const bool own_buffer =
      test.in_place && (test.collective == Collective::allreduce || test.root == rank);
  const void* const send = own_buffer ? MPI_IN_PLACE : buffers.send();
  switch (test.collective) {
    case Collective::allreduce:
      functions.allreduce(send, buffers.recv(), count, type, mpi_op(test.op), comm);
      break;
    case Collective::reduce:
      functions.reduce(send, buffers.recv(), count, type, mpi_op(test.op), test.root, comm);
      break;
    case Collective::bcast:
      functions.bcast(buffers.recv(), count, type, test.root, comm);
      break;
    default:
      functions.barrier(comm);
  }
}

}  // namespace sumac::bench
