// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_set_info and MPI_Comm_dup_with_info may have the info key sumac_hierarchy, which is a
// communicator's own SUMAC_HIERARCHY. It is only remembered here: the ranks agree on it when the
// communicator is set up.
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/communicator.h"
#include "observe/log.h"

namespace sumac {
namespace {

constexpr const char* kHierarchyKey = "sumac_hierarchy";

std::string hierarchy_in(MpiInfo info) {
  char value[kMostInfoValue + 1] = "";
  int found = 0;
  if (info == kMpi.info_null) return "";
  mpi.Info_get(info, kHierarchyKey, kMostInfoValue, value, &found);
  return found ? value : "";
}

bool is_good(const std::string& hierarchy) {
  static std::atomic<bool> told;
  std::string problem;
  const bool good = check_hierarchies(hierarchy, problem);
  if (!good && !told.exchange(true)) {
    log(Level::warn, "warning[bad-value]: info key %s=%s: %s; ignored", kHierarchyKey,
        hierarchy.c_str(), problem.c_str());
  }
  return good;
}

void take_hierarchy(MpiComm comm, MpiInfo info) {
  static std::atomic<bool> told;
  const std::string hierarchy = hierarchy_in(info);
  if (hierarchy.empty() || !is_good(hierarchy)) return;
  Communicator* c = find_or_remember(comm);
  if (!c || c->hierarchy == hierarchy) return;
  if (c->state == Communicator::State::counting) {
    c->hierarchy = hierarchy;
  } else if (c->state == Communicator::State::together && !told.exchange(true)) {
    log(Level::warn,
        "warning[late-info]: info key %s=%s comes too late and is ignored; set it before the "
        "second collective on the communicator",
        kHierarchyKey, hierarchy.c_str());
  }
}

int comm_set_info(MpiComm comm, MpiInfo info) {
  const int error = mpi.Comm_set_info(comm, info);
  if (error == kMpiSuccess) take_hierarchy(comm, info);
  return error;
}

int comm_dup_with_info(MpiComm comm, MpiInfo info, CommPointer copy) {
  const int error = mpi.Comm_dup_with_info(comm, info, copy);
  if (error == kMpiSuccess) take_hierarchy(*copy, info);
  return error;
}

}  // namespace

void redirect_info(const sumac_stub& stub) {
  in_front.Comm_set_info = comm_set_info;
  in_front.Comm_dup_with_info = comm_dup_with_info;
  put_in_front(stub, SUMAC_CALL_Comm_set_info);
  put_in_front(stub, SUMAC_CALL_Comm_dup_with_info);
}

}  // namespace sumac
