// SPDX-License-Identifier: BSD-3-Clause
// One random call on one communicator: its data, the call itself, and the check of its result.
#pragma once

#include <memory>
#include <string>

#include "mpi/groups.h"
#include "spec.h"

namespace test::sweep {

class Call {
 public:
  Call(const Spec& spec, const Group& group) : spec_(spec), group_(group) {}
  virtual ~Call() = default;
  // Writes this rank's input and clears what it receives. Each start has a `round` of its own.
  virtual void fill(std::uint64_t round) = 0;
  // Makes the call in its form. A derived type may be freed at once.
  virtual void make(MPI_Request* request) = 0;
  virtual void check(const char* how) = 0;
  // The call as a program would have it, without buffers.
  virtual std::string text() const = 0;

  const Spec& spec() const { return spec_; }
  const Group& group() const { return group_; }

 protected:
  int size() const { return group_.size(); }
  int me() const { return group_.rank; }
  int root() const {
    return static_cast<int>(spec_.root % static_cast<std::uint64_t>(group_.size()));
  }
  std::string function() const { return std::string(spec_.name()) + (spec_.large ? "_c" : ""); }
  // A random number that all ranks share.
  std::uint64_t shared(std::uint64_t which) const {
    return mix(spec_.state + which * 0x9e3779b97f);
  }
  // One of this rank's own.
  std::uint64_t own(std::uint64_t which) const {
    return mix(shared(which) + static_cast<std::uint64_t>(me()) * 0x51ed270b);
  }
  template <class... Arguments>
  void invoke(MPI_Request* request, Arguments... arguments) {
    call(function(), spec_.form, group_.comm, request, arguments...);
  }

 private:
  const Spec spec_;
  const Group& group_;
};

// Numbers of elements for each rank that sum up to about `total`: some are 0, some are larger.
template <class Draw>
std::vector<std::size_t> draw_counts(std::size_t total, int ranks, std::size_t unit, Draw draw) {
  std::vector<std::size_t> counts;
  const std::size_t each = total / static_cast<std::size_t>(ranks);
  for (int r = 0; r < ranks; ++r) {
    const std::uint64_t way = draw(static_cast<std::uint64_t>(r));
    const std::size_t n = way % 4 == 0 ? 0 : way % 4 == 1 ? each : (way >> 8) % (2 * each + 2);
    counts.push_back(n / unit * unit);
  }
  return counts;
}

std::unique_ptr<Call> make_call(const Spec& spec, const Group& group);

}  // namespace test::sweep
