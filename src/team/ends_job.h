// SPDX-License-Identifier: BSD-3-Clause
// A peer's memory that could be reached at set-up no longer can, in the middle of an operation that
// has no other way. This rank cannot give its result, and the others count on it, so the job ends.
#pragma once

#include "transport/peer_memory.h"

namespace sumac {

struct Team;

class EndsJob final : public OnRefusal {
 public:
  explicit EndsJob(const Team& team) : team_(team) {}
  [[noreturn]] void refused() override;

 private:
  void tell_and_end() const;

  const Team& team_;
};

}  // namespace sumac
