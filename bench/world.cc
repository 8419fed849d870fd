// SPDX-License-Identifier: BSD-3-Clause
#include "world.h"

namespace sumac::bench {

World::World() : called(as_called()), native(of_the_mpi()) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_dup(comm, &control);
  MPI_Comm node;
  MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank_in_node;
  MPI_Comm_rank(node, &rank_in_node);
  line = std::make_unique<Line>(node, native);
  MPI_Comm_free(&node);
  hosts = static_cast<int>(sum(rank_in_node == 0 ? 1 : 0));
}

long World::sum(long value) const {
  long total = 0;
  native.allreduce(&value, &total, 1, MPI_LONG, MPI_SUM, control);
  return total;
}

double World::line_ns() const {
  const double mine = line->there_and_back();
  double longest = 0;
  native.reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, control);
  return longest;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text);
  return version.substr(0, version.find('\n'));
}

Surroundings surroundings(const World& world) {
  return {library_version(), SUMAC_BENCH_FAMILY, world.ranks, world.hosts,
          world.line_ns(),   presence(),         {}};
}

}  // namespace sumac::bench
