// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/family.h"

#include <mpi.h>

#include <string>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

#if defined(SUMAC_MPI_ABI)
Family family() {
  static const Family asked = [] {
    const bool is_openmpi = library_version().find("Open MPI") != std::string::npos;
    return is_openmpi ? Family::openmpi : Family::mpich;
  }();
  return asked;
}
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
Family family() { return Family::mpich; }
#else
Family family() { return Family::openmpi; }
#endif

}  // namespace sumac
