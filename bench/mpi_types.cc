// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_types.h"

#include <dlfcn.h>

#include <cstddef>
#include <optional>

#include "pattern.h"
#include "sumac/sumac.h"

namespace sumac::bench {
namespace {

// `element` as sumac_hint_type takes it, which need not be there.
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

std::optional<MPI_Datatype> float16, bfloat16;  // once they are made

MPI_Datatype made_here(DType type) {
  const bool brain = type == DType::bf16;
  std::optional<MPI_Datatype>& made = brain ? bfloat16 : float16;
  if (!made) made = made_known(brain ? SUMAC_BFLOAT16 : SUMAC_FLOAT16);
  return *made;
}

// Types that C knows only as Fortran's; headers leave out what the MPI has not.
MPI_Datatype of_fortran(DType type) {
  switch (type) {
#ifdef MPI_INTEGER16
    case DType::i128:
      return MPI_INTEGER16;
#endif
#ifdef MPI_REAL16
    case DType::f128:
      return MPI_REAL16;
#endif
#ifdef MPI_COMPLEX32
    case DType::c128:
      return MPI_COMPLEX32;
#endif
    case DType::f32_f32:
      return MPI_2REAL;
    case DType::f64_f64:
      return MPI_2DOUBLE_PRECISION;
    default:
      return MPI_DATATYPE_NULL;  // a pair of 8-byte integers: MPI_2INTEGER of some compilers only
  }
}

MPI_Datatype of_c(DType type) {
  switch (type) {
    case DType::i8:
      return MPI_INT8_T;
    case DType::u8:
      return MPI_UINT8_T;
    case DType::i16:
      return MPI_INT16_T;
    case DType::u16:
      return MPI_UINT16_T;
    case DType::i32:
      return MPI_INT;
    case DType::u32:
      return MPI_UNSIGNED;
    case DType::i64:
      return MPI_INT64_T;
    case DType::u64:
      return MPI_UINT64_T;
    case DType::f32:
      return MPI_FLOAT;
    case DType::f64:
      return MPI_DOUBLE;
    case DType::long_double:
      return MPI_LONG_DOUBLE;
    case DType::c32:
      return MPI_C_FLOAT_COMPLEX;
    case DType::c64:
      return MPI_C_DOUBLE_COMPLEX;
    case DType::c_long_double:
      return MPI_C_LONG_DOUBLE_COMPLEX;
    case DType::i32_i32:
      return MPI_2INT;
    case DType::f32_i32:
      return MPI_FLOAT_INT;
    case DType::i16_i32:
      return MPI_SHORT_INT;
    case DType::i64_i32:
      return MPI_LONG_INT;
    case DType::f64_i32:
      return MPI_DOUBLE_INT;
    case DType::long_double_i32:
      return MPI_LONG_DOUBLE_INT;
    default:
      return MPI_DATATYPE_NULL;
  }
}

// While it lives, errors of calls without a communicator are returned.
struct ErrorsReturn {
  ErrorsReturn() { set(MPI_ERRORS_RETURN); }
  ~ErrorsReturn() { set(MPI_ERRORS_ARE_FATAL); }
  static void set(MPI_Errhandler handler) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  }
};

// Whether the MPI adds numbers of this type rightly. Some take a quadruple for a long double, which
// has its size, or cannot add it at all.
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
