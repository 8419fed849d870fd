// SPDX-License-Identifier: BSD-3-Clause
// One collective call: the memory it works on, and how it is made.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "case.h"
#include "functions.h"

namespace sumac::bench {

// Page-aligned memory of one rank: `send` is what goes in; `recv` what comes out, and the only
// buffer of an in-place call; a broadcast uses `recv` alone.
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

// A call that one contender makes over and over. All members are collective but test(), and throw
// when an MPI function returns an error (Sumac's stand-ins for what an MPI lacks do).
class Call {
 public:
  // A persistent call is initialized here, and freed by the destructor.
  Call(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
       MPI_Comm comm);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Kind kind() const { return test_.kind; }
  // A blocking call is over when start() returns; wait() then does nothing.
  void start();
  void wait();
  // Whether what was started is over; then wait() need not be called.
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
  int part_ = 0;  // elements of each rank, where each has a part
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace sumac::bench
