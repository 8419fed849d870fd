// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/check.h"

#include <algorithm>
#include <climits>

#include "base/cpu.h"
#include "base/real_path.h"
#include "interpose/calls/blocks.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/process/entry.h"

namespace sumac {

std::uint64_t results_checked = 0;
bool check_ends_job = false;

namespace {
std::string& folder() {
  static auto& name = *new std::string;
  return name;
}
}  // namespace

// The name is made absolute, because the program may change its working directory.
void read_check_option() {
  sumac_check check{};
  sumac_parse_check(options.check, &check);
  results_checked = check.results;
  check_ends_job = check.ends;
  folder() = *check.folder ? absolute_path(check.folder) : "";
}

const std::string& check_folder() { return folder(); }

bool takes_check(const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  // There is nothing to compare if ranks have no data, or in a barrier.
  const bool alone = c.state == Communicator::State::alone;
  if (decision.way == Decision::Way::local && !(alone && decision.bytes > 0)) return false;
  if (!call.collective_info().has_data) return false;
  // The MPI may not be able to do what Sumac does.
  const bool is_too_large =
      call.is_deferred() && decision.bytes > INT_MAX && !has_parts(call.kind.function);
  const bool has_large_places = call.displacements && call.kind.large && !mpi.Allreduce_c;
  if (is_too_large || has_large_places) {
    count_check_use(CheckUse::unchecked);
    return false;
  }
  return c.checkable++ % results_checked == 0;
}

namespace {

// One call adds up the weights of so many elements.
constexpr std::size_t kWeightsAtOnce = 1 << 26;

ComparedReduction compared_by(MpiDatatype type, const Decision& decision) {
  ComparedReduction by;
  by.ranks = decision.communicator->size;
  if (!decision.reduction) return by;
  by.op = decision.reduction->op;
  by.type = decision.reduction->type.dtype;
  by.sign_in_doubt =
      !is_exact(by.op, by.type) || type == kMpi.aint || type == kMpi.offset || type == kMpi.count;
  by.element = decision.reduction->type.extent;
  return by;
}

}  // namespace

// Calls use(weights, count, request) for pieces of the weights that one call can take.
template <class Use>
void ResultCheck::for_each_weights(Use use) {
  for (std::size_t i = 0; i < weights_.size(); i += kWeightsAtOnce) {
    const std::size_t count = std::min(weights_.size() - i, kWeightsAtOnce);
    use(&weights_[i], static_cast<int>(count), requests_[1 + i / kWeightsAtOnce]);
  }
}

ResultCheck::ResultCheck(const Call& call, const Decision& decision)
    : communicator_(*decision.communicator),
      call_(call),
      packs_(call.is_deferred() ? kMpi.comm_self : call.comm),
      by_user_(decision.by_user),
      reads_(reads_receive_buffer(call, communicator_.rank)),
      by_(compared_by(call.receive.type, decision)),
      inputs_(inputs_of(call, communicator_.rank, communicator_.size)),
      results_(results_of(call, communicator_.rank, communicator_.size)),
      other_(results_, reads_ ? inputs_ : results_, call.comm) {
  if (call.collective() == Collective::reduce_scatter) {
    const Blocks blocks(call, communicator_.size);
    for (int r = 0; r < communicator_.rank; ++r) {
      own_first_ += static_cast<std::size_t>(blocks.count(r));
    }
  }
  if (reads_ && !is_from_root(call.collective())) {
    saved_.emplace(inputs_, inputs_, call.comm);
  }
  if (call.is_deferred()) keep_types();
  if (const int each = weights_of(by_)) {
    weights_.resize(static_cast<std::size_t>(inputs_.front().count * each));
  }
  if (call.kind.form != Form::persistent) load();
}

ResultCheck::~ResultCheck() {
  for (MpiRequest& request : requests_) {
    if (request != kMpi.request_null) mpi.Request_free(one(request));
  }
  for (MpiDatatype& type : kept_) mpi.Type_free(one(type));
}

// The types are duplicated, because the program may free them before the call has ended.
void ResultCheck::keep_types() {
  const auto keep = [this](Data& data) {
    if (data.count == 0 || find_type(data.type)) return;
    MpiDatatype type = kMpi.datatype_null;
    mpi.Type_dup(data.type, one(type));
    kept_.push_back(type);
    data.type = type;
  };
  std::for_each(inputs_.begin(), inputs_.end(), keep);
  std::for_each(results_.begin(), results_.end(), keep);
}

void ResultCheck::load() {
  if (reads_) {
    const std::ptrdiff_t shift = saved_ ? saved_->shift() : other_.shift();
    for (const Data& data : inputs_) copy_data(data, moved(data, shift), packs_);
  }
  if (weights_.empty()) return;
  const Data& input = inputs_.front();
  weigh(by_, static_cast<const std::byte*>(input.address), static_cast<std::size_t>(input.count),
        weights_.data());
}

bool ResultCheck::initialise() {
  if (!mpi.Allreduce_init) return false;
  requests_.assign(1 + div_up(weights_.size(), kWeightsAtOnce), kMpi.request_null);
  if (!call_mpi(one(requests_.front()))) return false;
  for_each_weights([&](double* weights, int count, MpiRequest& request) {
    mpi.Allreduce_init(kMpi.in_place, weights, count, kMpi.float64, kMpi.sum, call_.comm,
                       kMpi.info_null, one(request));
  });
  return true;
}

void ResultCheck::start() {
  num_ended_ = 0;
  path_ = name_of_path(thread_state().last_path);
  if (call_.kind.form == Form::persistent) {
    for (MpiRequest& request : requests_) mpi.Start(one(request));
    return;
  }
  requests_.assign(1 + div_up(weights_.size(), kWeightsAtOnce), kMpi.request_null);
  call_mpi(one(requests_.front()));
  for_each_weights([&](double* weights, int count, MpiRequest& request) {
    mpi.Iallreduce(kMpi.in_place, weights, count, kMpi.float64, kMpi.sum, call_.comm, one(request));
  });
}

// Tests the requests one by one: MPICH 4.0's MPI_Testall fails for persistent collectives that have
// ended.
bool ResultCheck::ended() {
  for (; num_ended_ < requests_.size(); ++num_ended_) {
    int ended = 0;
    mpi.Test(one(requests_[num_ended_]), &ended, status_ignore());
    if (!ended) return false;
  }
  return true;
}

void ResultCheck::compare_alone() {
  Difference difference;
  BitsHash hash;
  const Verdict verdict = compare(difference, hash);
  if (CheckReport(*this, difference).tell_alone(verdict)) use_other();
}

// Makes the same call with the check's memory in the place of the receive buffer. It is not done in
// place: MPICH 4.0 ends the process in some reductions in place, and Open MPI 4 hangs in
// all-to-alls.
bool ResultCheck::call_mpi(RequestPointer request) const {
  Call second = call_;
  second.receive = moved(call_.receive, other_.shift());
  if (saved_ && call_.send.address != kMpi.in_place) {
    second.send.address = moved(call_.send, saved_->shift()).address;
  } else if (saved_) {
    const bool own_part = call_.collective_info().arguments == ArgumentKind::allgather;
    second.send = moved(own_part ? inputs_.front() : call_.receive, saved_->shift());
    second.send_counts = call_.counts;
    second.send_displacements = call_.displacements;
    second.send_types = call_.types;
  }
  // The addresses are equal if this rank gives nothing and gets nothing. Some MPIs take equal
  // buffers for a call in place, others for an error.
  static char nothing;
  if (second.send.address == second.receive.address) second.send.address = &nothing;
  second.request = request;
  return second.kind.below(second) == kMpiSuccess;
}

void ResultCheck::finish() {
  path_ = name_of_path(thread_state().last_path);
  if (by_user_) {
    // A function that has thrown would throw again within the MPI.
    std::uint64_t thrown = static_cast<bool>(communicator_.fold.exception());
    communicator_.oob.all_max(&thrown, 1);
    if (thrown) return count_check_use(CheckUse::unchecked);
  }
  call_mpi(nullptr);
  requests_.assign(1 + div_up(weights_.size(), kWeightsAtOnce), kMpi.request_null);
  for_each_weights([&](double* weights, int count, MpiRequest&) {
    mpi.Allreduce(kMpi.in_place, weights, count, kMpi.float64, kMpi.sum, call_.comm);
  });
  Difference difference;
  BitsHash hash;
  const Verdict verdict = compare(difference, hash);
  CheckReport report(*this, difference);
  if (report.agree(verdict, must_be_same_bits() ? hash.value() : 0)) use_other();
}

bool ResultCheck::must_be_same_bits() const {
  return call_.collective_info().result == Result::all;
}

void ResultCheck::use_other() const {
  for (const Data& data : results_) copy_data(moved(data, other_.shift()), data, packs_);
}

Verdict ResultCheck::compare(Difference& difference, BitsHash& hash) const {
  Verdict worst = Verdict::equal;
  std::size_t first = 0;
  for (const Data& data : results_) {
    if (data.count == 0) continue;
    const Verdict one = compare_piece(data, first, difference, hash);
    worst = std::max(worst, one);
    if (worst == Verdict::different) break;
    first += static_cast<std::size_t>(data.count);
  }
  return worst;
}

// `first` is the number of the piece's first element in the rank's result.
Verdict ResultCheck::compare_piece(const Data& own, std::size_t first, Difference& difference,
                                   BitsHash& hash) const {
  const auto note = [&](std::size_t at, const std::byte* mine, const std::byte* others,
                        const ComparedReduction& by, DType type, const double* weights) {
    difference = {first + at, element_text(type, mine + at * by.element, by.element),
                  element_text(type, others + at * by.element, by.element),
                  bound_text(by, others + at * by.element, weights)};
  };
  std::size_t at = 0;
  const Data other = moved(own, other_.shift());
  if (by_.op != Op::none) {
    const auto each = static_cast<std::size_t>(weights_of(by_));
    const double* const weights = weights_.data() + own_first_ * each;
    const auto *a = static_cast<const std::byte*>(own.address),
               *b = static_cast<const std::byte*>(other.address);
    const auto count = static_cast<std::size_t>(own.count);
    hash.add_elements(by_.type, a, count);
    const Verdict verdict = sumac::compare(by_, a, b, count, weights, at);
    if (verdict != Verdict::equal) note(at, a, b, by_, by_.type, weights + at * each);
    return verdict;
  }
  TypedBytes mine(own, packs_), others(other, packs_);
  const TypeInfo* const info = find_any_type(own.type);
  const DType type = info && !info->has_gaps() ? info->dtype : DType::none;
  ComparedReduction by = by_;
  by.element = mine.element();
  const std::byte *a = nullptr, *b = nullptr;
  Verdict worst = Verdict::equal;
  for (std::size_t done = 0; const std::size_t size = mine.next(a); done += size / by.element) {
    others.next(b);
    hash.add(a, size);
    if (sumac::compare(by, a, b, size / by.element, nullptr, at) == Verdict::equal) continue;
    // The MPI is free in the order in which it folds by a function of the program's.
    worst = by_user_ ? Verdict::undecided : Verdict::different;
    if (by_user_) continue;
    note(at, a, b, by, type, nullptr);
    difference.at += done;
    break;
  }
  return worst;
}

}  // namespace sumac
