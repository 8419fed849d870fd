// SPDX-License-Identifier: BSD-3-Clause
#include "types.h"

#include <cstring>
#include <iterator>

#include "mpi_types.h"

namespace sumac::replay {
namespace {

enum Kind {
#define SUMAC_TYPE_KIND(kind, operations, text) kind,
#define SUMAC_TYPE(handle, kind)
#define SUMAC_OPTIONAL_TYPE(name, kind)
#include "interpose/mpi/predefined_types.def"
};

struct Named {
  const char* name;
  MPI_Datatype handle;
  Kind kind;
};
#define SUMAC_TYPE_KIND(kind, operations, text)
#define SUMAC_TYPE(handle, kind) {#handle, handle, kind},
#define SUMAC_OPTIONAL_TYPE(name, kind)
const Named kNamed[] = {
#include "interpose/mpi/predefined_types.def"
};

DType of_size(std::int64_t size, std::initializer_list<DType> types) {
  for (const DType type : types) {
    if (static_cast<std::int64_t>(size_of(type)) == size) return type;
  }
  return DType::none;
}

DType element_of(Kind kind, std::int64_t size) {
  constexpr auto i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64;
  switch (kind) {
    case c_signed:
    case fortran_integer:
    case logical:
      return of_size(size, {i8, i16, i32, i64});
    case c_unsigned:
    case boolean:
    case byte:
    case text:
      return of_size(size, {DType::u8, DType::u16, DType::u32, DType::u64});
    case floating:
      return of_size(size, {DType::f32, DType::f64, DType::f128});
    case c_long_double:
      return DType::long_double;
    case complex:
      return of_size(size, {DType::c32, DType::c64, DType::c128});
    case c_long_double_complex:
      return DType::c_long_double;
    case float_int:
      return DType::f32_i32;
    case double_int:
      return DType::f64_i32;
    case long_int:
      return DType::i64_i32;
    case two_ints:
      return size == 8 ? DType::i32_i32 : DType::none;
    case short_int:
      return DType::i16_i32;
    case long_double_int:
      return DType::long_double_i32;
    case two_floats:
      return size == 8 ? DType::f32_f32 : DType::f64_f64;
  }
  return DType::none;
}

Type make_named(const std::string& name) {
  Type type;
  for (const Named& row : kNamed) {
    if (name != row.name || row.handle == MPI_DATATYPE_NULL) continue;
    type.handle = row.handle;
    int size = 0;
    MPI_Type_size(row.handle, &size);
    type.element = element_of(row.kind, size);
    type.is_truth = row.kind == boolean || row.kind == logical;
    return type;
  }
  throw Failure("replay-type", "this MPI has no " + name);
}

// The numbers that a constructor was given, with a check that they are there.
class Numbers {
 public:
  explicit Numbers(const TypeText& text) : text_(text) {}
  std::int64_t operator[](std::size_t i) const {
    if (i >= text_.numbers.size()) wrong();
    return text_.numbers[i];
  }
  std::vector<int> ints(std::size_t first, std::size_t count) const {
    std::vector<int> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(integer(first + i));
    return list;
  }
  std::vector<MPI_Aint> places(std::size_t first, std::size_t count) const {
    std::vector<MPI_Aint> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back((*this)[first + i]);
    return list;
  }
  int integer(std::size_t i) const {
    if ((*this)[i] != static_cast<int>((*this)[i])) {
      throw Failure("replay-type", "a count of a datatype is beyond an int");
    }
    return static_cast<int>((*this)[i]);
  }
  std::size_t count(std::size_t i) const {
    if (integer(i) < 0) wrong();
    return static_cast<std::size_t>(integer(i));
  }
  [[noreturn]] static void wrong() { throw Failure("bad-record", "a datatype lacks numbers"); }

 private:
  const TypeText& text_;
};

MPI_Datatype make_opaque(const Numbers& n) {
  // Size, true lower bound, true extent, lower bound, extent.
  MPI_Datatype bytes, placed, type;
  const int length = n.integer(0);
  const MPI_Aint place = n[1];
  MPI_Type_contiguous(length, MPI_BYTE, &bytes);
  const int one = 1;
  MPI_Type_create_hindexed(1, &one, &place, bytes, &placed);
  MPI_Type_create_resized(placed, n[3], n[4], &type);
  MPI_Type_free(&placed);
  MPI_Type_free(&bytes);
  return type;
}

MPI_Datatype make_array(const std::string& constructor, const Numbers& n, MPI_Datatype inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (constructor == "subarray") {
    const std::size_t d = n.count(0);
    MPI_Type_create_subarray(n.integer(0), n.ints(1, d).data(), n.ints(1 + d, d).data(),
                             n.ints(1 + 2 * d, d).data(), n.integer(1 + 3 * d), inner, &type);
    return type;
  }
  const std::size_t d = n.count(2);
  MPI_Type_create_darray(n.integer(0), n.integer(1), n.integer(2), n.ints(3, d).data(),
                         n.ints(3 + d, d).data(), n.ints(3 + 2 * d, d).data(),
                         n.ints(3 + 3 * d, d).data(), n.integer(3 + 4 * d), inner, &type);
  return type;
}

MPI_Datatype make_blocks(const std::string& constructor, const Numbers& n, MPI_Datatype inner) {
  const int blocks = n.integer(0);
  const std::size_t count = n.count(0);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (constructor == "indexed") {
    MPI_Type_indexed(blocks, n.ints(1, count).data(), n.ints(1 + count, count).data(), inner,
                     &type);
  } else if (constructor == "hindexed") {
    MPI_Type_create_hindexed(blocks, n.ints(1, count).data(), n.places(1 + count, count).data(),
                             inner, &type);
  } else if (constructor == "indexed_block") {
    MPI_Type_create_indexed_block(blocks, n.integer(1), n.ints(2, count).data(), inner, &type);
  } else {
    MPI_Type_create_hindexed_block(blocks, n.integer(1), n.places(2, count).data(), inner, &type);
  }
  return type;
}

MPI_Datatype make_structure(const TypeText& text, const Numbers& n,
                            const std::vector<Type>& types) {
  const std::size_t count = n.count(0);
  std::vector<MPI_Datatype> parts;
  for (const int part : text.types) parts.push_back(types[static_cast<std::size_t>(part)].handle);
  if (parts.size() != count) Numbers::wrong();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(n.integer(0), n.ints(1, count).data(), n.places(1 + count, count).data(),
                         parts.data(), &type);
  return type;
}

MPI_Datatype make_f90(const std::string& constructor, const Numbers& n) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (constructor == "f90_integer") {
    MPI_Type_create_f90_integer(n.integer(0), &type);
  } else if (constructor == "f90_real") {
    MPI_Type_create_f90_real(n.integer(0), n.integer(1), &type);
  } else {
    MPI_Type_create_f90_complex(n.integer(0), n.integer(1), &type);
  }
  return type;
}

MPI_Datatype make_derived(const TypeText& text, const std::vector<Type>& types) {
  const Numbers n(text);
  const std::string& by = text.constructor;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (by == "opaque") return make_opaque(n);
  if (by == "struct") return make_structure(text, n, types);
  if (text.types.size() != 1) Numbers::wrong();
  const MPI_Datatype inner = types[static_cast<std::size_t>(text.types[0])].handle;
  if (by == "dup") {
    MPI_Type_dup(inner, &type);
  } else if (by == "contiguous") {
    MPI_Type_contiguous(n.integer(0), inner, &type);
  } else if (by == "vector") {
    MPI_Type_vector(n.integer(0), n.integer(1), n.integer(2), inner, &type);
  } else if (by == "hvector") {
    MPI_Type_create_hvector(n.integer(0), n.integer(1), n[2], inner, &type);
  } else if (by == "resized") {
    MPI_Type_create_resized(inner, n[0], n[1], &type);
  } else if (by == "subarray" || by == "darray") {
    type = make_array(by, n, inner);
  } else if (by.find("indexed") != by.npos) {
    type = make_blocks(by, n, inner);
  } else {
    throw Failure("bad-record", "no datatype is made by " + by);
  }
  return type;
}

void measure(Type& type) {
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_size_x(type.handle, &size);
  MPI_Type_get_extent(type.handle, &lower, &extent);
  MPI_Type_get_true_extent(type.handle, &true_lower, &true_extent);
  type.size = size;
  type.extent = extent;
  type.true_lower = true_lower;
  type.true_extent = true_extent;
}

// One element of bytes in or out of the order in which they are packed.
void pack(const void* from, std::vector<unsigned char>& bytes, MPI_Datatype type) {
  int at = 0;
  MPI_Pack(from, 1, type, bytes.data(), static_cast<int>(bytes.size()), &at, MPI_COMM_SELF);
}
void unpack(const std::vector<unsigned char>& bytes, void* to, MPI_Datatype type) {
  int at = 0;
  MPI_Unpack(bytes.data(), static_cast<int>(bytes.size()), &at, to, 1, type, MPI_COMM_SELF);
}

// inout = in before inout. Bytes are added; where the order matters, two bytes are a function
// x -> ax + b, and functions are composed, which is associative.
template <bool ordered>
void combine_bytes(const unsigned char* in, unsigned char* inout, std::size_t size) {
  std::size_t i = 0;
  for (; ordered && i + 1 < size; i += 2) {
    const unsigned a = in[i], b = in[i + 1], c = inout[i], d = inout[i + 1];
    inout[i] = static_cast<unsigned char>(a * c);
    inout[i + 1] = static_cast<unsigned char>(a * d + b);
  }
  for (; i < size; ++i) inout[i] = static_cast<unsigned char>(inout[i] + in[i]);
}

template <bool ordered>
void combine(void* in, void* inout, int* count, MPI_Datatype* handle) {
  Type type;
  type.handle = *handle;
  measure(type);
  const auto size = static_cast<std::size_t>(type.size);
  auto *from = static_cast<unsigned char*>(in), *into = static_cast<unsigned char*>(inout);
  std::vector<unsigned char> a(size), b(size);
  for (int i = 0; i < *count; ++i, from += type.extent, into += type.extent) {
    if (type.dense()) {
      combine_bytes<ordered>(from, into, size);
      continue;
    }
    pack(from, a, *handle);
    pack(into, b, *handle);
    combine_bytes<ordered>(a.data(), b.data(), size);
    unpack(b, into, *handle);
  }
}

}  // namespace

std::vector<Type> make_types(const std::vector<TypeText>& texts) {
  std::vector<Type> types;
  for (const TypeText& text : texts) {
    Type type;
    if (text.constructor == "named") {
      type = make_named(text.name);
    } else if (text.constructor.starts_with("f90_")) {
      type.handle = make_f90(text.constructor, Numbers(text));
    } else if (text.constructor != "null") {
      type.handle = make_derived(text, types);
      if (type.handle == MPI_DATATYPE_NULL) {
        throw Failure("replay-type", "the MPI does not make a datatype of the record");
      }
      MPI_Type_commit(&type.handle);
      type.made = true;
    }
    measure(type);
    types.push_back(type);
  }
  return types;
}

void free_types(std::vector<Type>& types) {
  for (Type& type : types) {
    if (type.made) MPI_Type_free(&type.handle);
  }
  types.clear();
}

std::vector<Operation> make_operations(const std::vector<std::string>& names) {
  std::vector<Operation> operations;
  for (const std::string& name : names) {
    Operation operation;
    for (int op = 0; op < kNumOps; ++op) {
      if (name == name_of(static_cast<Op>(op))) operation.op = static_cast<Op>(op);
    }
    const bool ordered = name == "user ordered";
    if (operation.op != Op::none) {
      operation.handle = bench::mpi_op(operation.op);
    } else if (ordered || name == "user commutative") {
      MPI_Op_create(ordered ? combine<true> : combine<false>, !ordered, &operation.handle);
    } else {
      throw Failure("bad-record", "no operation is called " + name);
    }
    operations.push_back(operation);
  }
  return operations;
}

void free_operations(std::vector<Operation>& operations) {
  for (Operation& operation : operations) {
    if (operation.op == Op::none) MPI_Op_free(&operation.handle);
  }
  operations.clear();
}

}  // namespace sumac::replay
