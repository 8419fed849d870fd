// SPDX-License-Identifier: BSD-3-Clause
// A collective with its buffers and the expected result of a serial loop. It can be called or
// started; the result is checked when it has ended. All numbers are small and whole, so every order
// of additions gives the same result.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "check.h"
#include "data.h"
#include "groups.h"

namespace test {

struct Number {
  MPI_Datatype type;
  std::size_t size;
  bool small;  // its range is too small for sums
  void (*put)(void*, long);
};

template <class T>
Number number(MPI_Datatype type) {
  return {type, sizeof(T), sizeof(T) == 1, [](void* place, long x) {
            const T value = static_cast<T>(x);
            std::memcpy(place, &value, sizeof value);
          }};
}

inline const std::array<Number, 6>& numbers() {
  static const std::array<Number, 6> all{
      number<int>(MPI_INT),     number<double>(MPI_DOUBLE),
      number<float>(MPI_FLOAT), number<std::int64_t>(MPI_INT64_T),
      number<short>(MPI_SHORT), number<signed char>(MPI_SIGNED_CHAR)};
  return all;
}

enum class Kind { kAllreduce, kReduce, kBcast, kBarrier };
// The type of a broadcast. Derived types have blocks of 3 elements and gaps of 2.
enum class Layout { kPlain, kVector, kResized };

// An operation's parameters, which all ranks draw alike.
struct Spec {
  Kind kind = Kind::kBarrier;
  std::size_t number = 0, count = 0;
  int root = 0;
  Layout layout = Layout::kPlain;
  bool in_place = false, large_count = false;
  std::uint64_t seed = 0;
};

// The functions MPI_X_c of MPI-4. Where the MPI lacks them, Sumac exports its own.
struct LargeCount {
  int (*Iallreduce)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
  int (*Ireduce)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request*);
  int (*Ibcast)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Request*);
};

inline const LargeCount& large_count() {
  static const LargeCount functions{in_sumac<decltype(LargeCount::Iallreduce)>("MPI_Iallreduce_c"),
                                    in_sumac<decltype(LargeCount::Ireduce)>("MPI_Ireduce_c"),
                                    in_sumac<decltype(LargeCount::Ibcast)>("MPI_Ibcast_c")};
  return functions;
}

class Collective {
 public:
  Collective(const Spec& spec, const Group& group)
      : spec_(spec),
        group_(group),
        number_(numbers()[spec.number]),
        gets_(spec.kind != Kind::kReduce || group.rank == spec.root),
        in_place_(spec.kind != Kind::kBcast && spec.in_place && gets_),
        send_(sends_apart() ? bytes() : 0, spec.seed >> 8 & 31),
        receive_(gets_ ? bytes() : 0, spec.seed & 63) {
    fill();
  }

  // Starts the nonblocking operation. A derived type is freed before the operation has ended.
  void start(MPI_Request* request) {
    forget_path();
    const int n = static_cast<int>(spec_.count);
    if (spec_.kind == Kind::kBarrier) {
      MPI_Ibarrier(group_.comm, request);
    } else if (spec_.kind == Kind::kBcast) {
      with_layout([&](MPI_Datatype type, int count) {
        if (spec_.large_count) {
          large_count().Ibcast(buffer(), count, type, spec_.root, group_.comm, request);
        } else {
          MPI_Ibcast(buffer(), count, type, spec_.root, group_.comm, request);
        }
      });
    } else if (spec_.kind == Kind::kAllreduce && spec_.large_count) {
      large_count().Iallreduce(from(), into(), n, number_.type, op(), group_.comm, request);
    } else if (spec_.kind == Kind::kAllreduce) {
      MPI_Iallreduce(from(), into(), n, number_.type, op(), group_.comm, request);
    } else if (spec_.large_count) {
      large_count().Ireduce(from(), into(), n, number_.type, op(), spec_.root, group_.comm,
                            request);
    } else {
      MPI_Ireduce(from(), into(), n, number_.type, op(), spec_.root, group_.comm, request);
    }
  }

  void call() {
    const int n = static_cast<int>(spec_.count);
    if (spec_.kind == Kind::kBarrier) {
      MPI_Barrier(group_.comm);
    } else if (spec_.kind == Kind::kBcast) {
      with_layout([&](MPI_Datatype type, int count) {
        MPI_Bcast(buffer(), count, type, spec_.root, group_.comm);
      });
    } else if (spec_.kind == Kind::kAllreduce) {
      MPI_Allreduce(from(), into(), n, number_.type, op(), group_.comm);
    } else {
      MPI_Reduce(from(), into(), n, number_.type, op(), spec_.root, group_.comm);
    }
  }

  // Fills in new input, from another seed, before a persistent operation is started again.
  void fill(std::uint64_t seed) {
    spec_.seed = seed;
    fill();
  }

  // The result must be right; input and gaps must be unchanged.
  void check(const char* where) {
    if (spec_.kind == Kind::kBarrier) return;
    CHECK(send_.guards_hold() && receive_.guards_hold(), "%s", where);
    const auto* result = receive_.as<const unsigned char>();
    const auto* input = send_.as<const unsigned char>();
    long wrong = 0, touched = 0;
    const std::vector<unsigned char> right = table([this](std::size_t i) { return expected(i); });
    const std::vector<unsigned char> own =
        table([this](std::size_t i) { return element(me(), i); });
    for (std::size_t i = 0; i < spec_.count; ++i) {
      const std::size_t there = i % kPeriod * number_.size;
      if (gets_) wrong += std::memcmp(result + place(i), &right[there], number_.size) != 0;
      if (sends_apart()) touched += std::memcmp(input + place(i), &own[there], number_.size) != 0;
    }
    CHECK(wrong == 0, "%ld of %zu elements; %s", wrong, spec_.count, where);
    CHECK(touched == 0, "%ld of %zu elements of the input; %s", touched, spec_.count, where);
    CHECK(gaps_hold(), "%s", where);
  }

  const Spec& spec() const { return spec_; }
  MPI_Comm comm() const { return group_.comm; }
  MPI_Op op() const {
    const std::array<MPI_Op, 4> ops{MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
    return ops[which_op()];
  }
  const void* from() { return in_place_ ? MPI_IN_PLACE : send_.data(); }
  void* into() { return gets_ ? receive_.data() : nullptr; }
  void* buffer() { return receive_.data(); }
  MPI_Datatype type() const { return number_.type; }

  // Calls `use(type, count)` with the type of the broadcast's layout, and then frees the type.
  template <class Use>
  void with_layout(Use use) {
    MPI_Datatype type = make_layout();
    use(type, layout_count());
    if (type != number_.type) MPI_Type_free(&type);
  }
  MPI_Datatype make_layout() const {
    MPI_Datatype whole = number_.type, block;
    if (spec_.layout == Layout::kVector) {
      MPI_Type_vector(blocks(), kBlock, kStride, number_.type, &whole);
      MPI_Type_commit(&whole);
    } else if (spec_.layout == Layout::kResized) {
      MPI_Type_contiguous(kBlock, number_.type, &block);
      MPI_Type_create_resized(block, 0, kStride * static_cast<MPI_Aint>(number_.size), &whole);
      MPI_Type_free(&block);
      MPI_Type_commit(&whole);
    }
    return whole;
  }
  int layout_count() const {
    if (spec_.layout == Layout::kVector) return 1;
    return spec_.layout == Layout::kResized ? blocks() : static_cast<int>(spec_.count);
  }

 private:
  static constexpr std::size_t kPeriod = 509;
  static constexpr int kBlock = 3, kStride = 5;
  static constexpr unsigned char kGap = 0xee;

  int blocks() const { return static_cast<int>(spec_.count / kBlock); }
  bool sends_apart() const { return spec_.kind != Kind::kBcast && !in_place_; }
  int me() const { return group_.rank; }
  std::size_t which_op() const { return spec_.seed >> 32 & (number_.small ? 1 : 3); }

  std::size_t place(std::size_t i) const {
    if (spec_.layout != Layout::kPlain) i = i / kBlock * kStride + i % kBlock;
    return i * number_.size;
  }
  std::size_t bytes() const {
    if (spec_.kind == Kind::kBarrier) return 0;
    return spec_.layout == Layout::kPlain ? spec_.count * number_.size
                                          : spec_.count / kBlock * kStride * number_.size;
  }

  long element(int r, std::size_t i) const {
    const auto at =
        static_cast<long>(i % kPeriod) * 37 + r * 1009 + static_cast<long>(spec_.seed % 8191);
    if (number_.small) return at % 101 - 50;
    return spec_.kind != Kind::kBcast && which_op() == 3 ? 1 + at % 2 : at % 1021 - 500;
  }
  long expected(std::size_t i) const {
    if (spec_.kind == Kind::kBcast) return element(spec_.root, i);
    long result = element(0, i);
    for (int r = 1; r < group_.size(); ++r) {
      const long next = element(r, i);
      const std::array<long, 4> results{std::max(result, next), std::min(result, next),
                                        result + next, result * next};
      result = results[which_op()];
    }
    return result;
  }
  template <class Value>
  std::vector<unsigned char> table(Value value) const {
    const std::size_t n = std::min(kPeriod, spec_.count);
    std::vector<unsigned char> bytes_of(n * number_.size);
    for (std::size_t i = 0; i < n; ++i) number_.put(&bytes_of[i * number_.size], value(i));
    return bytes_of;
  }

  void fill() {
    if (spec_.kind == Kind::kBarrier) return;
    receive_.fill(kGap);
    Buffer& input = sends_apart() ? send_ : receive_;
    if (spec_.kind == Kind::kBcast && me() != spec_.root) return;
    const std::vector<unsigned char> own =
        table([this](std::size_t i) { return element(me(), i); });
    for (std::size_t i = 0; i < spec_.count; ++i) {
      std::memcpy(input.as<unsigned char>() + place(i), &own[i % kPeriod * number_.size],
                  number_.size);
    }
  }
  bool gaps_hold() {
    if (spec_.layout == Layout::kPlain) return true;
    bool hold = true;
    for (std::size_t i = 0; i < bytes(); ++i) {
      const bool is_gap = i / number_.size % kStride >= kBlock;
      hold &= !is_gap || receive_.as<unsigned char>()[i] == kGap;
    }
    return hold;
  }

  Spec spec_;
  Group group_;
  const Number& number_;
  bool gets_, in_place_;
  Buffer send_, receive_;
};

// A message size, in bytes: mostly small, often near a size where the algorithm changes, at most
// about 300 KiB.
inline std::size_t random_bytes(Random& random) {
  constexpr std::array<std::size_t, 8> kThresholds{0, 8, 56, 64, 2048, 4096, 32768, 65536};
  switch (random.below(16)) {
    case 0:
      return random.below(300 << 10);
    case 1:
    case 2:
      return random.below(20000);
    case 3:
    case 4:
    case 5:
    case 6:
      return kThresholds[random.below(8)] + random.below(33);
    default:
      return random.below(400);
  }
}

inline Spec random_spec(Random& random, int size) {
  Spec spec;
  spec.seed = random.next();
  const auto kind = random.below(10);
  spec.kind = kind < 4   ? Kind::kAllreduce
              : kind < 6 ? Kind::kReduce
              : kind < 9 ? Kind::kBcast
                         : Kind::kBarrier;
  spec.number = random.below(numbers().size());
  spec.count = random_bytes(random) / numbers()[spec.number].size;
  spec.root = static_cast<int>(random.below(static_cast<std::uint64_t>(size)));
  spec.in_place = random.below(3) == 0;
  spec.large_count = random.below(6) == 0;
  if (spec.kind == Kind::kBcast && random.below(3) == 0) {
    spec.layout = random.below(2) ? Layout::kVector : Layout::kResized;
    spec.count -= spec.count % 3;
  }
  return spec;
}

}  // namespace test
