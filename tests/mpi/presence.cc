// SPDX-License-Identifier: BSD-3-Clause
// Jobs in which not every rank has Sumac. Results must be right on every communicator. Those with a
// member without Sumac are handed down by the others for the given reason; those whose ranks all
// have it are served.
//   presence world REASON            the job's ranks; the script decides who has Sumac
//   presence barriers                ranks without Sumac cannot be seen: the job must be ended
//   presence pairs REASON            communicators of every second rank, in two orders
//   presence unseen                  the same; the launcher does not tell how many ranks a node has
//   presence late SECONDS            all have it, but some ranks are late when it is set up
//   presence spawn RANKS COMMAND...  spawns RANKS processes by the words of COMMAND, which ends in
//                                    this program and "child"
//   presence spawn                   spawns two by `sumac exec`; all have Sumac
#include <dlfcn.h>

#include <string>
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

// 0: this rank has no Sumac. 1: it has the first build. 2: it has the other build.
int own_kind() {
  if (!is_active()) return 0;
  return std::getenv("SUMAC_TEST_OTHER_BUILD") ? 2 : 1;
}

// True when all ranks have the same build of Sumac. Asks on a communicator that is used for nothing
// else.
bool alike(MPI_Comm comm) {
  MPI_Comm apart;
  MPI_Comm_split(comm, 0, 0, &apart);
  const int own[2] = {own_kind(), -own_kind()};
  int least[2] = {};
  MPI_Allreduce(own, least, 2, MPI_INT, MPI_MIN, apart);
  MPI_Comm_free(&apart);
  return least[0] > 0 && least[0] == -least[1];
}

void use_nonblocking(MPI_Comm comm, int seed) {
  int r, p, sum = -1;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &p);
  const int own = r + seed;
  MPI_Request request;
  MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == p * (p - 1) / 2 + p * seed, "%d of %d ranks", sum, p);
}

// `reason` is why the communicator is handed down, or null if it is served.
void expect(MPI_Comm comm, const char* reason) {
  for (int i = 0; i < 4; ++i) {
    use(comm, i);
    use_nonblocking(comm, i);
  }
  MPI_Barrier(comm);
  int size;
  MPI_Comm_size(comm, &size);
  if (!is_active()) return;
  if (size == 1 || !reason) {
    CHECK_TAKEN();
  } else {
    CHECK_HANDED_DOWN(reason);
  }
}

// Uses communicators of several shapes over the ranks of `all`.
void use_parts(MPI_Comm all, const char* reason) {
  int r;
  MPI_Comm_rank(all, &r);
  const int kind = own_kind();
  struct Part {
    int color, key;
  };
  for (const Part part : {Part{0, r}, Part{0, -r}, Part{kind, r}, Part{r / 2, 0}, Part{r % 2, 0},
                          Part{r == 0 ? MPI_UNDEFINED : 0, 0}}) {
    MPI_Comm comm;
    step("part %d %d", part.color, part.key);
    MPI_Comm_split(all, part.color, part.key, &comm);
    if (comm == MPI_COMM_NULL) continue;
    expect(comm, alike(comm) ? nullptr : reason);
    MPI_Comm_free(&comm);
  }
}

// Between the worlds the MPI serves. Broadcasts come from rank 0 of those that were not spawned.
void use_between(MPI_Comm inter, bool spawned) {
  step("between worlds");
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  for (int i = 0; i < 4; ++i) {
    int mine = i + 10 * rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == others * i + 5 * others * (others - 1), "%d", sum);
    if (i > 1 && is_active()) CHECK_HANDED_DOWN("inter-communicator");
    int word = !spawned && rank == 0 ? 70 + i : -1;
    MPI_Bcast(&word, 1, MPI_INT, spawned ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(word == (spawned || rank == 0 ? 70 + i : -1), "%d", word);
    MPI_Barrier(inter);
  }
}

long failures_of_others(MPI_Comm inter) {
  const long mine = failures;
  long theirs = -1;
  MPI_Allreduce(&mine, &theirs, 1, MPI_LONG, MPI_SUM, inter);
  return theirs;
}

// Also merges the spawned processes with those that spawned them.
int use_worlds(MPI_Comm other, bool high) {
  use_between(other, high);
  constexpr const char* kReason = "a member of another MPI_COMM_WORLD: spawned, or connected to";
  MPI_Comm merged, again, own;
  MPI_Intercomm_merge(other, high, &merged);
  step("merged");
  expect(merged, kReason);
  MPI_Comm_dup(merged, &again);
  step("merged and duplicated");
  expect(again, kReason);
  // Splits the merged communicator back into the ranks of each MPI_COMM_WORLD.
  MPI_Comm_split(merged, high, 0, &own);
  step("one world");
  expect(own, nullptr);
  step("the world itself");
  expect(MPI_COMM_WORLD, nullptr);
  for (MPI_Comm* comm : {&own, &again, &merged}) MPI_Comm_free(comm);
  CHECK(failures_of_others(other) == 0, "failures in the other world");
  MPI_Comm_disconnect(&other);
  return finish_unaided();
}

// The command of the Sumac that is loaded.
std::string command() {
  Dl_info facts{};
  dladdr(dlsym(RTLD_DEFAULT, "sumac_version"), &facts);
  const std::string library = facts.dli_fname ? facts.dli_fname : "";
  return library.substr(0, library.rfind("/lib/")) + "/bin/sumac";
}

int spawn(int argc, char** argv) {
  std::string usual[] = {command(), "exec", "--", argv[0], "child", "served"};
  std::vector<char*> words(argv + std::min(argc, 3), argv + argc);
  for (std::string& word : usual) {
    if (argc <= 3) words.push_back(word.data());
  }
  words.push_back(nullptr);
  CHECK(argc > 3 || is_active(), "Sumac does not serve this program");
  step("MPI_Comm_spawn");
  MPI_Comm children;
  MPI_Comm_spawn(words[0], &words[1], argc > 2 ? std::atoi(argv[2]) : 2, MPI_INFO_NULL, 0,
                 MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  return use_worlds(children, false);
}

// The launcher does not say how many ranks there are on the node.
void hide_ranks_of_node() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_GTIDS"}) {
    unsetenv(name);
  }
}

// Barriers hang in the call in which Sumac sets the communicator up.
int pass_barriers() {
  for (int i = 0; i < 2; ++i) {
    step("barrier %d", i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Only ranks without Sumac get here, and they wait for ever too.
  step("the MPI's own barrier");
  MPI_Barrier(MPI_COMM_WORLD);
  return finish_unaided();
}

// Communicators of the ranks of one host each, if ranks are dealt out to two hosts in turns.
int use_pairs(const char* reason) {
  MPI_Comm comm;
  for (const int key : {rank, -rank}) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, key, &comm);
    expect(comm, alike(comm) ? nullptr : reason);
    MPI_Comm_free(&comm);
  }
  return finish_unaided();
}

// The root of two broadcasts has finished both before the other ranks begin.
int come_late(unsigned seconds) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int data = rank == 0 ? 77 : 0;
  MPI_Request request;
  if (rank != 0) sleep(seconds);
  inits().Bcast(&data, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data == 77, "%d", data);
  MPI_Request_free(&request);
  expect(comm, nullptr);
  MPI_Comm_free(&comm);
  return finish_unaided();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "unseen") hide_ranks_of_node();
  start_unaided(argc, argv);
  if (what == "spawn") return spawn(argc, argv);
  if (what == "child") {
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    CHECK(argc < 3 || is_active(), "Sumac does not serve what was spawned");
    return use_worlds(parents, true);
  }
  if (what == "unseen" || what == "barriers") return pass_barriers();
  if (what == "late") return come_late(static_cast<unsigned>(std::atoi(argv[2])));
  const char* reason = argc > 2 ? argv[2] : "";
  if (what == "pairs") return use_pairs(reason);
  step("the world");
  expect(MPI_COMM_WORLD, alike(MPI_COMM_WORLD) ? nullptr : reason);
  for (int round = 0; round < 2; ++round) use_parts(MPI_COMM_WORLD, reason);
  return finish_unaided();
}
