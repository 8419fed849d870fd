// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/handles.h"

#include <initializer_list>

#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

// Open addressing; filled once, then only read. A look-up touches one cache line.
template <class Value>
class HandleTable {
 public:
  void insert(std::uintptr_t key, const Value& value) {
    std::size_t place = hash(key);
    while (places_[place].used && places_[place].key != key) place = (place + 1) % kPlaces;
    places_[place] = {key, value, true};
  }
  const Value* find(std::uintptr_t key) const {
    for (std::size_t place = hash(key); places_[place].used; place = (place + 1) % kPlaces) {
      if (places_[place].key == key) return &places_[place].value;
    }
    return nullptr;
  }

 private:
  struct Place {
    std::uintptr_t key = 0;
    Value value = {};
    bool used = false;
  };
  static constexpr std::size_t kPlaces = 256;
  static std::size_t hash(std::uintptr_t key) {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> 56);
  }
  Place places_[kPlaces];
};

HandleTable<TypeInfo> types;
HandleTable<Op> ops;
ReduceFn kernels[kNumOps][kNumDTypes];

DType integer_of(std::size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    default:
      return DType::none;
  }
}

DType float_of(std::size_t size) {
  return size == 4 ? DType::f32 : size == 8 ? DType::f64 : DType::none;
}

enum class Kind { signed_integer, unsigned_integer, floating, other };

void learn_type(MPI_Datatype type, Kind kind, unsigned operations) {
  if (type == MPI_DATATYPE_NULL) return;
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  if (mpi.Type_size(type, &size) != MPI_SUCCESS || size <= 0) return;
  if (mpi.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return;
  if (lower != 0 || extent != size) return;
  TypeInfo info;
  info.size = static_cast<std::size_t>(size);
  info.operations = static_cast<std::uint8_t>(operations);
  if (kind == Kind::floating) info.dtype = float_of(info.size);
  if (kind == Kind::signed_integer) info.dtype = integer_of(info.size, true);
  if (kind == Kind::unsigned_integer) info.dtype = integer_of(info.size, false);
  types.insert(handle_bits(type), info);
}

void learn_types() {
  const MPI_Datatype c_signed[] = {MPI_SIGNED_CHAR, MPI_SHORT,     MPI_INT,
                                   MPI_LONG,        MPI_LONG_LONG, MPI_INT8_T,
                                   MPI_INT16_T,     MPI_INT32_T,   MPI_INT64_T};
  const MPI_Datatype c_unsigned[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
                                     MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                                     MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T};
  for (MPI_Datatype type : c_signed) {
    learn_type(type, Kind::signed_integer, kArithmetic | kLogical | kBitwise);
  }
  for (MPI_Datatype type : c_unsigned) {
    learn_type(type, Kind::unsigned_integer, kArithmetic | kLogical | kBitwise);
  }
  for (MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                            MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
    learn_type(type, Kind::signed_integer, kArithmetic | kBitwise);
  }
  for (MPI_Datatype type :
       {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) {
    learn_type(type, Kind::floating, kArithmetic);
  }
  learn_type(MPI_BYTE, Kind::unsigned_integer, kBitwise);
  learn_type(MPI_C_BOOL, Kind::unsigned_integer, kLogical);
  // No kernels, but broadcast all the same.
  for (MPI_Datatype type :
       {MPI_CHAR, MPI_WCHAR, MPI_LONG_DOUBLE, MPI_PACKED, MPI_CHARACTER, MPI_LOGICAL, MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX, MPI_C_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_CXX_BOOL, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_2INT, MPI_FLOAT_INT}) {
    learn_type(type, Kind::other, 0);
  }
}

unsigned class_of(Op op) {
  if (op <= Op::max) return kArithmetic;
  return op <= Op::lxor ? kLogical : kBitwise;
}

// The type a duplicate or contiguous type is made of, MPI_DATATYPE_NULL for any other constructor.
MPI_Datatype made_of(MPI_Datatype type, int combiner, int integers, int addresses, int datatypes) {
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return MPI_DATATYPE_NULL;
  int integer[1] = {};
  MPI_Aint address[1] = {};
  MPI_Datatype inner[1] = {MPI_DATATYPE_NULL};
  if (integers > 1 || addresses > 0 || datatypes != 1) return MPI_DATATYPE_NULL;
  if (mpi.Type_get_contents(type, integers, addresses, datatypes, integer, address, inner) !=
      MPI_SUCCESS) {
    return MPI_DATATYPE_NULL;
  }
  return inner[0];
}

}  // namespace

void learn_predefined_handles() {
  learn_types();
  const struct {
    MPI_Op handle;
    Op op;
  } known[] = {{MPI_SUM, Op::sum},      {MPI_PROD, Op::prod},   {MPI_MIN, Op::min},
               {MPI_MAX, Op::max},      {MPI_LAND, Op::land},   {MPI_LOR, Op::lor},
               {MPI_LXOR, Op::lxor},    {MPI_BAND, Op::band},   {MPI_BOR, Op::bor},
               {MPI_BXOR, Op::bxor},    {MPI_MINLOC, Op::none}, {MPI_MAXLOC, Op::none},
               {MPI_REPLACE, Op::none}, {MPI_NO_OP, Op::none}};
  for (const auto& row : known) ops.insert(handle_bits(row.handle), row.op);
  for (int op = 0; op < kNumOps; ++op) {
    for (int type = 0; type < kNumDTypes; ++type) {
      kernels[op][type] = find_reduce(static_cast<Op>(op), static_cast<DType>(type));
    }
  }
}

const TypeInfo* find_type(MPI_Datatype type) { return types.find(handle_bits(type)); }

const Op* find_op(MPI_Op op) { return ops.find(handle_bits(op)); }

ReduceFn find_kernel(const TypeInfo& type, Op op) {
  if (op == Op::none || type.dtype == DType::none || !(type.operations & class_of(op))) {
    return nullptr;
  }
  return kernels[static_cast<int>(op)][static_cast<int>(type.dtype)];
}

bool packed_size(MPI_Datatype type, std::size_t& bytes) {
  if (const TypeInfo* info = find_type(type)) {
    bytes = info->size;
    return true;
  }
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || mpi.Type_size_x(type, &size) != MPI_SUCCESS) return false;
  if (size < 0) return false;  // MPI_UNDEFINED
  bytes = static_cast<std::size_t>(size);
  return true;
}

bool lies_packed(MPI_Datatype type) {
  if (find_type(type)) return true;
  int integers, addresses, datatypes, combiner;
  if (mpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) != MPI_SUCCESS) {
    return false;
  }
  if (combiner == MPI_COMBINER_NAMED) return false;  // it has gaps, else it would be in the table
  MPI_Datatype inner = made_of(type, combiner, integers, addresses, datatypes);
  if (inner == MPI_DATATYPE_NULL) return false;
  const bool packed = lies_packed(inner);
  if (!find_type(inner)) {
    // A derived type comes as a new handle, to be freed; a predefined one must not be.
    mpi.Type_get_envelope(inner, &integers, &addresses, &datatypes, &combiner);
    if (combiner != MPI_COMBINER_NAMED) mpi.Type_free(&inner);
  }
  return packed;
}

}  // namespace sumac
