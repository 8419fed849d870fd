// SPDX-License-Identifier: BSD-3-Clause
// Faults of MPIs below Sumac, found by running them without it, that tests must not run into. What
// an MPI is, is asked when the program runs: it may not be the one whose header was compiled.
#pragma once

#include <mpi.h>

#include <cstring>

namespace test {

// Intel MPI 2021.18: MPI_MIN is MPI_MAX for types of MPI_Type_create_f90_real; MPI_Pack of a darray
// with cyclic blocks of several elements packs others, and does not look whether there is room;
// MPI_Allreduce with a user-defined operation is wrong for types whose parts are not in the order
// of memory, and MPI_Reduce writes to the send buffer.
inline bool is_intel() {
  static const bool is = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return std::strstr(text, "Intel") != nullptr;
  }();
  return is;
}

// Intel MPI 2021.18: libmpi_abi.so takes MPI_ERRORS_RETURN for MPI_ERRORS_ABORT, and the other way
// round. The handler that makes calls return their errors.
inline MPI_Errhandler errors_return() {
#ifdef MPI_ABI
  if (is_intel()) return MPI_ERRORS_ABORT;
#endif
  return MPI_ERRORS_RETURN;
}

// Calls return their errors: also those without a communicator, of which some MPIs ask the handler
// of MPI_COMM_WORLD and some that of MPI_COMM_SELF.
inline void return_errors(MPI_Comm comm = MPI_COMM_WORLD) {
  for (const MPI_Comm each : {comm, MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(each, errors_return());
  }
}
inline void die_of_errors(MPI_Comm comm = MPI_COMM_WORLD) {
  for (const MPI_Comm each : {comm, MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(each, MPI_ERRORS_ARE_FATAL);
  }
}

// Intel MPI 2021.18: the name of MPI_LOGICAL1 in libmpi_abi.so is MPIX_C_BF16. Sumac knows types
// that not every MPI has by their names, and leaves this one to the MPI.
inline bool is_misnamed([[maybe_unused]] MPI_Datatype type, [[maybe_unused]] const char* name) {
#ifdef MPI_ABI
  char found[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(type, found, &length);
  return is_intel() && std::strcmp(name, "MPI_LOGICAL1") == 0 && std::strcmp(found, name) != 0;
#else
  return false;
#endif
}

// MPI_Ineighbor_alltoallw of Open MPI 4.1 mixes up the two neighbours along a closed dimension of 1
// or 2 ranks, MPI_Neighbor_alltoallw does not. That of MPICH 4.0 is wrong on graphs in which ranks
// have different numbers of neighbours (issue 6233), in both forms.
#ifdef OPEN_MPI
inline constexpr bool kBeginsOnClosedGrids = false, kHasIrregularGraphs = true;
#else
inline constexpr bool kBeginsOnClosedGrids = true, kHasIrregularGraphs = false;
#endif

// MPICH 4.0: MPI_Neighbor_alltoallw on a communicator without a topology takes what happens to be
// on the stack for the numbers of neighbours. It reports an error of topology, type or count, or
// dies.
#ifdef OPEN_MPI
inline constexpr bool kReportsMissingTopology = true;
#else
inline constexpr bool kReportsMissingTopology = false;
#endif

// Open MPI 4.1: MPI_Alltoallw among one rank takes displacements for elements.
#ifdef OPEN_MPI
inline bool has_alltoallw(int number_of_ranks) { return number_of_ranks > 1; }
#else
inline bool has_alltoallw(int) { return true; }
#endif

// MPICH 5.0 and Intel MPI 2021.18: MPI_Request_get_status_some makes an active persistent request
// inactive, and forgets receives that it has reported once. True if the MPI has no such function:
// then it is Sumac's. `get_status_some`: the MPI's, of type
// int (*)(int, const MPI_Request*, int*, int*, MPI_Status*).
template <class Function>
bool some_reports_again(Function get_status_some) {
  if (!get_status_some) return true;
  int word = 1, got = 0, index = 0, counts[2] = {-1, -1};
  MPI_Request request;
  MPI_Recv_init(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  for (int& count : counts) {
    get_status_some(1, &request, &count, &index, MPI_STATUSES_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return counts[0] == 1 && counts[1] == 1;
}

}  // namespace test
