// SPDX-License-Identifier: BSD-3-Clause
// sumac_pause() and sumac_stats(): blocks of calls that are the MPI's, between calls that are not,
// on communicators that are set up and on others, beside operations that go on, and of one thread
// alone.
// pause TURNS
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

constexpr const char* kPaused = "left out by SUMAC_COLLS, or paused by the program";

int pause() { return in_sumac<int (*)()>("sumac_pause")(); }
int resume() { return in_sumac<int (*)()>("sumac_resume")(); }
std::size_t stats(char* text, std::size_t size) {
  return in_sumac<std::size_t (*)(char*, std::size_t)>("sumac_stats")(text, size);
}

// Calls of this process until now that were handed down since the program had paused Sumac.
long paused_calls() {
  std::string text(stats(nullptr, 0) + 1, ' ');
  stats(text.data(), text.size());
  long calls = 0;
  const std::string path = std::string("\"mpi: ") + kPaused + "\"", key = "\"calls\": ";
  for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos; ++at) {
    calls += std::atol(text.c_str() + text.find(key, at) + key.size());
  }
  return calls;
}

void expect(MPI_Comm comm, int seed, bool paused) {
  use(comm, seed);
  if (paused) {
    CHECK_HANDED_DOWN(kPaused);
  } else {
    CHECK_TAKEN();
  }
}

void test_before_start() {
  CHECK(pause() == 0 && resume() == 0 && stats(nullptr, 0) == 0, "before MPI_Init");
}

void test_blocks() {
  step("blocks");
  const long before = paused_calls();
  expect(MPI_COMM_WORLD, 1, false);
  CHECK(pause() == 1);
  expect(MPI_COMM_WORLD, 2, true);
  pause();
  expect(MPI_COMM_WORLD, 3, true);
  resume();
  expect(MPI_COMM_WORLD, 4, true);
  CHECK(resume() == 1);
  expect(MPI_COMM_WORLD, 5, false);
  resume();  // once too often
  expect(MPI_COMM_WORLD, 6, false);
  pause();
  expect(MPI_COMM_WORLD, 7, true);
  int in = 3, inout = 4;
  MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_SUM);
  CHECK_HANDED_DOWN(kPaused);
  CHECK(inout == 7);
  resume();
  const long counted = paused_calls() - before;
  CHECK(counted == 4 * 3 + 1, "%ld calls counted", counted);  // use() makes three
}

void test_text() {
  step("text");
  const std::size_t size = stats(nullptr, 0);
  std::string all(size + 1, '?'), part(10, '?');
  CHECK(stats(all.data(), all.size()) == size && all[size] == 0 && all[size - 1] == '\n');
  CHECK(stats(part.data(), 5) == size && part.compare(0, 4, all, 0, 4) == 0);
  CHECK(part[4] == 0 && part[5] == '?');
  CHECK(all.rfind("{\"served\": ", 0) == 0, "%.40s", all.c_str());
}

// Random blocks, alike on all ranks, on the world and on communicators that are not set up yet.
void test_random(int turns) {
  step("random blocks");
  std::mt19937 same(7);
  MPI_Comm comm = MPI_COMM_NULL;
  int paused = 0;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn % 40 == 0) {
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    if (same() % 3 == 0) {
      const bool more = paused == 0 || same() % 3 == 0;
      paused += more ? pause() : -resume();
    }
    if (same() % 2) {
      expect(MPI_COMM_WORLD, turn, paused > 0);
    } else {
      use(comm, turn);  // its first calls are the MPI's
    }
  }
  while (paused > 0) paused -= resume();
  expect(comm, 1, false);
  MPI_Comm_free(&comm);
}

void test_requests() {
  step("operations that go on");
  int one = 1, sum = 0, mine = rank, most = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  pause();
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK_HANDED_DOWN(kPaused);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == ranks && most == ranks - 1, "%d %d", sum, most);
  MPI_Iallreduce(&mine, &most, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  CHECK_HANDED_DOWN(kPaused);
  resume();
  use(MPI_COMM_WORLD, 8);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(most == ranks * (ranks - 1) / 2, "%d", most);
}

void test_persistent() {
  step("persistent operations");
  int mine = 0, sum = 0;
  MPI_Request request;
  inits().Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  CHECK_TAKEN();
  for (int i = 0; i < 6; ++i) {
    if (i == 2) pause();
    if (i == 4) resume();
    mine = rank + i;
    MPI_Start(&request);
    use(MPI_COMM_WORLD, i);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == ranks * (ranks - 1) / 2 + i * ranks, "%d, turn %d", sum, i);
  }
  MPI_Request_free(&request);
}

// Another thread's pause says nothing about this one's calls.
void test_threads() {
  step("threads");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  std::thread other([&] {
    pause();
    for (int i = 0; i < 20; ++i) expect(comm, i, true);
  });
  for (int i = 0; i < 20; ++i) expect(MPI_COMM_WORLD, i, false);
  other.join();  // still paused: nobody else is
  expect(comm, 1, false);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  test_before_start();
  const int level = start(argc, argv, MPI_THREAD_MULTIPLE);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  test_blocks();
  test_text();
  test_random(argc > 1 ? std::atoi(argv[1]) : 200);
  test_requests();
  test_persistent();
  if (level == MPI_THREAD_MULTIPLE) test_threads();
  return finish();
}
