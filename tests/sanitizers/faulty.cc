// SPDX-License-Identifier: BSD-3-Clause
// Faults that the sanitizers must find: faulty address | undefined | thread. That of address is in
// the library's own access to memory that the program gave it.
#include <climits>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.h"

namespace {

using namespace test;

constexpr int kCount = 1000;

// The buffer is too short by an element.
void use_too_much() {
  const std::vector<std::int64_t> input(kCount - 1, 1);
  std::vector<std::int64_t> result(kCount);
  MPI_Allreduce(input.data(), result.data(), kCount, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void overflow(void* in, void* in_out, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(in_out)[i] += static_cast<int*>(in)[i];
}

void overflow_in_function() {
  const int input = INT_MAX;
  int result = 0;
  MPI_Op operation;
  MPI_Op_create(overflow, 1, &operation);
  MPI_Allreduce(&input, &result, 1, MPI_INT, operation, MPI_COMM_WORLD);
  MPI_Op_free(&operation);
}

void race() {
  int counted = 0;
  const auto count = [&] {
    for (int i = 0; i < kCount; ++i) ++counted;
  };
  std::thread other(count);
  count();
  other.join();
  MPI_Bcast(&counted, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  warm_up(MPI_COMM_WORLD);
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "address") use_too_much();
  if (which == "undefined") overflow_in_function();
  if (which == "thread") race();
  return finish();
}
