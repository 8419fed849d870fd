// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <string>

#include "interpose/family/native.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_info.h"

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

std::vector<PredefinedType> predefined_types() {
  return {
#define SUMAC_TYPE_KIND(kind, operations, text)
#define SUMAC_TYPE(handle, kind) {{bits_of(handle)}, TypeKind::kind},
#define SUMAC_OPTIONAL_TYPE(name, kind)
#include "interpose/mpi/predefined_types.def"
  };
}

MpiOp predefined_op(Op op) {
  const ::MPI_Op in_the_order_of_op[] = {MPI_SUM,  MPI_PROD, MPI_MIN,    MPI_MAX,
                                         MPI_LAND, MPI_LOR,  MPI_LXOR,   MPI_BAND,
                                         MPI_BOR,  MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  return {bits_of(in_the_order_of_op[static_cast<int>(op)])};
}

std::vector<MpiOp> operations_of_one_sided_calls() {
  return {{bits_of(MPI_REPLACE)}, {bits_of(MPI_NO_OP)}};
}

}  // namespace sumac
