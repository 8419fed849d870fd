// SPDX-License-Identifier: BSD-3-Clause
// User-defined operations on elements of any number of words, with checks of the arguments that
// their functions are called with; and derived types whose elements are 32-bit words at given
// offsets.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "check.h"
#include "numbers.h"

namespace test {

struct Shape {
  const char* name;
  MPI_Datatype type;
  std::vector<MPI_Aint> words;  // byte offsets of an element's words from its address
  MPI_Aint lower, extent;       // in bytes, as MPI_Type_get_extent must return them

  std::size_t bytes() const { return 4 * words.size(); }
};

inline MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

inline Shape contiguous(const char* name, int count) {
  Shape shape{name, MPI_DATATYPE_NULL, {}, 0, 4 * static_cast<MPI_Aint>(count)};
  MPI_Type_contiguous(count, MPI_INT, &shape.type);
  MPI_Type_commit(&shape.type);
  for (int i = 0; i < count; ++i) shape.words.push_back(4 * i);
  return shape;
}

// A double and an int, as in a C struct, with or without the padding at its end.
inline Shape double_and_int(bool padded) {
  MPI_Datatype made, resized;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, types, &made);
  MPI_Type_create_resized(made, 0, padded ? 16 : 12, &resized);
  MPI_Type_free(&made);
  return {
      padded ? "struct with a gap" : "struct", committed(resized), {0, 4, 8}, 0, padded ? 16 : 12};
}

inline Shape strided() {
  MPI_Datatype made;
  MPI_Type_vector(3, 1, 2, MPI_INT, &made);
  return {"vector", committed(made), {0, 8, 16}, 0, 20};
}

inline Shape resized(const char* name, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype two, made;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, lower, extent, &made);
  MPI_Type_free(&two);
  return {name, committed(made), {0, 4}, lower, extent};
}

// Words at negative offsets, and not in the order of memory.
inline Shape backwards() {
  MPI_Datatype made;
  const int lengths[] = {1, 1, 1};
  const int places[] = {1, -3, -1};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &made);
  return {"indexed, backwards", committed(made), {4, -12, -4}, -12, 20};
}

inline std::vector<Shape> all_shapes() {
  return {{"int", MPI_INT, {0}, 0, 4},
          {"double", MPI_DOUBLE, {0, 4}, 0, 8},
          contiguous("3 ints", 3),
          contiguous("5 ints", 5),
          contiguous("7 ints", 7),
          double_and_int(false),
          double_and_int(true),
          strided(),
          resized("resized, negative lower bound", -8, 24),
          resized("far apart", 0, 4000),
          backwards(),
          contiguous("1000 bytes", 250),
          contiguous("100000 bytes", 25000)};
}

inline void free_shapes(std::vector<Shape>& shapes) {
  for (Shape& shape : shapes) {
    if (shape.type != MPI_INT && shape.type != MPI_DOUBLE) MPI_Type_free(&shape.type);
  }
}

using Words = std::vector<std::uint32_t>;

// Computes right = left op right for the n words of an element.
using WordFunction = void (*)(const std::uint32_t* left, std::uint32_t* right, std::size_t n);

inline void add_words(const std::uint32_t* left, std::uint32_t* right, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) right[i] += left[i];
}
// Composes maps x -> a x + b modulo 2^32: associative, not commutative.
inline void compose(const std::uint32_t* left, std::uint32_t* right, std::size_t n) {
  std::size_t i = 0;
  for (; i + 1 < n; i += 2) {
    right[i + 1] = left[i] * right[i + 1] + left[i + 1];
    right[i] *= left[i];
  }
  if (i < n) right[i] *= left[i];
}
// Multiplies 2 by 2 matrices; words that fill no matrix are composed as above.
inline void multiply_matrices(const std::uint32_t* left, std::uint32_t* right, std::size_t n) {
  std::size_t i = 0;
  for (; i + 3 < n; i += 4) {
    const std::uint32_t *a = left + i, b[] = {right[i], right[i + 1], right[i + 2], right[i + 3]};
    right[i] = a[0] * b[0] + a[1] * b[2];
    right[i + 1] = a[0] * b[1] + a[1] * b[3];
    right[i + 2] = a[2] * b[0] + a[3] * b[2];
    right[i + 3] = a[2] * b[1] + a[3] * b[3];
  }
  compose(left + i, right + i, n - i);
}
inline void take_left(const std::uint32_t* left, std::uint32_t* right, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) right[i] = left[i];
}
inline void take_right(const std::uint32_t*, std::uint32_t*, std::size_t) {}
// Not associative: any other order or tree of operations gives another result.
inline void mix_words(const std::uint32_t* left, std::uint32_t* right, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    right[i] = (left[i] * 2654435761u ^ right[i] >> 7) + 31 * right[i] + 1;
  }
}

// What an operation's function does to `count` elements; it may spoil those that it only reads.
inline void fold_elements(const Shape& shape, WordFunction function, void* in, void* inout,
                          int count, bool spoils_in) {
  const std::size_t n = shape.words.size();
  Words left(n), right(n);
  for (int i = 0; i < count; ++i) {
    auto* from = static_cast<unsigned char*>(in) + i * shape.extent;
    auto* to = static_cast<unsigned char*>(inout) + i * shape.extent;
    for (std::size_t w = 0; w < n; ++w) {
      std::memcpy(&left[w], from + shape.words[w], 4);
      std::memcpy(&right[w], to + shape.words[w], 4);
    }
    function(left.data(), right.data(), n);
    for (std::size_t w = 0; w < n; ++w) {
      std::memcpy(to + shape.words[w], &right[w], 4);
      if (spoils_in) std::memset(from + shape.words[w], 0xee, 4);
    }
  }
}

// What the functions expect, and what they counted.
struct Seen {
  const Shape* shape = nullptr;
  pthread_t caller{};
  std::size_t count = 0;  // of the call; an upper bound for each call of the function
  std::atomic<long> elements{0}, wrong{0};

  // Before a call.
  void expect(const Shape& of, std::size_t most) {
    shape = &of;
    caller = pthread_self();
    count = most;
    elements = wrong = 0;
  }
};
inline Seen seen;

template <WordFunction function, bool spoils_in>
void user_function(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Shape& shape = *seen.shape;
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &lower, &extent);
  const bool known = *type == shape.type && size == static_cast<int>(shape.bytes()) &&
                     lower == shape.lower && extent == shape.extent;
  const bool fits = *count > 0 && static_cast<std::size_t>(*count) <= seen.count;
  if (!known || !fits || !pthread_equal(pthread_self(), seen.caller)) ++seen.wrong;
  seen.elements += *count;
  fold_elements(shape, function, in, inout, *count, spoils_in);
}

struct Operation {
  const char* name;
  WordFunction function;
  bool commutes, associates;
  MPI_User_function* entry;
  MPI_Op op = MPI_OP_NULL;
};

// Words of all values, folded by the operation's function.
inline Numbers numbers_of(const Operation& o, const Shape& shape) {
  Numbers n{std::string(o.name) + " of " + shape.name, shape.type, o.op,
            static_cast<std::size_t>(shape.extent),    nullptr,    true};
  n.fold = [&shape, function = o.function](unsigned char* at, std::size_t first, std::size_t count,
                                           Givers givers, std::uint64_t seed) {
    const std::size_t words = shape.words.size();
    Words left(words), right(words);
    const auto read = [&](Words& to, int giver, std::size_t i) {
      for (std::size_t w = 0; w < words; ++w) {
        to[w] = static_cast<std::uint32_t>(
            mix(seed * 1000003ull + (i * words + w) * 64 + static_cast<unsigned>(giver)));
      }
    };
    for (std::size_t i = first; i < first + count; ++i, at += shape.extent) {
      read(left, givers[0], i);
      for (const int giver : givers.subspan(1)) {
        read(right, giver, i);
        function(left.data(), right.data(), words);
        left.swap(right);
      }
      for (std::size_t w = 0; w < words; ++w) std::memcpy(at + shape.words[w], &left[w], 4);
    }
  };
  for (const MPI_Aint at : shape.words) {
    if (at < 0) n.before = std::max(n.before, static_cast<std::size_t>(-at));
    if (at + 4 > shape.extent) {
      n.behind = std::max(n.behind, static_cast<std::size_t>(at + 4 - shape.extent));
    }
  }
  return n;
}

inline std::vector<Operation> all_operations() {
  std::vector<Operation> all{
      {"sum", add_words, true, true, user_function<add_words, false>},
      {"composition", compose, false, true, user_function<compose, false>},
      {"matrix product", multiply_matrices, false, true, user_function<multiply_matrices, true>},
      {"left", take_left, false, true, user_function<take_left, true>},
      {"right", take_right, false, true, user_function<take_right, false>},
      {"mixture", mix_words, false, false, user_function<mix_words, false>}};
  for (Operation& o : all) MPI_Op_create(o.entry, o.commutes, &o.op);
  return all;
}

}  // namespace test
