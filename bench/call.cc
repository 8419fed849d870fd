// SPDX-License-Identifier: BSD-3-Clause
#include "call.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "mpi_types.h"

namespace sumac::bench {
namespace {

constexpr std::size_t kPage = 4096;

std::byte* allocate(std::size_t bytes) {
  const std::size_t size = (bytes / kPage + 1) * kPage;
  void* const memory = std::aligned_alloc(kPage, size);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, size);
  return static_cast<std::byte*>(memory);
}

void require(int error, const char* what, const Case& test) {
  if (error == MPI_SUCCESS) return;
  throw std::runtime_error(name_of(test.collective, test.kind) + ": the " + what +
                           " ended with error " + std::to_string(error));
}

Form form_of(Kind kind) {
  switch (kind) {
    case Kind::blocking:
      return Form::blocking;
    case Kind::nonblocking:
      return Form::nonblocking;
    case Kind::persistent:
      break;
  }
  return Form::persistent;
}

int row_of(const Case& test) {
  const Function function = function_of(test.collective, test.with_counts);
  int row = 0;
  while (kCollectiveRows[row].kind.function != function ||
         kCollectiveRows[row].kind.form != form_of(test.kind))
    row++;
  return row;
}

const FunctionInfo* find_function(Collective collective, bool lists) {
  for (const FunctionInfo& info : kFunctions) {
    if (info.collective == collective && info.lists == lists) return &info;
  }
  return nullptr;
}

}  // namespace

Function function_of(Collective collective, bool with_counts) {
  const FunctionInfo* const found = find_function(collective, with_counts);
  return (found != nullptr ? found : find_function(collective, !with_counts))->function;
}

bool has_both(Collective collective) {
  return find_function(collective, false) != nullptr && find_function(collective, true) != nullptr;
}

Buffers::Buffers(std::size_t bytes) : send_(allocate(bytes)), recv_(allocate(bytes)) {}
void Buffers::Free::operator()(std::byte* memory) const { std::free(memory); }

RepeatedCall::RepeatedCall(const Functions& functions, const Case& test, const Buffers& buffers,
                           int rank, MPI_Comm comm)
    : functions_(functions),
      test_(test),
      row_(kCollectiveRows[row_of(test)]),
      function_(functions.collectives[row_of(test)]),
      call_{row_.kind} {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const int whole = static_cast<int>(test.count), part = whole / ranks;
  for (int r = 0; r < ranks; ++r) {
    counts_.push_back(part);
    places_.push_back(r * part);
  }
  const bool gets = gets_result(test.collective, rank, test.root);
  const auto type = from_native<MpiDatatype>(mpi_type(test.type));
  const int count = test.has_parts() ? part : whole;
  call_.send = {test.in_place && gets ? MPI_IN_PLACE : buffers.send(), count, type};
  call_.receive = {buffers.recv(), count, type};
  call_.counts = call_.send_counts = counts_.data();
  call_.displacements = call_.send_displacements = places_.data();
  call_.op = from_native<MpiOp>(mpi_op(test.op));
  call_.root = test.root;
  call_.comm = from_native<MpiComm>(comm);
  call_.request = RequestPointer(&request_);
  if (test.kind != Kind::persistent) return;
  require(function_ != nullptr ? make() : MPI_ERR_OTHER, "initialization", test);
}

RepeatedCall::~RepeatedCall() {
  if (test_.kind == Kind::persistent && request_ != MPI_REQUEST_NULL)
    functions_.request_free(&request_);
}

void RepeatedCall::start() {
  switch (test_.kind) {
    case Kind::blocking:
      return require(make(), "call", test_);
    case Kind::nonblocking:
      return require(make(), "start", test_);
    case Kind::persistent:
      return require(functions_.start(&request_), "start", test_);
  }
}

void RepeatedCall::wait() {
  if (test_.kind == Kind::blocking) return;
  require(functions_.wait(&request_, MPI_STATUS_IGNORE), "wait", test_);
}

bool RepeatedCall::test() {
  int over = 1;
  if (test_.kind != Kind::blocking)
    require(functions_.test(&request_, &over, MPI_STATUS_IGNORE), "test", test_);
  return over != 0;
}

}  // namespace sumac::bench
