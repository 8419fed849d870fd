// SPDX-License-Identifier: BSD-3-Clause
// What is made ready before calls are made: types, memory, and each call's arguments.
#include "player.h"

#include <algorithm>
#include <climits>

namespace sumac::replay {
namespace {

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw Failure("bad-record", "a buffer is too large");
  return product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw Failure("bad-record", "a buffer is too large");
  return sum;
}

std::int64_t total(const std::vector<std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum = plus(sum, count);
  return sum;
}

void require_lists(const Shape& shape, const Side& side, int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  const bool has_places = shape.function != Function::reduce_scatter;
  const bool has_types = shape.function == Function::alltoallw;
  if (side.counts.size() != size || (has_places && side.places.size() != size) ||
      (has_types && side.types.size() != size)) {
    throw Failure("bad-record", "a list has not one entry a rank");
  }
}

bool fits_int(const std::vector<std::int64_t>& list) {
  return std::all_of(list.begin(), list.end(),
                     [](std::int64_t n) { return n >= INT_MIN && n <= INT_MAX; });
}

bool fits_int(const Side& side) {
  return side.count <= INT_MAX && fits_int(side.counts) && fits_int(side.places);
}

template <class To>
std::vector<To> as(const std::vector<std::int64_t>& list) {
  return std::vector<To>(list.begin(), list.end());
}

}  // namespace

// The pieces of what a rank gives (of what it gets) in a call that is not in place.
std::vector<Player::Piece> Player::pieces_of(const Shape& shape, const Side& side, bool sends,
                                             const Ready& ready) const {
  std::vector<Piece> pieces;
  if (!side.given || side.in_place) return pieces;
  const int p = ready.ranks;
  const auto whole = [&](std::int64_t count) {
    if (side.type == kNone) throw Failure("bad-record", "a buffer has no type");
    pieces.push_back({side.place, count, &type_of(side.type)});
    return pieces;
  };
  switch (shape.function) {
    case Function::reduce_scatter_block:
      return whole(sends ? times(side.count, p) : side.count);
    case Function::reduce_scatter:
      require_lists(shape, shape.receive, p);
      return whole(sends ? total(shape.receive.counts)
                         : shape.receive.counts[static_cast<std::size_t>(ready.rank)]);
    case Function::allgather:
      return whole(sends ? side.count : times(side.count, p));
    case Function::alltoall:
      return whole(times(side.count, p));
    case Function::allgatherv:
      if (sends) return whole(side.count);
      break;
    case Function::alltoallv:
    case Function::alltoallw:
      break;
    case Function::allreduce:
    case Function::reduce:
    case Function::bcast:
    case Function::barrier:
    case Function::reduce_local:
      return whole(side.count);
  }
  require_lists(shape, side, p);
  for (std::size_t r = 0; r < side.counts.size(); ++r) {
    const bool typed = shape.function == Function::alltoallw;
    const int number = typed ? side.types[r] : side.type;
    if (number == kNone) throw Failure("bad-record", "a buffer has no type");
    const Type& type = type_of(number);
    const std::int64_t offset = times(side.places[r], typed ? 1 : type.extent);
    pieces.push_back({plus(side.place, offset), side.counts[r], &type});
  }
  return pieces;
}

Player::Range Player::range_of(const Shape& shape, const Side& side, bool sends,
                               const Ready& ready) const {
  Range range{INT64_MAX, INT64_MIN};
  std::vector<Piece> pieces = pieces_of(shape, side, sends, ready);
  // In place the whole vector of a reduce-scatter is there.
  if (!sends && shape.send.in_place &&
      collective_of(shape.function) == Collective::reduce_scatter) {
    pieces = pieces_of(shape, side, true, ready);
  }
  for (const Piece& piece : pieces) {
    if (piece.count < 0) throw Failure("bad-record", "a count is negative");
    if (piece.count == 0 || piece.type->size == 0) continue;
    const std::int64_t steps = times(piece.count - 1, piece.type->extent);
    const std::int64_t low = plus(piece.place, piece.type->true_lower);
    range.begin = std::min(range.begin, plus(low, std::min<std::int64_t>(steps, 0)));
    range.end = std::max(
        range.end, plus(plus(low, std::max<std::int64_t>(steps, 0)), piece.type->true_extent));
  }
  return range.begin < range.end ? range : Range{};
}

void Player::choose_row(const Shape& shape, Ready& ready, const Functions& native) const {
  const int large = find_row(shape.function, shape.form, true);
  const bool has_large = shape.large && large >= 0 && native.rows[static_cast<std::size_t>(large)];
  ready.row = has_large ? large : find_row(shape.function, shape.form, false);
  if (!has_large && !(fits_int(shape.send) && fits_int(shape.receive))) {
    throw Failure("large-count", "this MPI has no functions with large counts");
  }
  if (ready.row < 0 || !native.rows[static_cast<std::size_t>(ready.row)]) {
    throw Failure("missing-function",
                  std::string("this MPI has no such form of ") + name_of(shape.function));
  }
}

Data Player::data_of(const Shape& shape, const Side& side, const Ready& ready) const {
  const bool sends = &side == &shape.send;
  if (side.in_place) return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL};
  const MPI_Datatype type = side.type == kNone ? MPI_DATATYPE_NULL : type_of(side.type).handle;
  if (!side.given) return {nullptr, side.count, type};
  const Range range = range_of(shape, side, sends, ready);
  return {memory_.buffer(side.place, range.begin < range.end ? range.begin - side.place : 0),
          side.count, type};
}

// Fills the lists of the call.
void Player::list(const Shape& shape, Ready& ready) const {
  Call& call = *ready.call;
  for (const bool sends : {false, true}) {
    const Side& side = sends ? shape.send : shape.receive;
    if (side.counts.empty()) continue;
    if (call.kind.large) {
      ready.large_counts[sends] = as<MPI_Count>(side.counts);
      ready.large_places[sends] = as<MPI_Aint>(side.places);
    } else {
      ready.counts[sends] = as<int>(side.counts);
      ready.places[sends] = as<int>(side.places);
    }
    for (const int type : side.types) ready.types[sends].push_back(type_of(type).handle);
    const bool large = call.kind.large;
    (sends ? call.send_counts : call.counts) =
        large ? static_cast<const void*>(ready.large_counts[sends].data())
              : ready.counts[sends].data();
    (sends ? call.send_displacements : call.displacements) =
        large ? static_cast<const void*>(ready.large_places[sends].data())
              : ready.places[sends].data();
    (sends ? call.send_types : call.types) = ready.types[sends].data();
  }
}

void Player::prepare(const Shape& shape, Ready& ready, const Functions& native) const {
  choose_row(shape, ready, native);
  ready.call.emplace(Call{kind_of(ready.row)});
  Call& call = *ready.call;
  call.comm = plan_.comms[static_cast<std::size_t>(shape.comm)];
  call.root = shape.root;
  if (shape.op != kNone) {
    const Operation& operation = operations_[static_cast<std::size_t>(shape.op)];
    call.op = operation.handle;
    ready.op = operation.op;
  }
  call.send = data_of(shape, shape.send, ready);
  call.receive = data_of(shape, shape.receive, ready);
  const bool reduces = shape.op != kNone;
  // Functions of one type for both sides take it from `receive`.
  if (reduces && !shape.receive.given) {
    call.receive.count = call.send.count;
    call.receive.type = call.send.type;
  }
  list(shape, ready);
  const bool is_bcast = shape.function == Function::bcast;
  if (shape.send.in_place) {
    ready.inputs = pieces_of(shape, shape.receive, reduces, ready);
  } else if (is_bcast) {
    if (shape.root == ready.rank) ready.inputs = pieces_of(shape, shape.receive, true, ready);
  } else {
    ready.inputs = pieces_of(shape, shape.send, true, ready);
  }
  ready.outputs = pieces_of(shape, shape.receive, false, ready);
  const auto& sized =
      reduces || is_bcast ? (reduces ? ready.inputs : ready.outputs) : ready.outputs;
  for (const Piece& piece : sized) ready.bytes += times(piece.count, piece.type->size);
  for (std::vector<Piece>* pieces : {&ready.inputs, &ready.outputs}) {
    std::erase_if(*pieces,
                  [](const Piece& piece) { return piece.count == 0 || piece.type->size == 0; });
    for (Piece& piece : *pieces) {
      const std::int64_t steps = times(piece.count - 1, piece.type->extent);
      const std::int64_t lower = piece.type->true_lower + std::min<std::int64_t>(steps, 0);
      piece.address = static_cast<std::byte*>(memory_.buffer(piece.place, lower));
    }
  }
  ready.is_made = true;
}

Player::Player(const Record& record, const Plan& plan, std::int64_t most, const Functions& native)
    : record_(record),
      plan_(plan),
      types_(make_types(record.types)),
      operations_(make_operations(record.ops)) {
  calls_.resize(record.shapes.size());
  const auto is_left_out = [&](const Shape& shape) {
    return plan.comms[static_cast<std::size_t>(shape.comm)] == MPI_COMM_NULL;
  };
  for (std::size_t s = 0; s < calls_.size(); ++s) {
    const Shape& shape = record.shapes[s];
    Ready& ready = calls_[s];
    if (is_left_out(shape)) continue;
    MPI_Comm_rank(plan.comms[static_cast<std::size_t>(shape.comm)], &ready.rank);
    MPI_Comm_size(plan.comms[static_cast<std::size_t>(shape.comm)], &ready.ranks);
    for (const bool sends : {false, true}) {
      const Range range = range_of(shape, sends ? shape.send : shape.receive, sends, ready);
      memory_.use(range.begin, range.end);
    }
  }
  const std::int64_t bytes = memory_.plan();
  if (bytes > most) {
    throw Failure("replay-memory", "rank " + std::to_string(record.rank) + "'s buffers take " +
                                       std::to_string(bytes >> 20) + " MiB, and " +
                                       std::to_string(most >> 20) + " MiB are allowed");
  }
  memory_.make();
  for (std::size_t s = 0; s < calls_.size(); ++s) {
    if (!is_left_out(record.shapes[s])) prepare(record.shapes[s], calls_[s], native);
  }
}

Player::~Player() {
  free_operations(operations_);
  free_types(types_);
}

}  // namespace sumac::replay
