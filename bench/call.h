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
class Call {
 public:
  // Initialises a persistent call, which the destructor frees.
  Call(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
       MPI_Comm comm);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

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
  int make_blocking();
  int make_nonblocking();
  int initialize();

  Functions functions_;
  Case test_;
  const void* send_;
  void* recv_;
  MPI_Datatype type_;
  MPI_Op op_;
  MPI_Comm comm_;
  int part_ = 0;                      // elements per rank, if each rank has a part
  std::vector<int> counts_, places_;  // the same as arrays
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace sumac::bench
