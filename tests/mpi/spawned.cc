// SPDX-License-Identifier: BSD-3-Clause
// Two more processes are spawned, with Sumac too. Within each MPI_COMM_WORLD Sumac serves; between
// them the MPI does, and the results are right: on the inter-communicator, on both merged, and on a
// duplicate of that.
#include <dlfcn.h>

#include <string>

#include "exercise.h"

namespace {

using namespace test;

constexpr int kChildren = 2;

// The command of the Sumac that is loaded, by whose `exec` the children are started.
std::string command() {
  Dl_info facts{};
  dladdr(dlsym(RTLD_DEFAULT, "sumac_version"), &facts);
  const std::string library = facts.dli_fname ? facts.dli_fname : "";
  return library.substr(0, library.rfind("/lib/")) + "/bin/sumac";
}

void use_world() {
  step("a world");
  CHECK(warm_up(MPI_COMM_WORLD) || ranks == 1, "path '%s'", path());
  for (int i = 0; i < 3; ++i) {
    use(MPI_COMM_WORLD, i);
    CHECK_TAKEN();
  }
}

// `others`: of the other group, by rank 0 of which the broadcast comes where `receiving`.
void use_between(MPI_Comm inter, bool receiving) {
  step("between worlds");
  int others;
  MPI_Comm_remote_size(inter, &others);
  for (int i = 0; i < 4; ++i) {
    int mine = i + 10 * rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == others * i + 5 * others * (others - 1), "%d", sum);
    if (i > 1) CHECK_HANDED_DOWN("inter-communicator");
    int word = !receiving && rank == 0 ? 70 + i : -1;
    MPI_Bcast(&word, 1, MPI_INT, receiving ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(word == (receiving || rank == 0 ? 70 + i : -1), "%d", word);
    MPI_Barrier(inter);
  }
}

void use_merged(MPI_Comm inter, bool high) {
  step("merged worlds");
  MPI_Comm merged, copy, own;
  MPI_Intercomm_merge(inter, high, &merged);
  MPI_Comm_dup(merged, &copy);
  MPI_Comm_split(merged, high, 0, &own);
  for (int i = 0; i < 4; ++i) {
    use(merged, i);
    if (i > 1) CHECK_HANDED_DOWN("a member of another MPI_COMM_WORLD: spawned, or connected to");
    use(copy, i);
    use(own, i);
  }
  for (MPI_Comm* comm : {&own, &copy, &merged}) MPI_Comm_free(comm);
}

long failures_of_others(MPI_Comm inter) {
  const long mine = failures;
  long theirs = -1;
  MPI_Allreduce(&mine, &theirs, 1, MPI_LONG, MPI_SUM, inter);
  return theirs;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm inter;
  MPI_Comm_get_parent(&inter);
  const bool spawned = inter != MPI_COMM_NULL;
  use_world();
  if (!spawned) {
    step("MPI_Comm_spawn");
    std::string words[] = {"exec", "--", argv[0]};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    MPI_Comm_spawn(command().c_str(), arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &inter, MPI_ERRCODES_IGNORE);
  }
  use_between(inter, spawned);
  use_merged(inter, spawned);
  use_world();
  CHECK(failures_of_others(inter) == 0, "failures in the other world");
  MPI_Comm_disconnect(&inter);
  return finish();
}
