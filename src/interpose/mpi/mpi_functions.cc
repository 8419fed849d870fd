// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/mpi_functions.h"

#include <cstring>

namespace sumac {

MpiFunctions mpi, in_front;

static int (*query_cuda_support)() = nullptr;

void put_in_front(const sumac_stub& stub, sumac_call call) {
  if (stub.below[call]) stub.redirect(call, entry_of(call));
}

void put_packing_in_front(const sumac_stub& stub) {
  for (const sumac_call call :
       {SUMAC_CALL_Pack, SUMAC_CALL_Unpack, SUMAC_CALL_Pack_c, SUMAC_CALL_Unpack_c}) {
    put_in_front(stub, call);
  }
}

std::string library_version() {
  std::string text(kMostVersion, '\0');  // too long for small stacks
  int length = 0;
  mpi.Get_library_version(text.data(), &length);
  text.resize(std::strlen(text.c_str()));
  return text;
}

void find_device_support(const sumac_stub& stub) {
  void* const found = stub.lookup("MPIX_Query_cuda_support");
  std::memcpy(&query_cuda_support, &found, sizeof found);
}

bool mpi_takes_devices() { return query_cuda_support && query_cuda_support() != 0; }

}  // namespace sumac
