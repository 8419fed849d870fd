// SPDX-License-Identifier: BSD-3-Clause
// What programs do with memory of MPI_Alloc_mem besides collectives: messages, windows, files,
// processes; which memory the MPI gives as before, and its errors; and the end of it all.
// alloc_mem DIRECTORY
// alloc_mem session    before MPI_Init, in a session of MPI 4
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"
#include "mpi_faults.h"

namespace {

using namespace test;

constexpr int kCount = 100'000;
constexpr MPI_Aint kBytes = kCount * static_cast<MPI_Aint>(sizeof(int));

int* allocate(MPI_Aint bytes = kBytes, MPI_Info info = MPI_INFO_NULL) {
  void* at = nullptr;
  const bool given = MPI_Alloc_mem(bytes, info, &at) == MPI_SUCCESS && at;
  CHECK(given, "%ld bytes", static_cast<long>(bytes));
  return static_cast<int*>(at);
}

// Whether the memory is Sumac's: pages of its file.
bool is_born_shared(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const std::uintptr_t begin = std::strtoul(line.c_str(), &end, 16);
    if (begin <= at && at < std::strtoul(end + 1, nullptr, 16)) {
      return line.find("memfd:sumac") != line.npos;
    }
  }
  return false;
}

// Nobody else would map the memory of a rank that is alone.
bool expected() { return ranks > 1; }

int neighbour(int by) { return (rank + by + ranks) % ranks; }

// The MPI reads such memory by cross-memory attach, or however it does.
void messages() {
  step("messages");
  int *const out = allocate(), *const in = allocate();
  CHECK(is_born_shared(out) == expected(), "%p", static_cast<void*>(out));
  std::iota(out, out + kCount, rank);
  MPI_Sendrecv(out, kCount, MPI_INT, neighbour(1), 1, in, kCount, MPI_INT, neighbour(-1), 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[0] == neighbour(-1) && in[kCount - 1] == neighbour(-1) + kCount - 1, "%d", in[0]);
  MPI_Request requests[2];
  MPI_Irecv(in, kCount, MPI_INT, neighbour(-1), 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kCount, MPI_INT, neighbour(1), 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(std::equal(in + 1, in + kCount, in, [](int a, int b) { return a == b + 1; }));
  MPI_Free_mem(in);
  MPI_Free_mem(out);
}

void use_window(MPI_Win win, MPI_Aint base, const int* own) {
  const int mine[2] = {rank, 1}, more = 5;
  int got[2] = {-1, -1};
  MPI_Win_fence(0, win);
  MPI_Put(mine, 2, MPI_INT, neighbour(1), base, 2, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(own[0] == neighbour(-1) && own[1] == 1, "%d %d", own[0], own[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(&more, 1, MPI_INT, neighbour(1), base, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(own[0] == neighbour(-1) + 5, "%d", own[0]);
  MPI_Get(got, 2, MPI_INT, neighbour(1), base, 2, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(got[0] == rank + 5 && got[1] == 1, "%d %d", got[0], got[1]);
}

void windows() {
  if (ranks == 1) return;  // Debian's Open MPI has none then, without Sumac too
  step("MPI_Win_create");
  int* const memory = allocate();
  std::fill(memory, memory + kCount, 0);
  MPI_Win win;
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use_window(win, 0, memory);
  MPI_Win_free(&win);
  step("MPI_Win_attach");
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, kBytes);
  MPI_Aint own = 0, next = 0;
  MPI_Get_address(memory, &own);
  MPI_Sendrecv(&own, 1, MPI_AINT, neighbour(-1), 3, &next, 1, MPI_AINT, neighbour(1), 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  use_window(win, next, memory);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
}

void files(const std::string& folder) {
  step("MPI-IO");
  const std::string name = folder + "/alloc_mem." + std::to_string(ranks);
  int *const out = allocate(), *const in = allocate();
  std::iota(out, out + kCount, rank);
  MPI_File file;
  const int error = MPI_File_open(MPI_COMM_WORLD, name.c_str(),
                                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                  MPI_INFO_NULL, &file);
  if (!CHECK(error == MPI_SUCCESS, "%s", name.c_str())) return;
  MPI_File_write_at_all(file, rank * kBytes, out, kCount, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, neighbour(1) * kBytes, in, kCount, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(in[0] == neighbour(1) && in[kCount - 1] == neighbour(1) + kCount - 1, "%d", in[0]);
  MPI_File_close(&file);
  MPI_Free_mem(in);
  MPI_Free_mem(out);
}

// A child that writes is not seen by its parent, or by a rank that has mapped the memory.
void children() {
  step("fork");
  int *const in = allocate(), *const out = allocate();
  for (int round = 0; round < 5; ++round) {
    std::fill(in, in + kCount, rank + round);
    std::fill(out, out + kCount, -1);
    const pid_t child = fork();
    if (child == 0) {
      const bool same = in[0] == rank + round && in[kCount - 1] == in[0];
      std::fill(in, in + kCount, 1 << 20);
      std::fill(out, out + kCount, 1 << 20);
      _exit(same ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
    MPI_Allreduce(in, out, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int sum = ranks * (ranks - 1) / 2 + ranks * round;
    CHECK(std::all_of(out, out + kCount, [=](int value) { return value == sum; }), "%d", out[0]);
  }
  MPI_Free_mem(in);
  MPI_Free_mem(out);
}

MPI_Info info_of(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (key) MPI_Info_set(info, key, value);
  return info;
}

void infos() {
  step("info keys");
  const struct {
    const char *key, *value;
    bool ours;
  } kCases[] = {{nullptr, "", true},
                {"mpi_minimum_memory_alignment", "64", true},
                {"mpi_minimum_memory_alignment", "1048576", true},
                {"mpi_minimum_memory_alignment", "4194304", false},
                {"alloc_shm", "true", false},
                {"mpi_memory_alloc_kinds", "system", false}};
  for (const auto& [key, value, ours] : kCases) {
    MPI_Info info = info_of(key, value);
    int* const memory = allocate(kBytes, info);
    CHECK(is_born_shared(memory) == (ours && expected()), "%s=%s", key ? key : "", value);
    const auto alignment = ours && key ? std::strtoul(value, nullptr, 10) : 1;
    CHECK(!expected() || reinterpret_cast<std::uintptr_t>(memory) % alignment == 0, "%s", value);
    std::fill(memory, memory + kCount, 1);
    MPI_Free_mem(memory);
    if (key && ours) {  // another key besides
      MPI_Info_set(info, "alloc_shm", "true");
      int* const other = allocate(kBytes, info);
      CHECK(!is_born_shared(other), "%s", value);
      MPI_Free_mem(other);
    }
    MPI_Info_free(&info);
  }
}

void sizes_and_errors() {
  step("sizes");
  for (const MPI_Aint bytes : {MPI_Aint{0}, MPI_Aint{1}, MPI_Aint{65535}}) {
    void* memory = nullptr;
    CHECK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS, "%ld",
          static_cast<long>(bytes));
    CHECK(!memory || !is_born_shared(memory), "%ld", static_cast<long>(bytes));
    MPI_Free_mem(memory);
  }
  int* const least = allocate(65536);
  CHECK(is_born_shared(least) == expected());
  MPI_Free_mem(least);
  step("errors");
  return_errors();
  void* memory = nullptr;
  CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) != MPI_SUCCESS);
  CHECK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, nullptr) != MPI_SUCCESS);
#ifdef OPEN_MPI  // Debian's MPICH takes its own lack of memory for an address
  CHECK(class_of(MPI_Alloc_mem(MPI_Aint{1} << 60, MPI_INFO_NULL, &memory)) == MPI_ERR_NO_MEM);
#endif
  die_of_errors();
}

#if MPI_VERSION >= 4
int in_session() {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  int *const in = allocate(), *const out = allocate();  // before there is a communicator
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sumac-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  CHECK(is_born_shared(in) == expected());
  int direct = 0;
  for (int i = 0; i < 20; ++i) {
    std::fill(in, in + kCount, rank + i);
    MPI_Allreduce(in, out, kCount, MPI_INT, MPI_SUM, comm);
    direct += !std::strcmp(path(), "direct");
    const int sum = ranks * (ranks - 1) / 2 + ranks * i;
    CHECK(std::all_of(out, out + kCount, [=](int value) { return value == sum; }), "%d", out[0]);
  }
  CHECK(!expected() || direct >= 10, "%d of 20", direct);
  MPI_Free_mem(in);
  MPI_Free_mem(out);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return report(checks, failures);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : ".";
  if (argument == "session") {
#if MPI_VERSION >= 4
    return in_session();
#else
    std::printf("SKIPPED: this MPI has no sessions\n");
    return 0;
#endif
  }
  start(argc, argv);
  int* const kept = allocate();  // before there is a communicator
  kept[kCount - 1] = 17;
  messages();
  windows();
  warm_up(MPI_COMM_WORLD);
  messages();
  windows();
  files(argument);
  children();
  infos();
  sizes_and_errors();
  const int status = finish();
  // What was not given back is the program's until it ends, as under the MPIs.
  return kept[kCount - 1] == 17 ? status : 1;
}
