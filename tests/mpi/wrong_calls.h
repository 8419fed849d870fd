// SPDX-License-Identifier: BSD-3-Clause
// Calls with wrong arguments, in the forms in which both MPIs notice them.
#pragma once

#include <vector>

#include "forms.h"

namespace test {

// Makes collective calls by their names: the program's own, or the MPI's.
struct Caller {
  bool native;
  Form form;
  MPI_Comm comm;
  MPI_Request* request;

  template <class... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    return call_in(native, name, form, comm, request, arguments...);
  }
};

enum Forms : unsigned { kBlocking = 1, kNonblocking = 2, kPersistent = 4 };

struct WrongCall {
  const char* name;
  unsigned forms;
  int (*call)(const Caller& f);
  bool has(Form form) const { return forms >> static_cast<int>(form) & 1; }
};

inline int wrong_in[8], wrong_out[8];
inline const void* const kIn = wrong_in;
inline void* const kOut = wrong_out;

#define WRONG(what, forms, ...)                                 \
  {                                                             \
    what, forms, [](const Caller& f) { return f(__VA_ARGS__); } \
  }

inline int broadcast_uncommitted(const Caller& f) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  const int error = f("Bcast", kOut, 1, type, 0);
  MPI_Type_free(&type);
  return error;
}

inline int exchange_of_null_type(const Caller& f) {
  const std::vector<int> ones(static_cast<std::size_t>(ranks), 1), places(ones.size());
  return f("Alltoallv", kIn, ones.data(), places.data(), MPI_DATATYPE_NULL, kOut, ones.data(),
           places.data(), MPI_INT);
}

#ifdef OPEN_MPI
inline int exchange_nothing_of_null_types(const Caller& f) {
  const std::vector<int> zeros(static_cast<std::size_t>(ranks));
  const std::vector<MPI_Datatype> null(zeros.size(), MPI_DATATYPE_NULL);
  return f("Alltoallw", kIn, zeros.data(), zeros.data(), null.data(), kOut, zeros.data(),
           zeros.data(), null.data());
}
#endif

inline std::vector<WrongCall> wrong_calls() {
  constexpr unsigned kB = kBlocking, kN = kNonblocking, kP = kPersistent;
  return {
      WRONG("null type", kB | kN, "Allreduce", kIn, kOut, 1, MPI_DATATYPE_NULL, MPI_SUM),
      WRONG("null operation", kB | kN | kP, "Allreduce", kIn, kOut, 1, MPI_INT, MPI_OP_NULL),
      WRONG("bitwise and of doubles", kB | kN, "Allreduce", kIn, kOut, 1, MPI_DOUBLE, MPI_BAND),
      WRONG("minimum with index of integers", kB, "Allreduce", kIn, kOut, 1, MPI_INT, MPI_MINLOC),
      WRONG("reduce, root -9", kB | kN, "Reduce", kIn, kOut, 1, MPI_INT, MPI_SUM, -9),
      WRONG("reduce, root beyond", kB | kN | kP, "Reduce", kIn, kOut, 1, MPI_INT, MPI_SUM, 1000),
      WRONG("reduce, null type", kB, "Reduce", kIn, kOut, 1, MPI_DATATYPE_NULL, MPI_SUM, 0),
      WRONG("reduce, null operation", kB | kN, "Reduce", kIn, kOut, 1, MPI_INT, MPI_OP_NULL, 0),
      WRONG("bcast, count -1", kB | kN | kP, "Bcast", kOut, -1, MPI_INT, 0),
      WRONG("bcast, null type", kB | kN, "Bcast", kOut, 1, MPI_DATATYPE_NULL, 0),
      WRONG("bcast, root -1", kB | kP, "Bcast", kOut, 1, MPI_INT, -1),
      WRONG("bcast, root beyond", kB | kN, "Bcast", kOut, 1, MPI_INT, 1000),
      WRONG("in place on the wrong side", kB, "Allreduce", kIn, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM),
      {"bcast, type not committed", kB, broadcast_uncommitted},
      WRONG("reduce, one buffer of the root's", kB, "Reduce", kOut, kOut, 1, MPI_INT, MPI_SUM,
            rank),
      // The MPIs call this an error though no rank sends anything.
      WRONG("allgather, null type, count 0", kB, "Allgather", kIn, 0, MPI_DATATYPE_NULL, kOut, 0,
            MPI_INT),
      WRONG("allgather, count -1", kB, "Allgather", kIn, -1, MPI_INT, kOut, -1, MPI_INT),
      WRONG("allgather, null type", kB, "Allgather", kIn, 1, MPI_DATATYPE_NULL, kOut, 1, MPI_INT),
      WRONG("alltoall, count -1", kB, "Alltoall", kIn, -1, MPI_INT, kOut, -1, MPI_INT),
      WRONG("alltoall, null type", kB, "Alltoall", kIn, 1, MPI_DATATYPE_NULL, kOut, 1, MPI_INT),
      {"alltoallv, null type", kB, exchange_of_null_type},
      WRONG("reduce_scatter_block, null operation", kB, "Reduce_scatter_block", kIn, kOut, 1,
            MPI_INT, MPI_OP_NULL),
#ifdef OPEN_MPI  // MPICH 4.0 does not check the counts of reductions, and crashes
      WRONG("allreduce, count -1", kB | kN | kP, "Allreduce", kIn, kOut, -1, MPI_INT, MPI_SUM),
      WRONG("reduce, count -7", kB | kN, "Reduce", kIn, kOut, -7, MPI_INT, MPI_SUM, 0),
      // MPICH does not look at buffers and types where there are no data
      {"alltoallw, null types, count 0", kB, exchange_nothing_of_null_types},
      WRONG("allreduce, in place on the wrong side, count 0", kB, "Allreduce", kIn, MPI_IN_PLACE, 0,
            MPI_INT, MPI_SUM),
      WRONG("reduce, in place on the wrong side, count 0", kB, "Reduce", kIn, MPI_IN_PLACE, 0,
            MPI_INT, MPI_SUM, rank),
#endif
  };
}

// What is right but for the communicator, which is null.
inline std::vector<WrongCall> calls_on_null() {
  constexpr unsigned kAll = kBlocking | kNonblocking;
  return {WRONG("allreduce", kAll | kPersistent, "Allreduce", kIn, kOut, 1, MPI_INT, MPI_SUM),
          WRONG("reduce", kAll, "Reduce", kIn, kOut, 1, MPI_INT, MPI_SUM, 0),
          WRONG("bcast", kAll, "Bcast", kOut, 1, MPI_INT, 0),
          WRONG("barrier", kAll | kPersistent, "Barrier")};
}

#undef WRONG

}  // namespace test
