// SPDX-License-Identifier: BSD-3-Clause
// One collective on buffers that the caller provides, and its result by a serial loop. All numbers
// are small and whole, so every order of additions gives the same result.
#pragma once

#include "operations.h"
#include "persistent.h"

namespace test {

enum class Which { allreduce, reduce, bcast, reduce_scatter, allgather };
constexpr int kWhiches = 5;
enum class Form { blocking, nonblocking, persistent };

// What all ranks draw alike.
struct Plan {
  Which which = Which::allreduce;
  Form form = Form::blocking;
  std::size_t number = 0, count = 0;  // of elements of the longest vector
  int root = 0, op = 0;
  bool in_place = false;
  std::uint64_t seed = 0;
};

class DirectCall {
 public:
  explicit DirectCall(const Plan& plan) : plan_(plan), number_(numbers()[plan.number]) {
    if (is_in_parts()) plan_.count -= plan_.count % static_cast<std::size_t>(ranks);
  }

  // Of this rank. With one buffer alone, its input is in the output.
  std::size_t input_bytes() const {
    if (has_one_buffer()) return 0;
    return (plan_.which == Which::allgather ? part() : plan_.count) * number_.size;
  }
  std::size_t output_bytes() const {
    if (plan_.which == Which::reduce && rank != plan_.root) return 0;
    if (plan_.which == Which::reduce_scatter && !has_one_buffer()) return part() * number_.size;
    return plan_.count * number_.size;
  }

  void use(unsigned char* input, unsigned char* output) { input_ = input, output_ = output; }

  void fill(std::uint64_t seed) {
    plan_.seed = seed;
    if (!has_one_buffer()) {
      put(input_, plan_.which == Which::allgather ? part() : plan_.count, own());
      if (output_) std::memset(output_, 0xee, output_bytes());
    } else if (plan_.which == Which::allgather) {
      std::memset(output_, 0xee, output_bytes());
      put(output_ + own_part(), part(), own());
    } else if (plan_.which == Which::bcast && rank != plan_.root) {
      std::memset(output_, 0xee, output_bytes());
    } else {
      put(output_, plan_.count, own());
    }
  }

  void call() {
    const int n = count();
    switch (plan_.which) {
      case Which::allreduce:
        MPI_Allreduce(from(), output_, n, number_.type, op(), MPI_COMM_WORLD);
        break;
      case Which::reduce:
        MPI_Reduce(from(), output_, n, number_.type, op(), plan_.root, MPI_COMM_WORLD);
        break;
      case Which::bcast:
        MPI_Bcast(output_, n, number_.type, plan_.root, MPI_COMM_WORLD);
        break;
      case Which::reduce_scatter:
        MPI_Reduce_scatter_block(from(), output_, n, number_.type, op(), MPI_COMM_WORLD);
        break;
      case Which::allgather:
        MPI_Allgather(from(), n, number_.type, output_, n, number_.type, MPI_COMM_WORLD);
    }
  }

  void start(MPI_Request* request) {
    const int n = count();
    switch (plan_.which) {
      case Which::allreduce:
        MPI_Iallreduce(from(), output_, n, number_.type, op(), MPI_COMM_WORLD, request);
        break;
      case Which::reduce:
        MPI_Ireduce(from(), output_, n, number_.type, op(), plan_.root, MPI_COMM_WORLD, request);
        break;
      case Which::bcast:
        MPI_Ibcast(output_, n, number_.type, plan_.root, MPI_COMM_WORLD, request);
        break;
      case Which::reduce_scatter:
        MPI_Ireduce_scatter_block(from(), output_, n, number_.type, op(), MPI_COMM_WORLD, request);
        break;
      case Which::allgather:
        MPI_Iallgather(from(), n, number_.type, output_, n, number_.type, MPI_COMM_WORLD, request);
    }
  }

  // Returns false where there is no such function.
  bool initialise(MPI_Request* request) {
    const int n = count();
    if (plan_.which == Which::allreduce && inits().Allreduce) {
      return inits().Allreduce(from(), output_, n, number_.type, op(), MPI_COMM_WORLD,
                               MPI_INFO_NULL, request) == MPI_SUCCESS;
    }
    if (plan_.which == Which::reduce && inits().Reduce) {
      return inits().Reduce(from(), output_, n, number_.type, op(), plan_.root, MPI_COMM_WORLD,
                            MPI_INFO_NULL, request) == MPI_SUCCESS;
    }
    if (plan_.which != Which::bcast || !inits().Bcast) return false;
    return inits().Bcast(output_, n, number_.type, plan_.root, MPI_COMM_WORLD, MPI_INFO_NULL,
                         request) == MPI_SUCCESS;
  }

  void check() const {
    if (!has_one_buffer()) {
      const std::size_t n = plan_.which == Which::allgather ? part() : plan_.count;
      expect(input_, n, own(), 0, "input");
    }
    if (plan_.which == Which::reduce && rank != plan_.root) return;
    if (plan_.which == Which::allgather) {
      for (int r = 0; r < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r) * part();
        expect(output_ + at * number_.size, part(), of(r), 0, "gathered");
      }
    } else if (plan_.which == Which::reduce_scatter) {
      expect(output_, part(), result(), static_cast<std::size_t>(rank) * part(), "scattered");
    } else {
      expect(output_, plan_.count, plan_.which == Which::bcast ? of(plan_.root) : result(), 0,
             "result");
    }
  }

  // From the sizes on from which the shipped rules take direct algorithms.
  bool may_be_direct() const {
    const bool late = plan_.which == Which::reduce || plan_.which == Which::allgather;
    return plan_.count * number_.size >= (late ? 131072 : 65536);
  }

 private:
  // Inputs repeat after so many elements. A table has them twice, for any first element.
  static constexpr std::size_t kPeriod = 509;
  using Table = std::vector<unsigned char>;

  bool is_in_parts() const {
    return plan_.which == Which::reduce_scatter || plan_.which == Which::allgather;
  }
  bool has_one_buffer() const {
    if (plan_.which == Which::reduce) return plan_.in_place && rank == plan_.root && rank == 0;
    return plan_.which == Which::bcast || plan_.in_place;
  }
  std::size_t part() const { return plan_.count / static_cast<std::size_t>(ranks); }
  std::size_t own_part() const { return static_cast<std::size_t>(rank) * part() * number_.size; }
  int count() const { return static_cast<int>(is_in_parts() ? part() : plan_.count); }
  const void* from() const { return has_one_buffer() ? MPI_IN_PLACE : input_; }
  int op_number() const { return plan_.op % (number_.small ? 2 : 3); }
  MPI_Op op() const { return std::array<MPI_Op, 3>{MPI_MAX, MPI_MIN, MPI_SUM}[op_number()]; }

  long element(int r, std::size_t i) const {
    const auto at = static_cast<long>(i) * 37 + r * 1009 + static_cast<long>(plan_.seed % 8191);
    return number_.small ? at % 101 - 50 : at % 1021 - 500;
  }
  template <class Value>
  Table table(Value value) const {
    Table all(2 * kPeriod * number_.size);
    for (std::size_t i = 0; i < 2 * kPeriod; ++i) {
      number_.put(&all[i * number_.size], value(i % kPeriod));
    }
    return all;
  }
  Table of(int r) const {
    return table([&](std::size_t i) { return element(r, i); });
  }
  Table own() const { return of(rank); }
  Table result() const {
    return table([&](std::size_t i) {
      long all = element(0, i);
      for (int r = 1; r < ranks; ++r) {
        const long next = element(r, i);
        all =
            std::array<long, 3>{std::max(all, next), std::min(all, next), all + next}[op_number()];
      }
      return all;
    });
  }

  void put(unsigned char* to, std::size_t n, const Table& values) const {
    for (std::size_t i = 0; i < n; i += kPeriod) {
      std::memcpy(to + i * number_.size, values.data(), std::min(kPeriod, n - i) * number_.size);
    }
  }
  void expect(const unsigned char* at, std::size_t n, const Table& values, std::size_t first,
              const char* what) const {
    std::size_t wrong = 0, first_wrong = 0;
    for (std::size_t i = 0; i < n; i += kPeriod) {
      const unsigned char* const right = &values[(first + i) % kPeriod * number_.size];
      const std::size_t bytes = std::min(kPeriod, n - i) * number_.size;
      if (std::memcmp(at + i * number_.size, right, bytes) == 0) continue;
      if (wrong++ == 0) first_wrong = i;
    }
    CHECK(wrong == 0, "%s: %zu runs of %zu elements, the first at %zu, of %zu at %p, '%s'; %s",
          what, wrong, kPeriod, first_wrong, n, static_cast<const void*>(at), path(), step_text);
  }

  Plan plan_;
  const Number& number_;
  unsigned char *input_ = nullptr, *output_ = nullptr;
};

}  // namespace test
