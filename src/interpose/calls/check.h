// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_CHECK=results: a call that Sumac serves is done a second time, by the MPI's own function on
// buffers of the check's, and the two results are compared. See docs/checking.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpose/calls/check_data.h"
#include "interpose/calls/check_elements.h"
#include "interpose/calls/decide.h"

namespace sumac {

// Reads the option; once.
void read_check_option();
// Every so many calls on a communicator; 0: none.
extern std::uint64_t results_checked;
// Whether the job ends after a result that differs.
extern bool check_ends_job;
// The absolute name of the folder in which data of such a call are kept; empty: nowhere.
const std::string& check_folder();

// True for a call whose result is to be compared, the same on all ranks. Counts the calls.
bool takes_check(const Call& call, const Decision& decision);

// The first element that is different on this rank.
struct Difference {
  std::size_t at = 0;  // counted through the rank's result
  std::string own, other, bound;
};

// The second time of one call, or of every start of a persistent one. Each rank of the call has
// one.
class ResultCheck {
 public:
  // To be made before Sumac touches the program's data.
  ResultCheck(const Call& call, const Decision& decision);
  ~ResultCheck();
  ResultCheck(const ResultCheck&) = delete;
  ResultCheck& operator=(const ResultCheck&) = delete;

  // Blocking: does the call a second time and compares, together with the other ranks.
  void finish();

  // Deferred. Where the MPI has no such function the call is not checked: false, on all ranks.
  bool initialise();     // persistent
  void load();           // before Sumac starts
  void start();          // after it has; ranks make nonblocking calls in the same order
  bool ended();          // looks whether the MPI has
  void compare_alone();  // once both have

 private:
  friend class CheckReport;
  bool call_mpi(RequestPointer request) const;
  void keep_types();
  template <class Use>
  void for_each_weights(Use use);
  Verdict compare(Difference& difference, BitsHash& hash) const;
  Verdict compare_piece(const Data& own, std::size_t first, Difference& difference,
                        BitsHash& hash) const;
  void use_other() const;
  bool must_be_same_bits() const;

  Communicator& communicator_;
  const Call call_;
  const MpiComm packs_;  // for the MPI's pack functions
  const bool by_user_, reads_;
  ComparedReduction by_;
  std::vector<Data> inputs_, results_;
  std::vector<MpiDatatype> kept_;
  ShadowBuffer other_;                 // the MPI's result
  std::optional<ShadowBuffer> saved_;  // what it reads, where that is overwritten
  std::size_t own_first_ = 0;          // the rank's first element in the vector of a reduce-scatter
  std::vector<double> weights_;
  std::vector<MpiRequest> requests_;
  std::size_t num_ended_ = 0;  // of these, since the start
  const char* path_ = "";
};

}  // namespace sumac
