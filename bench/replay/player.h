// SPDX-License-Identifier: BSD-3-Clause
// Makes the calls of a record again, as one rank of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calls.h"
#include "memory.h"
#include "plan.h"
#include "record.h"
#include "types.h"

namespace sumac::replay {

// Of one shape in one pass.
struct Spent {
  std::uint64_t calls = 0, ns = 0;
};

class Player {
 public:
  // `most`: bytes of buffers of this rank. Throws Failure.
  Player(const Record& record, const Plan& plan, std::int64_t most, const Functions& native);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // Makes all calls by these functions, with the recorded time between them if `gaps`. Returns the
  // time of each shape's calls; that of a wait is divided among those it waits for.
  std::vector<Spent> time(const Functions& functions, bool gaps);
  // The same with known data. Returns a hash of the result of each call in the order of their ends,
  // with its shape.
  struct Result {
    int shape;
    std::uint64_t hash;
  };
  std::vector<Result> results(const Functions& functions);

  std::int64_t bytes_of(int shape) const { return calls_[static_cast<std::size_t>(shape)].bytes; }

 private:
  // Elements of one type, one behind the other.
  struct Piece {
    std::int64_t place;
    std::int64_t count;
    const Type* type;
    std::byte* address = nullptr;  // once there is memory
  };
  struct Ready {
    bool is_made = false;  // false: it is left out
    int row = -1, rank = 0, ranks = 1;
    std::optional<Call> call;
    std::int64_t bytes = 0;
    Op op = Op::none;
    std::vector<Piece> inputs, outputs;
    // The lists that the call refers to.
    std::vector<int> counts[2], places[2];
    std::vector<MPI_Count> large_counts[2];
    std::vector<MPI_Aint> large_places[2];
    std::vector<MPI_Datatype> types[2];
  };
  class Pass;

  // Where a side's bytes are, in places of the record.
  struct Range {
    std::int64_t begin = 0, end = 0;
  };

  void prepare(const Shape& shape, Ready& ready, const Functions& native) const;
  Data data_of(const Shape& shape, const Side& side, const Ready& ready) const;
  void list(const Shape& shape, Ready& ready) const;
  void choose_row(const Shape& shape, Ready& ready, const Functions& native) const;
  std::vector<Piece> pieces_of(const Shape& shape, const Side& side, bool sends,
                               const Ready& ready) const;
  Range range_of(const Shape& shape, const Side& side, bool sends, const Ready& ready) const;
  const Type& type_of(int type) const { return types_[static_cast<std::size_t>(type)]; }

  const Record& record_;
  const Plan& plan_;
  std::vector<Type> types_;
  std::vector<Operation> operations_;
  Memory memory_;
  std::vector<Ready> calls_;  // by shape
};

}  // namespace sumac::replay
