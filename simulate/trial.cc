// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/trial.h"

#include <simgrid/actor.h>

#include <algorithm>
#include <numeric>

#include "simulate/smpi_calls.h"

namespace sumac::simulated {
namespace {

// Small whole numbers, so that sums do not depend on their order: of a rank, and of a place.
constexpr std::size_t kOfRanks = 7, kOfPlaces = 5;
double of_rank(int rank) { return static_cast<double>(static_cast<std::size_t>(rank) % kOfRanks); }
double of_place(std::size_t place) { return static_cast<double>(place % kOfPlaces); }

std::byte* bytes_of(std::vector<double>& data) { return reinterpret_cast<std::byte*>(data.data()); }

}  // namespace

Trial::Trial(const Case& what, Communicator* communicator, Board& board)
    : case_(what), communicator_(communicator), board_(board), sum_(make_charged_op(Op::sum)) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_);
  const std::size_t count = case_.bytes / sizeof(double);
  in_.resize(count);
  out_.resize(count);
  if (communicator_ && communicator_->is_served()) {
    choice_ = communicator_->choose(case_.collective, case_.bytes);
  }
}

Trial::~Trial() { PMPI_Op_free(&sum_); }

bool Trial::goes_to_mpi() const {
  return case_.native || !communicator_ || !communicator_->is_served() ||
         choice_.algorithm == Algorithm::native;
}

std::string Trial::plan() const {
  if (goes_to_mpi()) return "native";
  const bool word = !info_of(case_.collective).has_data;
  return communicator_->plan_text({case_.collective, word ? kBarrierWord : case_.bytes,
                                   word ? kBarrierWord : sizeof(double), case_.root},
                                  choice_);
}

// All ranks leave at the same moment, which is known once all have come.
double Trial::begin_together() {
  PMPI_Barrier(MPI_COMM_WORLD);
  board_.ready[static_cast<std::size_t>(rank_)] = PMPI_Wtime();
  PMPI_Barrier(MPI_COMM_WORLD);
  const double moment = *std::max_element(board_.ready.begin(), board_.ready.end()) + 1;
  sg_actor_sleep_until(moment);
  return PMPI_Wtime();
}

Outcome Trial::run() {
  fill();
  const double begin = begin_together();
  goes_to_mpi() ? call_mpi() : call_sumac();
  const auto own = static_cast<std::size_t>(rank_);
  board_.ended[own] = PMPI_Wtime();
  board_.wrong[own] = !is_right();
  PMPI_Barrier(MPI_COMM_WORLD);
  Outcome outcome;
  outcome.seconds = *std::max_element(board_.ended.begin(), board_.ended.end()) - begin;
  outcome.wrong = std::accumulate(board_.wrong.begin(), board_.wrong.end(), 0);
  return outcome;
}

CallArguments Trial::arguments() {
  const CollectiveInfo& info = info_of(case_.collective);
  if (!info.has_data) return {};
  if (info.arguments == ArgumentKind::bcast) {
    return BcastArguments{bytes_of(out_), case_.bytes, case_.root, choice_.radix};
  }
  ReduceArguments reduction;
  reduction.radix = choice_.radix;
  const bool gets = gets_result(case_.collective, rank_, case_.root);
  reduction.input = bytes_of(in_);
  reduction.output = gets ? bytes_of(out_) : nullptr;
  reduction.count = in_.size();
  reduction.element = sizeof(double);
  reduction.kernel = charged_kernel(Op::sum, DType::f64);
  reduction.root = case_.root;
  return reduction;
}

// Computes for the time that the case has, and looks at what is under way now and then: at
// `request` of the MPI, or, where that is null, at Sumac's.
void Trial::compute(MPI_Request* request) const {
  const double piece = case_.compute / (case_.tests + 1);
  for (int i = 0; i <= case_.tests; ++i) {
    if (piece > 0) sg_actor_sleep_for(piece);
    if (i == case_.tests) break;
    int done = 0;
    if (request) {
      PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    } else {
      communicator_->process().look();
    }
  }
}

void Trial::call_sumac() {
  const ChosenCall call{arguments(), case_.collective, choice_};
  if (!case_.nonblocking) return communicator_->run(call);
  Work work;
  communicator_->start(work, call);
  compute(nullptr);
  communicator_->wait_for(work);
}

void Trial::call_mpi() {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(in_.size());
  Call call{smpi_call(case_.collective, case_.nonblocking ? Form::nonblocking : Form::blocking)};
  call.send = {in_.data(), count, from_native<MpiDatatype>(MPI_DOUBLE)};
  call.receive = {out_.data(), count, call.send.type};
  call.op = from_native<MpiOp>(sum_);
  call.root = case_.root;
  call.comm = from_native<MpiComm>(MPI_COMM_WORLD);
  call.request = RequestPointer(&request);
  call.kind.below(call);
  if (!case_.nonblocking) return;
  compute(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Trial::fill() {
  const bool sends = is_from_root(case_.collective) && rank_ == case_.root;
  for (std::size_t i = 0; i < in_.size(); ++i) {
    in_[i] = of_rank(rank_) + of_place(i);
    out_[i] = sends ? in_[i] : -1;
  }
}

double Trial::sum_of_ranks() const {
  double sum = 0;
  for (int rank = 0; rank < size_; ++rank) sum += of_rank(rank);
  return sum;
}

bool Trial::is_right() const {
  if (!gets_result(case_.collective, rank_, case_.root)) return true;
  const bool reduces = info_of(case_.collective).reduces;
  const double ranks = reduces ? sum_of_ranks() : of_rank(case_.root);
  const double factor = reduces ? size_ : 1;
  for (std::size_t i = 0; i < out_.size(); ++i) {
    if (out_[i] != ranks + factor * of_place(i)) return false;
  }
  return true;
}

}  // namespace sumac::simulated
