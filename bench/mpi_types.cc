// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_types.h"

#include <dlfcn.h>

#include <optional>

#include "pattern.h"
#include "sumac/sumac.h"

// Types that have only a Fortran name, also in C. Headers leave out those that the MPI lacks.
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_REAL16
#define MPI_REAL16 MPI_DATATYPE_NULL
#endif
#ifndef MPI_COMPLEX32
#define MPI_COMPLEX32 MPI_DATATYPE_NULL
#endif

namespace sumac::bench {
namespace {

// Makes a type of 2 bytes and declares it as `element` by sumac_hint_type. MPI_DATATYPE_NULL if
// Sumac is not loaded or refuses.
MPI_Datatype made_known(int element) {
  const auto hint =
      reinterpret_cast<decltype(&sumac_hint_type)>(dlsym(RTLD_DEFAULT, "sumac_hint_type"));
  MPI_Datatype type;
  if (hint == nullptr) return MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  if (hint(type, element) == MPI_SUCCESS) return type;
  MPI_Type_free(&type);
  return MPI_DATATYPE_NULL;
}

std::optional<MPI_Datatype> float16, bfloat16;  // set when they are made

MPI_Datatype made_here(DType type) {
  const bool brain = type == DType::bf16;
  std::optional<MPI_Datatype>& made = brain ? bfloat16 : float16;
  if (!made) made = made_known(brain ? SUMAC_BFLOAT16 : SUMAC_FLOAT16);
  return *made;
}

// The rows of base/types.def; MPI_DATATYPE_NULL if there is no such type.
MPI_Datatype of_table(DType type) {
  const MPI_Datatype types[] = {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) mpi,
#include "base/types.def"
  };
  return types[static_cast<int>(type)];
}

// During its lifetime, errors of calls without a communicator are returned.
struct ErrorsReturn {
  ErrorsReturn() { set(MPI_ERRORS_RETURN); }
  ~ErrorsReturn() { set(MPI_ERRORS_ARE_FATAL); }
  static void set(MPI_Errhandler handler) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  }
};

// Whether the MPI adds numbers of this type correctly. Some MPIs take a quadruple for a long
// double, which has the same size, or cannot add it at all.
bool can_add(MPI_Datatype handle, DType type) {
  constexpr int kCount = 8;
  const ErrorsReturn guard;
  const Pattern pattern{type, Op::sum, 2, 1};
  alignas(32) std::byte in[32 * kCount], inout[32 * kCount];
  pattern.fill(in, kCount, 0);
  pattern.fill(inout, kCount, 1);
  return MPI_Reduce_local(in, inout, kCount, handle, MPI_SUM) == MPI_SUCCESS &&
         pattern.wrong(inout, kCount) == 0;
}

MPI_Datatype quadruple(DType type) {
  const MPI_Datatype handle = of_table(type);
  return handle != MPI_DATATYPE_NULL && can_add(handle, type) ? handle : MPI_DATATYPE_NULL;
}

}  // namespace

bool is_predefined(DType type) { return type != DType::f16 && type != DType::bf16; }

MPI_Datatype mpi_type(DType type) {
  if (!is_predefined(type)) return made_here(type);
  if (type == DType::f128) {
    static const MPI_Datatype real = quadruple(type);
    return real;
  }
  if (type == DType::c128) {
    static const MPI_Datatype complex = quadruple(type);
    return complex;
  }
  return of_table(type);
}

MPI_Op mpi_op(Op op) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  return ops[static_cast<int>(op)];
}

void free_types() {
  for (std::optional<MPI_Datatype>* const made : {&float16, &bfloat16}) {
    if (*made && **made != MPI_DATATYPE_NULL) MPI_Type_free(&**made);
    made->reset();
  }
}

}  // namespace sumac::bench
