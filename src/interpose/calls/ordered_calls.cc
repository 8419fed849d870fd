// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/ordered_calls.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "algorithms/arguments.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/perform.h"
#include "interpose/mpi/gap_buffer.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/process/members.h"
#include "observe/log.h"

namespace sumac {
namespace {

// Returns true if ranks that have a call for this reason can be relied on to do the same. For the
// other reasons, some ranks are without Sumac, or may be, or the ranks cannot agree.
bool may_be_ordered(Reason reason) {
  for (const Reason possible :
       {Reason::left_out, Reason::first_calls, Reason::no_call_of_all, Reason::messages,
        Reason::shared_memory, Reason::budget, Reason::device, Reason::user_op,
        Reason::user_op_levels, Reason::user_vector, Reason::no_kernel, Reason::rules}) {
    if (reason == possible) return true;
  }
  return false;
}

// Returns the communicator of a call, with its size. Returns null, with the reason, if its members
// cannot be relied on.
Communicator* find_members(const Call& call, Reason& reason) {
  Communicator* const c = find_or_remember(call.comm);
  if (!c) return nullptr;
  if (c->state == Communicator::State::handed_down) reason = c->reason;
  if (!may_be_ordered(reason)) return nullptr;
  const bool met = c->state != Communicator::State::counting || c->agreed;
  if (met) return c;
  reason = Reason::intercommunicator;
  if (is_intercommunicator(call.comm)) return nullptr;
  mpi.Comm_size(call.comm, &c->size);
  mpi.Comm_rank(call.comm, &c->rank);
  return c->size == 1 || members_may_be_served(*c, reason) ? c : nullptr;
}

// Returns the number of elements of this rank's vector; none if the MPI should judge the arguments.
std::optional<std::size_t> elements_of(const Call& call, const Communicator& c) {
  if (call.collective() != Collective::reduce_scatter) {
    if (!judge_buffers(call, c)) return std::nullopt;
    return static_cast<std::size_t>(call.receive.count);
  }
  MpiCount all = 0;
  const bool wrong = !call.send.address || !call.receive.address ||
                     call.receive.address == kMpi.in_place || !Blocks(call, c.size).total(all);
  if (wrong) return std::nullopt;
  return static_cast<std::size_t>(all);
}

// Returns false for an operation of the MPI's on a type that it does not allow.
bool is_allowed(MpiDatatype type, MpiOp op) {
  const Op* const predefined = find_op(op);
  if (!predefined) return true;
  const TypeInfo* const info = find_type(type);
  return info && (info->operations & class_of(*predefined)) != 0;
}

// The rows of all ranks, given or taken, have this memory; the other constant is the largest
// element.
constexpr std::size_t kRoom = 4 << 20, kMostElement = 1 << 24;

// Completes the decision. Returns false for a call that the MPI should judge, or that need not be
// folded.
bool describe(const Call& call, Communicator& c, Decision& decision) {
  const MpiDatatype type = call.receive.type;
  if (type == kMpi.datatype_null || call.op == kMpi.op_null) return false;
  const auto elements = elements_of(call, c);
  if (!elements || *elements == 0 || c.size == 1) return false;
  Reason reason;
  const KnownReduction* const reduction = find_reduction(type, call.op, reason);
  if (!reduction && !is_allowed(type, call.op)) return false;
  TypeLayout& layout = c.fold.layout();
  if (!reduction && (decision.error = find_layout(type, call.comm, layout)) != kMpiSuccess) {
    decision.way = Decision::Way::refuse;  // the error handler has been told
    return false;
  }
  const std::size_t element = reduction ? reduction->type.extent : layout.size;
  if (element == 0 || element > kMostElement) return false;
  decision.reduction = reduction;
  decision.by_user = !reduction;
  decision.bytes = element * *elements;
  decision.communicator = &c;
  return true;
}

void warn_of_order(const Call& call, Reason reason) {
  static std::atomic<bool> told[kNumReasons];
  if (log_rank() != 0 || told[static_cast<int>(reason)].exchange(true)) return;
  static constexpr const char* kForms[] = {"", "nonblocking ", "persistent ", ""};
  log(Level::warn,
      "warning[not-reproducible]: the result of a %sMPI_%s may depend on placement, whatever "
      "SUMAC_REPRODUCIBLE says: the MPI folds in its own order (%s)",
      kForms[static_cast<int>(call.kind.form)], call.collective_info().mpi_name,
      text_of(reason) + 5);
}

// ---- The data ----

// This is a reduction as rows of bytes, one for each rank, piece after piece.
class OrderedReduction {
 public:
  OrderedReduction(const Call& call, const Decision& decision);

  int run();

 private:
  void find_data();
  // The program's own function sees whole vectors, as in user_reduction.cc, or whole parts.
  bool is_whole() const { return decision_.by_user && c_.fold.is_whole(); }
  bool folds_whole() const { return is_whole() && !scatters(); }
  int fold_whole();
  int give_all(std::byte* vector, int from) const;
  void cut();
  Part piece(int rank, std::size_t number) const;
  int fold_piece(std::size_t number);
  int hand_out(std::size_t number, std::byte* own);
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
  std::byte* row(std::byte* rows, int rank) const {
    return rows + static_cast<std::size_t>(rank) * row_;
  }
  bool scatters() const { return call_.collective() == Collective::reduce_scatter; }
  bool dense() const { return !decision_.by_user || c_.fold.layout().dense; }
  TypedBuffer buffer_at(const void* address, std::size_t elements) const {
    return {{const_cast<void*>(address), static_cast<MpiCount>(elements), call_.receive.type},
            call_.comm};
  }
  void deliver();

  const Call& call_;
  const Decision& decision_;
  Communicator& c_;
  const bool on_device_ = device_memory_possible();
  ReduceArguments args_;           // arguments of the whole vector, packed
  std::unique_ptr<Part[]> parts_;  // parts of a reduce-scatter
  std::byte* result_ = nullptr;    // packed; null if this rank has none
  std::size_t result_bytes_ = 0;
  bool staged_ = false;  // the result is not where the program wants it
  std::size_t row_ = 0, pieces_ = 0;
  GrowingMemory rows_, stage_;
  std::byte *given_ = nullptr, *taken_ = nullptr;
};

OrderedReduction::OrderedReduction(const Call& call, const Decision& decision)
    : call_(call), decision_(decision), c_(*decision.communicator) {
  args_ = reduction_of(call, decision);
  args_.count = decision.bytes / args_.element;
  if (decision.by_user) args_.user = &c_.fold;
  if (scatters()) parts_ = Blocks(call, c_.size).adjoining(args_.element);
  find_data();
  cut();
}

// Finds where the packed vector is, and where the result goes.
void OrderedReduction::find_data() {
  const std::size_t bytes = decision_.bytes;
  result_bytes_ = scatters() ? parts_[static_cast<std::size_t>(c_.rank)].bytes : bytes;
  result_ = args_.output;
  if (!dense()) {
    std::byte* const packed = c_.fold.packed(bytes);
    pack_elements(buffer_at(args_.input, args_.count), bytes, packed);
    args_.input = packed;
  }
  const bool gaps = !decision_.by_user && decision_.reduction->type.has_gaps();
  const bool in_the_way = scatters() && call_.send.address == kMpi.in_place;
  staged_ = result_ && (!dense() || gaps || in_the_way);
  if (staged_) result_ = stage_.get(std::max<std::size_t>(result_bytes_, 1), call_.comm);
}

// Cuts the vector so that all ranks' rows have room, unless it is folded whole.
void OrderedReduction::cut() {
  if (folds_whole()) {
    given_ = rows_.get(2 * decision_.bytes, call_.comm);
    taken_ = given_ + decision_.bytes;
    return;
  }
  const auto ranks = static_cast<std::size_t>(c_.size);
  std::size_t most = round_up(div_up(decision_.bytes, ranks), args_.element);
  if (scatters()) {
    most = 0;
    for (std::size_t r = 0; r < ranks; ++r) most = std::max(most, parts_[r].bytes);
  }
  const std::size_t room = std::max<std::size_t>(1, kRoom / ranks / args_.element) * args_.element;
  row_ = is_whole() ? most : std::min(most, room);
  pieces_ = scatters() ? div_up(most, row_) : div_up(decision_.bytes, ranks * row_);
  given_ = rows_.get(2 * ranks * row_, call_.comm);
  taken_ = given_ + ranks * row_;
}

// Returns the piece of the vector that a rank folds in one round.
Part OrderedReduction::piece(int rank, std::size_t number) const {
  const auto r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(c_.size);
  const Part part = scatters() ? parts_[r] : Part{0, decision_.bytes};
  const std::size_t place = (scatters() ? number : number * ranks + r) * row_;
  const std::size_t first = std::min(part.bytes, place);
  return {part.offset + first, std::min(row_, part.bytes - first)};
}

// The MPI copies if the program's memory may be a GPU's, which the MPI can reach.
void OrderedReduction::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (!on_device_) {
    std::memcpy(to, from, bytes);
    return;
  }
  int place = 0;
  const int size = static_cast<int>(bytes);
  mpi.Pack(from, size, kMpi.byte, to, size, &place, call_.comm);
}

int OrderedReduction::fold_piece(std::size_t number) {
  const int size = static_cast<int>(row_);
  for (int rank = 0; rank < c_.size; ++rank) {
    const Part given = piece(rank, number);
    copy(row(given_, rank), args_.input + given.offset, given.bytes);
  }
  const int error = mpi.Alltoall(given_, size, kMpi.byte, taken_, size, kMpi.byte, call_.comm);
  if (error != kMpiSuccess) return error;
  const Part own = piece(c_.rank, number);
  if (own.bytes > 0) {
    fold(args_, row(taken_, 0), c_.size, own.bytes / args_.element,
         [&](int rank) -> const std::byte* { return row(taken_, rank); });
  }
  return hand_out(number, row(taken_, 0));
}

// Brings a rank's vector to all others.
int OrderedReduction::give_all(std::byte* vector, int from) const {
  constexpr std::size_t kMost = 1 << 30;
  int error = kMpiSuccess;
  for (std::size_t done = 0; done < decision_.bytes && error == kMpiSuccess; done += kMost) {
    const int size = static_cast<int>(std::min(kMost, decision_.bytes - done));
    error = mpi.Bcast(vector + done, size, kMpi.byte, from, call_.comm);
  }
  return error;
}

// Every rank that gets the result folds the vectors as they come, one rank's after another's.
int OrderedReduction::fold_whole() {
  int error = kMpiSuccess;
  const auto vector_of = [&](int rank) -> const std::byte* {
    if (rank == c_.rank) copy(given_, args_.input, decision_.bytes);
    if (error == kMpiSuccess) error = give_all(given_, rank);
    return given_;
  };
  if (!result_) {
    for (int rank = 0; rank < c_.size; ++rank) vector_of(rank);
    return error;
  }
  fold(args_, taken_, c_.size, args_.count, vector_of);
  if (error == kMpiSuccess) copy(result_, taken_, decision_.bytes);
  return error;
}

// Brings a folded piece to where the result is wanted. The rows that were given are free by then.
int OrderedReduction::hand_out(std::size_t number, std::byte* own) {
  const int size = static_cast<int>(row_);
  int error = kMpiSuccess;
  if (scatters()) {
    const Part part = parts_[static_cast<std::size_t>(c_.rank)], done = piece(c_.rank, number);
    if (result_) copy(result_ + (done.offset - part.offset), own, done.bytes);
    return error;
  }
  if (is_to_root(call_.collective())) {
    error = mpi.Gather(own, size, kMpi.byte, given_, size, kMpi.byte, call_.root, call_.comm);
  } else {
    error = mpi.Allgather(own, size, kMpi.byte, given_, size, kMpi.byte, call_.comm);
  }
  if (error != kMpiSuccess || !result_) return error;
  for (int rank = 0; rank < c_.size; ++rank) {
    const Part done = piece(rank, number);
    copy(result_ + done.offset, row(given_, rank), done.bytes);
  }
  return error;
}

void OrderedReduction::deliver() {
  const std::size_t elements = result_bytes_ / args_.element;
  if (!staged_ || elements == 0) return;
  if (!dense()) {
    unpack_elements(buffer_at(args_.output, elements), result_bytes_, result_);
  } else if (!decision_.by_user && decision_.reduction->type.has_gaps()) {
    copy_elements(decision_.reduction->type, args_.output, result_, elements);
  } else {
    copy(args_.output, result_, result_bytes_);
  }
}

int OrderedReduction::run() {
  if (decision_.by_user) c_.fold.begin(call_.receive.type, call_.op, call_.comm);
  int error = kMpiSuccess;
  if (folds_whole()) error = fold_whole();
  for (std::size_t i = 0; i < pieces_ && error == kMpiSuccess; ++i) error = fold_piece(i);
  if (error == kMpiSuccess && !c_.fold.exception()) deliver();
  const int of_function = decision_.by_user ? c_.fold.end() : kMpiSuccess;
  return error != kMpiSuccess ? error : of_function;
}

}  // namespace

Decision keep_order(const Call& call, const Decision& given) {
  Decision decision = given;
  const Reason reason = decision.reason;
  if (!options.reproducible || decision.way != Decision::Way::hand_down) return decision;
  if (!call.collective_info().reduces) return decision;
  if (reason == Reason::nested || reason == Reason::arguments) return decision;
  Reason why = reason;
  if (call.kind.form == Form::blocking && may_be_ordered(reason)) {
    Communicator* const c = find_members(call, why);
    if (c) {
      if (describe(call, *c, decision)) decision.reason = Reason::in_order;
      return decision;
    }
  }
  decision.reason = Reason::not_in_order;
  warn_of_order(call, why);
  return decision;
}

int reduce_in_order(const Call& call, const Decision& decision) {
  return OrderedReduction(call, decision).run();
}

}  // namespace sumac
