// SPDX-License-Identifier: BSD-3-Clause
// One collective call with its buffers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "case.h"
#include "functions.h"

namespace sumac::bench {

// Page-aligned memory of one rank: `send` is the input, `recv` the output. An in-place call and a
// broadcast use `recv` only.
struct Buffers {
  explicit Buffers(std::size_t bytes);
  std::byte* send() const { return send_.get(); }
  std::byte* recv() const { return recv_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> send_, recv_;
};

// A call that one contender makes over and over. All members but test() are collective, and throw
// when an MPI function returns an error. (Sumac's substitutes for functions that an MPI lacks do
// so.)
class RepeatedCall {
 public:
  // Initialises a persistent call, which the destructor frees.
  RepeatedCall(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
               MPI_Comm comm);
  ~RepeatedCall();
  RepeatedCall(const RepeatedCall&) = delete;
  RepeatedCall& operator=(const RepeatedCall&) = delete;

  Kind kind() const { return test_.kind; }
  // A blocking call has ended when start() returns; wait() then does nothing.
  void start();
  void wait();
  // True when the call has ended; wait() is then not needed.
  bool test();
  void run() {
    start();
    wait();
  }

 private:
  // Calls the row's function, which initialises a persistent call and starts a nonblocking one.
  int make() const { return row_.make(function_, call_); }

  const Functions& functions_;
  Case test_;
  const CollectiveRow& row_;
  void* function_;
  std::vector<int> counts_, places_;  // of the parts, where each rank has one
  MPI_Request request_ = MPI_REQUEST_NULL;
  sumac::Call call_;
};

// The function that measures a collective: its first one, or the first with a count for each rank.
Function function_of(Collective collective, bool with_counts);
// True for a collective with functions of both kinds.
bool has_both(Collective collective);

}  // namespace sumac::bench
