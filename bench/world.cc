// SPDX-License-Identifier: BSD-3-Clause
#include "world.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "machine/line.h"

namespace sumac::bench {
namespace {

constexpr LineTrips kTrips{6, 40};
constexpr std::uint64_t kNever = UINT64_MAX;  // the other side is in the same collective
constexpr char kPattern[] = "/dev/shm/sumac-bench-XXXXXX";

void* map(const char* path, std::size_t bytes) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Makes a file of zeros with a name of its own. Leaves the path empty where that fails.
void make_file(char* path, std::size_t bytes) {
  const int file = mkostemp(path, O_CLOEXEC);
  if (file < 0) {
    path[0] = 0;
    return;
  }
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
    unlink(path);
    path[0] = 0;
  }
  close(file);
}

}  // namespace

struct Line::Cells {
  LineCell there, back;
};

Line::Line(MPI_Comm node, const Functions& native) {
  MPI_Comm_rank(node, &rank_);
  MPI_Comm_size(node, &ranks_);
  if (ranks_ == 1 || ranks_ > sysconf(_SC_NPROCESSORS_ONLN)) return;
  const std::size_t bytes = sizeof(Cells) * static_cast<std::size_t>(ranks_);
  char path[sizeof kPattern];
  std::copy(std::begin(kPattern), std::end(kPattern), path);
  if (rank_ == 0) make_file(path, bytes);
  native.bcast(path, sizeof path, MPI_CHAR, 0, node);
  void* const memory = path[0] ? map(path, bytes) : nullptr;
  const int mine = memory ? 1 : 0;
  int all = 0;
  native.allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, node);
  if (rank_ == 0 && path[0]) unlink(path);
  if (all)
    cells_ = static_cast<Cells*>(memory);
  else if (memory)
    munmap(memory, bytes);
}

Line::~Line() {
  if (cells_) munmap(cells_, sizeof(Cells) * static_cast<std::size_t>(ranks_));
}

double Line::there_and_back() {
  if (!cells_) return 0;
  const std::uint64_t first = next_;
  next_ += static_cast<std::uint64_t>(kTrips.all());
  if (rank_ > 0) {
    Cells& own = cells_[rank_];
    return_line(own.there, own.back, first, kNever, kTrips);
    return 0;
  }
  double slowest = 0;
  for (int peer = 1; peer < ranks_; peer++) {
    Cells& cells = cells_[peer];
    slowest = std::max(slowest, send_line(cells.there, cells.back, first, {kNever}, kTrips));
  }
  return slowest;
}

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
