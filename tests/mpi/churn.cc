// SPDX-License-Identifier: BSD-3-Clause
// Creates, uses and frees thousands of communicators.
// churn COMMUNICATORS [late|budget|met]
//   A hundred are alive at a time: Sumac must serve all, with no more memory than a few need. Some
//   are freed at once, so that the next one of the same ranks finds their team idle; some are freed
//   while a call is under way.
//   late    each has its ranks in another order, so that other neighbours time their lines, and to
//           every second one a rank comes late: no rank waits for ever
//   budget  all are alive at a time, beyond SUMAC_SHM_BUDGET: some are left to the MPI, and after
//           they have been freed the next ones are served again
//   met     some have few calls and some many, of few bytes or many, and a few are alive at a time:
//           all ranks change over to Sumac in the same call, and none later than in the last of
//           many
#include <deque>
#include <string_view>
#include <vector>

#include "exercise.h"

namespace {

using namespace test;

constexpr std::size_t kAlive = 100;

MPI_Comm make(int i) {
  MPI_Comm comm;
  switch (i % 4) {
    case 0:
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      break;
    case 1:
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
      break;
    case 2:
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
      break;
    default:
      // One rank gets MPI_COMM_NULL.
      MPI_Comm_split(MPI_COMM_WORLD, rank == i / 4 % ranks ? MPI_UNDEFINED : 0, rank, &comm);
  }
  return comm;
}

void free_one(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

// Frees the communicator while an all-reduce is under way on it.
void free_under_way(MPI_Comm comm) {
  int size = 0, one = 1, sum = 0;
  MPI_Comm_size(comm, &size);
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size, "%d of %d", sum, size);
}

int mappings_of_sumac() {
  int mappings = 0;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps))
    mappings += !!std::strstr(line, "/memfd:group.sumac");
  if (maps) std::fclose(maps);
  return mappings;
}

void hundred_alive(int total) {
  std::deque<MPI_Comm> alive;
  use(MPI_COMM_WORLD, 5);
  int refused = 0;
  for (int i = 0; i < total; ++i) {
    step("communicator %d of %d", i, total);
    MPI_Comm comm = make(i);
    if (comm != MPI_COMM_NULL) {
      use(comm, i);
      refused += !was_taken();
    }
    if (i % 5 == 0) {
      if (comm != MPI_COMM_NULL) free_under_way(comm);
      continue;
    }
    alive.push_back(comm);
    if (i % 7 == 0) use(MPI_COMM_WORLD, i);
    if (alive.size() > kAlive) {
      free_one(alive.front());
      alive.pop_front();
    }
    if (i % 700 != 699) continue;
    for (MPI_Comm& old : alive) {
      if (old != MPI_COMM_NULL) use(old, i);
      free_one(old);
    }
    alive.clear();
  }
  CHECK(refused == 0, "%d communicators were not served: '%s'", refused, path());
  // The number of mappings is limited by the live communicators, not by all there have been.
  const int mappings = mappings_of_sumac();
  use(MPI_COMM_WORLD, total);
  CHECK_TAKEN();
  const bool may_have_none = goes_over_levels(MPI_COMM_WORLD);  // a rank may be alone on its host
  CHECK((mappings > 0 || may_have_none) && mappings <= static_cast<int>(kAlive) + 60, "%d mappings",
        mappings);
  for (MPI_Comm& comm : alive) free_one(comm);
}

void come_late(int total) {
  for (int i = 0; i < total; ++i) {
    step("communicator %d of %d", i, total);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank * 7 + i) % (ranks + 1), &comm);
    if (rank == i % ranks && i % 2 == 0) usleep(2000);
    use(comm, i);
    CHECK_TAKEN();
    use(comm, i + 1);
    MPI_Comm_free(&comm);
  }
}

void exceed_budget(int total) {
  for (int round = 0; round < 3; ++round) {
    std::vector<MPI_Comm> comms(static_cast<std::size_t>(total));
    int taken = 0, refused = 0;
    for (MPI_Comm& comm : comms) {
      step("round %d, communicator %d", round, taken + refused);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      use(comm, round + taken);
      ++(was_taken() ? taken : refused);
      if (!was_taken()) CHECK_HANDED_DOWN("beyond SUMAC_SHM_BUDGET");
    }
    CHECK(taken > 0 && refused > 0, "%d taken, %d refused", taken, refused);
    for (MPI_Comm& comm : comms) use(comm, 7);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
}

// Each rank knows only whether it has got data from all others itself.
void exchange_lists(MPI_Comm comm, int own, int size, int number) {
  const auto count = [&](int from, int to) {
    return (from + 2 * to + number) % 3 * (number % 7 == 3 ? 4000 : 1);
  };
  std::vector<int> sent, received, from, to;
  std::vector<int> out, in;
  for (int r = 0; r < size; ++r) {
    to.push_back(static_cast<int>(out.size()));
    sent.push_back(count(own, r));
    out.insert(out.end(), static_cast<std::size_t>(sent.back()), 100 * own + r);
    from.push_back(static_cast<int>(in.size()));
    received.push_back(count(r, own));
    in.resize(in.size() + static_cast<std::size_t>(received.back()));
  }
  MPI_Alltoallv(out.data(), sent.data(), to.data(), MPI_INT, in.data(), received.data(),
                from.data(), MPI_INT, comm);
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < received[r]; ++i) CHECK(in[from[r] + i] == 100 * r + own, "from %d", r);
  }
}

// Makes one of the calls in which ranks that have met may agree, or one in which they may not.
void call_once(MPI_Comm comm, int number) {
  int own = 0, size = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &size);
  const int count = number % 7 == 3 ? 5000 : 3;
  std::vector<int> in(static_cast<std::size_t>(count), own + number), out(in.size());
  int* const data = in.data();
  switch (number % 5) {
    case 4:
      exchange_lists(comm, own, size, number);
      break;
    case 0:
      MPI_Bcast(data, count, MPI_INT, number % size, comm);
      CHECK(in.back() == number % size + number, "%d", in.back());
      break;
    case 1:
      MPI_Barrier(comm);
      break;
    default:
      MPI_Allreduce(data, out.data(), count, MPI_INT, MPI_SUM, comm);
      CHECK(out.back() == size * number + size * (size - 1) / 2, "%d", out.back());
  }
}

// Returns whether the last of so many calls was taken, which is the same on all ranks.
bool is_taken_after(MPI_Comm comm, int calls) {
  for (int k = 0; k < calls; ++k) call_once(comm, k + calls);
  call_once(comm, 2);
  const int taken = was_taken();
  int all = 0, any = 0;
  MPI_Allreduce(&taken, &all, 1, MPI_INT, MPI_LAND, comm);
  MPI_Allreduce(&taken, &any, 1, MPI_INT, MPI_LOR, comm);
  CHECK(all == any, "taken by some ranks after %d calls", calls);
  return taken;
}

void meet_again(int total) {
  constexpr int kCalls[] = {0, 1, 2, 4, 5, 9, 30, 150};
  constexpr std::size_t kFew = 4;
  std::deque<MPI_Comm> alive;
  for (int i = 0; i < total; ++i) {
    step("communicator %d of %d", i, total);
    MPI_Comm comm = make(i);
    int size = 1;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    const int calls = kCalls[static_cast<std::size_t>(i * 5 + i / 8) % std::size(kCalls)];
    if (comm != MPI_COMM_NULL) {
      const bool taken = is_taken_after(comm, calls);
      CHECK(taken || size == 1 || calls < 150, "not taken after %d calls: '%s'", calls, path());
    }
    alive.push_back(comm);
    if (alive.size() > kFew || i % 3 == 0) {
      free_one(alive.front());
      alive.pop_front();
    }
  }
  for (MPI_Comm& comm : alive) free_one(comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int total = argc > 1 ? std::atoi(argv[1]) : 300;
  const std::string_view how = argc > 2 ? argv[2] : "";
  if (how == "late") {
    come_late(total);
  } else if (how == "budget") {
    exceed_budget(total);
  } else if (how == "met") {
    meet_again(total);
  } else {
    hundred_alive(total);
  }
  return finish();
}
