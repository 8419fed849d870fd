// SPDX-License-Identifier: BSD-3-Clause
// Cartesian and graph communicators: Sumac serves their reductions as any communicator's, whatever
// ranks the MPI gave new numbers, and passes neighbourhood collectives on to the MPI.
#include <vector>

#include "exercise.h"

namespace {

using namespace test;

void expect_served(MPI_Comm comm) {
  for (int i = 0; i < 5; ++i) use(comm, i);
  CHECK_TAKEN();
}

// What rank `from` sends to its neighbour number `slot`.
int word(int from, int slot) { return 100 * from + slot; }

// Each rank sends one word to each of its `out` neighbours and the MPI delivers those of the `in`
// neighbours, in order: all-gathers, all-to-alls, blocking and not.
void exchange(MPI_Comm comm, const std::vector<int>& in, std::size_t out) {
  int own = 0;
  MPI_Comm_rank(comm, &own);
  std::vector<int> sent(out + 1), got(in.size() + 1, -1), lengths(in.size() + 1, 1), places;
  for (std::size_t i = 0; i <= out; ++i) sent[i] = word(own, static_cast<int>(i));
  for (std::size_t i = 0; i <= in.size(); ++i) places.push_back(static_cast<int>(i));
  const auto expect = [&](const char* what, bool blocks_differ) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] == MPI_PROC_NULL) continue;
      const bool right = blocks_differ ? got[i] / 100 == in[i] : got[i] == word(in[i], 0);
      CHECK(right, "%s: %d from %d", what, got[i], in[i]);
    }
    CHECK(got.back() == -1, "%s", what);
    got.assign(got.size(), -1);
  };
  MPI_Request request;
  MPI_Neighbor_allgather(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
  expect("Neighbor_allgather", false);
  MPI_Neighbor_allgatherv(sent.data(), 1, MPI_INT, got.data(), lengths.data(), places.data(),
                          MPI_INT, comm);
  expect("Neighbor_allgatherv", false);
  MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
  expect("Neighbor_alltoall", true);
  MPI_Ineighbor_allgather(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm, &request);
  int before = own, sum = 0, size = 0;
  MPI_Allreduce(&before, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_size(comm, &size);
  CHECK(sum == size * (size - 1) / 2, "beside it: %d", sum);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("Ineighbor_allgather", false);
  MPI_Ineighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("Ineighbor_alltoall", true);
}

// A persistent neighbourhood collective: Sumac exports its name on every MPI.
void exchange_persistently(MPI_Comm comm, const std::vector<int>& in) {
  using Init = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                       MPI_Request*);
  const auto init = in_sumac<Init>("MPI_Neighbor_allgather_init");
  int own = 0, sent = 0;
  MPI_Comm_rank(comm, &own);
  std::vector<int> got(in.size() + 1, -1);
  MPI_Request request;
  if (!CHECK(init(&sent, 1, MPI_INT, got.data(), 1, MPI_INT, comm, MPI_INFO_NULL, &request) ==
             MPI_SUCCESS)) {
    return;
  }
  for (int round = 0; round < 3; ++round) {
    sent = word(own, round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] != MPI_PROC_NULL) CHECK(got[i] == word(in[i], round), "%d of %d", got[i], in[i]);
    }
  }
  MPI_Request_free(&request);
}

void test_grid(bool periodic, bool reorder) {
  step("grid%s%s", periodic ? ", periodic" : "", reorder ? ", reordered" : "");
  int sides[2] = {0, 0}, periods[2] = {periodic, periodic}, place[2], again = -1, own = -1;
  MPI_Dims_create(ranks, 2, sides);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, reorder, &grid);
  MPI_Comm_rank(grid, &own);
  MPI_Cart_coords(grid, own, 2, place);
  MPI_Cart_rank(grid, place, &again);
  CHECK(again == own, "%d of %d", again, own);
  expect_served(grid);
  std::vector<int> neighbours(4);
  for (int d = 0; d < 2; ++d) {
    const auto first = static_cast<std::size_t>(2 * d);
    MPI_Cart_shift(grid, d, 1, &neighbours[first], &neighbours[first + 1]);
  }
  exchange(grid, neighbours, 4);
  exchange_persistently(grid, neighbours);
  for (int d = 0; d < 2; ++d) {
    int keeps[2] = {d == 0, d == 1}, size = 0, sum = -1;
    MPI_Comm line;
    MPI_Cart_sub(grid, keeps, &line);
    MPI_Comm_size(line, &size);
    CHECK(size == sides[d], "%d of %d", size, sides[d]);
    for (int i = 0; i < 5; ++i) use(line, i);
    CHECK_TAKEN();
    // The other coordinate is that of the line: all of its members have the same.
    MPI_Allreduce(&place[1 - d], &sum, 1, MPI_INT, MPI_SUM, line);
    CHECK(sum == place[1 - d] * size, "%d", sum);
    MPI_Comm_free(&line);
  }
  MPI_Comm_free(&grid);
}

// Ranks outside of a smaller grid get no communicator.
void test_small_grid() {
  step("grid of some ranks");
  int side = (ranks + 1) / 2, period = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &side, &period, 1, &ring);
  if (ring == MPI_COMM_NULL) return;
  expect_served(ring);
  MPI_Comm_free(&ring);
}

void test_graph() {
  if (ranks < 2) return;  // an MPI may refuse a graph without edges
  step("graph");          // a star around rank 0
  std::vector<int> ends, edges;
  for (int i = 1; i < ranks; ++i) edges.push_back(i);
  ends.push_back(ranks - 1);
  for (int i = 1; i < ranks; ++i) {
    edges.push_back(0);
    ends.push_back(ranks - 1 + i);
  }
  MPI_Comm star;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends.data(), edges.data(), 0, &star);
  expect_served(star);
  int own = 0, count = 0;
  MPI_Comm_rank(star, &own);
  MPI_Graph_neighbors_count(star, own, &count);
  std::vector<int> neighbours(static_cast<std::size_t>(count) + 1);
  MPI_Graph_neighbors(star, own, count, neighbours.data());
  neighbours.resize(static_cast<std::size_t>(count));
  exchange(star, neighbours, neighbours.size());
  MPI_Comm_free(&star);
}

// Each rank sends to the next one and, if even, to rank 0.
void test_distributed_graph(bool adjacent) {
  step("distributed graph%s", adjacent ? ", adjacent" : "");
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  std::vector<int> to{next}, from{last};
  if (rank % 2 == 0) to.push_back(0);
  for (int r = 0; rank == 0 && r < ranks; r += 2) from.push_back(r);
  const int outs = static_cast<int>(to.size()), ins = static_cast<int>(from.size());
  MPI_Comm graph;
  if (adjacent) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from.data(), MPI_UNWEIGHTED, outs,
                                   to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  } else {
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &outs, to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                          0, &graph);
  }
  expect_served(graph);
  int in = 0, out = 0, weighted = 1;
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == ins && out == outs && !weighted, "%d %d %d", in, out, weighted);
  std::vector<int> sources(from.size()), targets(to.size());
  MPI_Dist_graph_neighbors(graph, in, sources.data(), MPI_UNWEIGHTED, out, targets.data(),
                           MPI_UNWEIGHTED);
  exchange(graph, sources, targets.size());
  MPI_Comm copy;
  MPI_Comm_dup(graph, &copy);
  expect_served(copy);
  exchange(copy, sources, targets.size());
  MPI_Comm_free(&copy);
  MPI_Comm_free(&graph);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  for (const bool periodic : {false, true}) {
    for (const bool reorder : {false, true}) test_grid(periodic, reorder);
  }
  test_small_grid();
  test_graph();
  for (const bool adjacent : {false, true}) test_distributed_graph(adjacent);
  return finish();
}
