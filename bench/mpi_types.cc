// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_types.h"

#include <dlfcn.h>

#include <cstddef>
#include <optional>

#include "pattern.h"
#include "sumac/sumac.h"

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

struct Known {
  DType type;
  MPI_Datatype mpi;
};

// MPI_DATATYPE_NULL if `type` is not in the table.
template <std::size_t count>
MPI_Datatype find(const Known (&known)[count], DType type) {
  for (const Known& one : known) {
    if (one.type == type) return one.mpi;
  }
  return MPI_DATATYPE_NULL;
}

// Types that have only a Fortran name, also in C. Headers leave out those that the MPI lacks.
MPI_Datatype of_fortran(DType type) {
  const Known known[] = {
#ifdef MPI_INTEGER16
      {DType::i128, MPI_INTEGER16},
#endif
#ifdef MPI_REAL16
      {DType::f128, MPI_REAL16},
#endif
#ifdef MPI_COMPLEX32
      {DType::c128, MPI_COMPLEX32},
#endif
      {DType::f32_f32, MPI_2REAL},  {DType::f64_f64, MPI_2DOUBLE_PRECISION},
  };
  return find(known, type);  // not i64 pairs: only some compilers' MPI_2INTEGER has 8-byte integers
}

MPI_Datatype of_c(DType type) {
  const Known known[] = {
      {DType::i8, MPI_INT8_T},
      {DType::u8, MPI_UINT8_T},
      {DType::i16, MPI_INT16_T},
      {DType::u16, MPI_UINT16_T},
      {DType::i32, MPI_INT},
      {DType::u32, MPI_UNSIGNED},
      {DType::i64, MPI_INT64_T},
      {DType::u64, MPI_UINT64_T},
      {DType::f32, MPI_FLOAT},
      {DType::f64, MPI_DOUBLE},
      {DType::long_double, MPI_LONG_DOUBLE},
      {DType::c32, MPI_C_FLOAT_COMPLEX},
      {DType::c64, MPI_C_DOUBLE_COMPLEX},
      {DType::c_long_double, MPI_C_LONG_DOUBLE_COMPLEX},
      {DType::i32_i32, MPI_2INT},
      {DType::f32_i32, MPI_FLOAT_INT},
      {DType::i16_i32, MPI_SHORT_INT},
      {DType::i64_i32, MPI_LONG_INT},
      {DType::f64_i32, MPI_DOUBLE_INT},
      {DType::long_double_i32, MPI_LONG_DOUBLE_INT},
  };
  return find(known, type);
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
  const MPI_Datatype handle = of_fortran(type);
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
  const MPI_Datatype found = of_c(type);
  return found != MPI_DATATYPE_NULL ? found : of_fortran(type);
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
