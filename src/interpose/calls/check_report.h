// SPDX-License-Identifier: BSD-3-Clause
// A difference is reported in one line for the job, and in files by which the call can be repeated.
#pragma once

#include <string>

#include "interpose/calls/check.h"

namespace sumac {

class CheckReport {
 public:
  CheckReport(const ResultCheck& check, const Difference& difference)
      : check_(check), difference_(difference) {}

  // Reports a blocking call: all ranks agree whether any of them has found a difference, or their
  // results have different bits (`hash`; 0 if these need not be equal). The lowest rank that has
  // says so. Returns true if the MPI's result is to be used; does not return if the job is to end.
  bool agree(Verdict verdict, std::uint64_t hash);

  // Reports a deferred call, by this rank alone.
  bool tell_alone(Verdict verdict);

 private:
  bool make_folder() const;
  void save() const;
  void save_data(int folder, const char* kind, const std::vector<Data>& data,
                 std::ptrdiff_t shift) const;
  void save_call(int folder) const;
  std::string folder() const;
  std::string what() const;
  void tell(const std::string& problem) const;

  const ResultCheck& check_;
  const Difference& difference_;
};

}  // namespace sumac
