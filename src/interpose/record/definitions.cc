// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/record/definitions.h"

#include <vector>

#include "interpose/calls/user_handles.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/members.h"
#include "interpose/record/recorder.h"

namespace sumac {
namespace {

// As the MPI calls it, without what could end a line.
std::string name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  mpi.Comm_get_name(comm, name, &length);
  for (char& c : name) {
    if (c != '\0' && (c < ' ' || c > '~')) c = '_';
  }
  return name;
}

int communicator_ends(MPI_Comm comm, int, void*, void*) {
  recorder().communicator_ends(handle_bits(comm));
  return MPI_SUCCESS;
}

// Has the MPI tell; see process/communicator.cc.
void watch_end(MPI_Comm comm) {
  int key = MPI_KEYVAL_INVALID;
  if (mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, communicator_ends, &key, nullptr)) return;
  mpi.Comm_set_attr(comm, key, nullptr);
  mpi.Comm_free_keyval(&key);
}

}  // namespace

unsigned Numbered::find(const std::string& text) {
  const auto [at, is_new] = numbers_.try_emplace(text, static_cast<unsigned>(numbers_.size()));
  if (is_new) file_.add(kind_ + (' ' + std::to_string(at->second) + ' ') + text);
  return at->second;
}

const Definitions::Comm& Definitions::communicator(MPI_Comm handle) {
  const auto [at, is_new] = communicators_.try_emplace(handle_bits(handle));
  Comm& comm = at->second;
  if (!is_new) return comm;
  comm.number = next_communicator_++;
  int is_inter = 0;
  mpi.Comm_test_inter(handle, &is_inter);
  mpi.Comm_size(handle, &comm.size);
  mpi.Comm_rank(handle, &comm.rank);
  comm.is_inter = is_inter != 0;
  const std::string members = comm.is_inter ? "" : members_text(handle, comm.size);
  file_.add("c " + std::to_string(comm.number) + ' ' + (members.empty() ? "outside" : members) +
            ' ' + name_of(handle));
  watch_end(handle);
  return comm;
}

void Definitions::forget_communicator(std::uintptr_t handle) {
  const auto at = communicators_.find(handle);
  if (at == communicators_.end()) return;
  file_.add("x " + std::to_string(at->second.number));
  communicators_.erase(at);
}

unsigned Definitions::operation(MPI_Op op) {
  if (const Op* known = find_op(op)) return operations_.find(sumac::name_of(*known));
  int commutes = 0;
  mpi.Op_commutative(op, &commutes);
  return operations_.find(commutes ? "user commutative" : "user ordered");
}

std::string members_text(MPI_Comm comm, int size) {
  const std::vector<int> in_world = world_ranks(comm, size);
  std::string text;
  for (std::size_t i = 0, end; i < in_world.size(); i = end) {
    if (in_world[i] == MPI_UNDEFINED) return "";
    for (end = i + 1; end < in_world.size() && in_world[end] == in_world[end - 1] + 1;) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(in_world[i]);
    if (end == i + 1) continue;
    text += '-';
    text += std::to_string(in_world[end - 1]);
  }
  return text;
}

}  // namespace sumac
