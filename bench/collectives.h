// SPDX-License-Identifier: BSD-3-Clause
// The two contenders and the calls made of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "base/types.h"

namespace sumac::bench {

// The collectives as one contender provides them.
struct Functions {
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Barrier) barrier;
};

// What a call in this program reaches: Sumac where it is loaded, else the MPI.
Functions as_called();
// The MPI's own functions, asked of Sumac where it is loaded.
Functions of_the_mpi();

// What is loaded in front of the MPI. Without Sumac: loaded false, the strings empty.
struct Presence {
  bool loaded = false;
  bool active = false;
  const char* version = "";
  const char* description = "";
};
// Asked after the first MPI call.
Presence presence();
// What became of the last collective of this thread; "" without Sumac.
const char* last_path();

// One call to measure or check.
struct Case {
  Collective collective;
  DType type;
  Op op;
  int root;
  bool in_place;
  std::size_t count;

  std::size_t bytes() const { return count * size_of(type); }
};

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

MPI_Datatype mpi_type(DType type);
MPI_Op mpi_op(Op op);

// Makes the call and returns when it does.
void issue(const Functions& functions, const Case& test, const Buffers& buffers, int rank,
           MPI_Comm comm);

}  // namespace sumac::bench
