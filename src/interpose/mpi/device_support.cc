// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/device_support.h"

#include <cstring>

namespace sumac {

static int (*query_cuda_support)() = nullptr;

void find_device_support(const sumac_stub& stub) {
  void* const found = stub.lookup("MPIX_Query_cuda_support");
  std::memcpy(&query_cuda_support, &found, sizeof found);
}

bool mpi_takes_devices() { return query_cuda_support && query_cuda_support() != 0; }

}  // namespace sumac
