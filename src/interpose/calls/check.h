// SPDX-License-Identifier: BSD-3-Clause
// With SUMAC_CHECK=results, a call that Sumac serves is done a second time, by the MPI's own
// function on buffers of the check's, and the two results are compared. See docs/checking.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpose/calls/check_data.h"
#include "interpose/calls/check_elements.h"
#include "interpose/calls/decide.h"

namespace sumac {

// Reads the option. Must be called once.
void read_check_option();
// One in so many calls on a communicator is checked; 0: none.
extern std::uint64_t results_checked;
// True if the job ends after a result that differs.
extern bool check_ends_job;
// Returns the absolute name of the folder in which data of such a call are kept; empty if they are
// not.
const std::string& check_folder();

// Returns true for a call whose result is compared, the same on all ranks. Counts the calls.
bool takes_check(const Call& call, const Decision& decision);

// This is the first element that is different on this rank.
struct Difference {
  std::size_t at = 0;  // counted through the rank's result
  std::string own, other, bound;
};

// This does one call a second time, or every start of a persistent one. Each rank of the call has
// one.
class ResultCheck {
 public:
  // The object must be made before Sumac touches the program's data.
  ResultCheck(const Call& call, const Decision& decision);
  ~ResultCheck();
  ResultCheck(const ResultCheck&) = delete;
  ResultCheck& operator=(const ResultCheck&) = delete;

  // Does a blocking call a second time and compares, together with the other ranks.
  void finish();

  // These serve a deferred call. If the MPI has no such function, the call is not checked:
  // initialise() then returns false, on all ranks.
  bool initialise();  // for a persistent call
  void load();        // called before Sumac starts
  void start();       // called after it has started; ranks make nonblocking calls in the same order
  bool ended();       // returns true if the MPI's call has ended
  void compare_alone();  // called once both have ended

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
  const MpiComm packs_;  // used in the MPI's pack functions
  const bool by_user_, reads_;
  ComparedReduction by_;
  std::vector<Data> inputs_, results_;
  std::vector<MpiDatatype> kept_;
  ShadowBuffer other_;                 // the MPI's result
  std::optional<ShadowBuffer> saved_;  // copy of the MPI's input, if Sumac overwrites the input
  std::size_t own_first_ = 0;          // the rank's first element in the vector of a reduce-scatter
  std::vector<double> weights_;
  std::vector<MpiRequest> requests_;
  std::size_t num_ended_ = 0;  // number of requests that have ended since the start
  const char* path_ = "";
};

}  // namespace sumac
