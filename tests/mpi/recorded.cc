// SPDX-License-Identifier: BSD-3-Clause
// Makes random collective calls that all ranks choose alike, of all functions and forms, and writes
// how many of each it has made, and of how many elements, into FOLDER/rank-R.made.
//
//   recorded FOLDER CALLS SEED [--die CALL]     the last rank kills itself before a call
#include <signal.h>

#include <cinttypes>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace {

using test::in_sumac;

constexpr int kMostElements = 500;
constexpr int kMostOpen = 6;  // requests

struct Made {
  long calls = 0, elements = 0;
};
std::map<std::string, Made> made;

void note(const char* function, const char* form, long elements) {
  Made& entry = made[std::string(function) + ' ' + form];
  ++entry.calls;
  entry.elements += elements;
}

void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  const auto* from = static_cast<const double*>(in);
  auto* into = static_cast<double*>(inout);
  for (int i = 0; i < *count * size / 8; ++i) into[i] += from[i];
}

using AllreduceInit = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                              MPI_Request*);
using BcastInit = int (*)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
using AllreduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

struct Comm {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;

  explicit Comm(MPI_Comm c) : comm(c) {
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
  }
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed), memory_(std::size_t{4} << 20) {
    MPI_Comm other[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &other[0]);
    MPI_Comm_split(MPI_COMM_WORLD, test::rank % 2, -test::rank, &other[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test::rank, &other[2]);
    MPI_Comm_set_name(other[1], "halves, backwards");
    comms_ = {Comm(MPI_COMM_WORLD), Comm(other[0]), Comm(other[1]), Comm(other[2])};
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &vector_);
    MPI_Type_commit(&vector_);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair_);
    MPI_Type_commit(&pair_);
    MPI_Op_create(add_pairs, 1, &op_);
  }
  ~Program() {
    wait_all();
    MPI_Op_free(&op_);
    MPI_Type_free(&pair_);
    MPI_Type_free(&vector_);
    for (std::size_t i = 1; i < comms_.size(); ++i) MPI_Comm_free(&comms_[i].comm);
  }

  void step() {
    const Comm& c = comms_[pick(static_cast<int>(comms_.size()))];
    const int count = 1 + pick(kMostElements), root = pick(2), function = pick(12);
    const int form = pick(3);
    const bool in_place = pick(4) == 0;
    if (open_.size() >= kMostOpen) wait_some();
    if (form == 0) return block(c, function, count, root % c.size, in_place);
    if (form == 1) return begin(c, function, count, root % c.size);
    persist(c, function, count, root % c.size);
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  // A place in the memory that nothing under way uses.
  char* room(std::size_t bytes) {
    if (used_ + bytes + 64 > memory_.size()) {
      wait_all();
      used_ = 0;
    }
    char* const at = memory_.data() + used_;
    used_ += (bytes + 63) / 64 * 64;
    return at;
  }
  // For a block of each rank: the same on all ranks, so that they make the same calls.
  static std::size_t blocks(int count) {
    return static_cast<std::size_t>(count) * 64 * static_cast<std::size_t>(test::ranks);
  }
  // Parts that grow with the rank.
  static void parts(const Comm& c, int count, std::vector<int>& counts, std::vector<int>& places) {
    counts.clear();
    places.clear();
    for (int r = 0; r < c.size; ++r) {
      places.push_back(r * count);
      counts.push_back(count * (r + 1) / c.size);
    }
  }

  void block(const Comm& c, int function, int n, int root, bool in_place) {
    char *a = room(blocks(n)), *b = room(blocks(n));
    const void* from = in_place ? MPI_IN_PLACE : a;
    static std::vector<int> counts, places, each;
    parts(c, n, counts, places);
    switch (function) {
      case 0:
        note("allreduce", "blocking", n);
        MPI_Allreduce(from, b, n, MPI_DOUBLE, MPI_SUM, c.comm);
        return;
      case 1:
        note("allreduce", "blocking", n);
        MPI_Allreduce(from, b, n, pair_, op_, c.comm);
        return;
      case 2: {
        note("reduce", "blocking", n);
        const bool gets = c.rank == root;
        MPI_Reduce(gets ? from : a, gets ? b : nullptr, n, MPI_INT, MPI_MAX, root, c.comm);
        return;
      }
      case 3:
        note("bcast", "blocking", n);
        MPI_Bcast(a, n, vector_, root, c.comm);
        return;
      case 4:
        note("barrier", "blocking", 0);
        MPI_Barrier(c.comm);
        return;
      case 5:
        note("reduce_scatter_block", "blocking", n);
        MPI_Reduce_scatter_block(a, b, n, MPI_LONG, MPI_BXOR, c.comm);
        return;
      case 6:
        note("reduce_scatter", "blocking", total(counts));
        MPI_Reduce_scatter(a, b, counts.data(), MPI_FLOAT, MPI_MIN, c.comm);
        return;
      case 7:
        note("allgather", "blocking", n);
        MPI_Allgather(from, n, MPI_SHORT, b, n, MPI_SHORT, c.comm);
        return;
      case 8:
        note("allgatherv", "blocking", total(counts));
        MPI_Allgatherv(a, counts[static_cast<std::size_t>(c.rank)], MPI_CHAR, b, counts.data(),
                       places.data(), MPI_CHAR, c.comm);
        return;
      case 9:
        note("alltoall", "blocking", n);
        MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, c.comm);
        return;
      default:
        exchange(c, n, function == 11, a, b, nullptr);
    }
  }

  // All ranks give each other as many: c.size + 1 for each unit.
  void exchange(const Comm& c, int n, bool by_types, char* a, char* b, MPI_Request* request) {
    const auto size = static_cast<std::size_t>(c.size);
    lists_.emplace_back(size, n);
    const int* const counts = lists_.back().data();
    lists_.emplace_back();
    for (int r = 0; r < c.size; ++r) lists_.back().push_back(r * n * (by_types ? 8 : 1));
    const int* const places = lists_.back().data();
    types_.emplace_back(size, MPI_DOUBLE);
    const MPI_Datatype* const types = types_.back().data();
    const char* const form = request ? "nonblocking" : "blocking";
    note(by_types ? "alltoallw" : "alltoallv", form, long{n} * c.size);
    if (by_types && request) {
      MPI_Ialltoallw(a, counts, places, types, b, counts, places, types, c.comm, request);
    } else if (by_types) {
      MPI_Alltoallw(a, counts, places, types, b, counts, places, types, c.comm);
    } else if (request) {
      MPI_Ialltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, c.comm, request);
    } else {
      MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, c.comm);
    }
  }

  void begin(const Comm& c, int function, int n, int root) {
    char *a = room(blocks(n)), *b = room(blocks(n));
    MPI_Request request = MPI_REQUEST_NULL;
    switch (function % 6) {
      case 0:
        note("allreduce", "nonblocking", n);
        MPI_Iallreduce(a, b, n, MPI_DOUBLE, MPI_MAX, c.comm, &request);
        break;
      case 1:
        note("bcast", "nonblocking", n);
        MPI_Ibcast(a, n, MPI_INT, root, c.comm, &request);
        break;
      case 2:
        note("barrier", "nonblocking", 0);
        MPI_Ibarrier(c.comm, &request);
        break;
      case 3:
        note("allgather", "nonblocking", n);
        MPI_Iallgather(a, n, MPI_INT, b, n, MPI_INT, c.comm, &request);
        break;
      default:
        exchange(c, n, function % 6 == 5, a, b, &request);
    }
    open_.push_back(request);
  }

  void persist(const Comm& c, int function, int n, int root) {
    static const auto allreduce_init = in_sumac<AllreduceInit>("MPI_Allreduce_init");
    static const auto bcast_init = in_sumac<BcastInit>("MPI_Bcast_init");
    static const auto allreduce_c = in_sumac<AllreduceLarge>("MPI_Allreduce_c");
    char *a = room(blocks(n)), *b = room(blocks(n));
    if (function < 3) {
      note("allreduce", "blocking", n);
      allreduce_c(a, b, n, MPI_INT, MPI_SUM, c.comm);
      return;
    }
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (function % 2 == 0) {
      allreduce_init(a, b, n, MPI_FLOAT, MPI_MIN, c.comm, MPI_INFO_NULL, &requests[0]);
      note("allreduce", "persistent", n);
    } else {
      bcast_init(a, n, MPI_INT, root, c.comm, MPI_INFO_NULL, &requests[0]);
      note("bcast", "persistent", n);
    }
    for (int i = 0; i < 3; ++i) {
      note("-", "start", 0);
      if (i == 0) {
        MPI_Startall(1, requests);
      } else {
        MPI_Start(&requests[0]);
      }
      int index = 0, done = 0;
      if (i == 0) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      while (i == 1 && !done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
      if (i == 2) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      note("-", "end", 0);
    }
    MPI_Request_free(&requests[0]);
  }

  // Ends one request at least, and notes which.
  void wait_some() {
    const auto count = static_cast<int>(open_.size());
    int index = 0;
    std::vector<int> indices(open_.size());
    if (pick(3) == 0) return wait_all();
    if (pick(2) == 0) {
      int ended = 0;
      MPI_Waitsome(count, open_.data(), &ended, indices.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < ended; ++i) note("-", "end", 0);
      std::erase(open_, MPI_REQUEST_NULL);
    } else {
      MPI_Waitany(count, open_.data(), &index, MPI_STATUS_IGNORE);
      note("-", "end", 0);
      open_.erase(open_.begin() + index);
    }
    // Ranks that ended fewer would make other calls than the others.
    wait_all();
  }
  void wait_all() {
    for (std::size_t i = 0; i < open_.size(); ++i) note("-", "end", 0);
    MPI_Waitall(static_cast<int>(open_.size()), open_.data(), MPI_STATUSES_IGNORE);
    open_.clear();
    lists_.clear();
    types_.clear();
  }
  static long total(const std::vector<int>& counts) {
    long sum = 0;
    for (const int count : counts) sum += count;
    return sum;
  }

  std::mt19937 random_;
  std::vector<char> memory_;
  std::size_t used_ = 0;
  std::vector<Comm> comms_;
  std::vector<MPI_Request> open_;
  std::vector<std::vector<int>> lists_;
  std::vector<std::vector<MPI_Datatype>> types_;
  MPI_Datatype vector_, pair_;
  MPI_Op op_;
};

void write(const char* folder) {
  const std::string path = std::string(folder) + "/rank-" + std::to_string(test::rank) + ".made";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (!CHECK(file, "cannot write %s", path.c_str())) return;
  for (const auto& [what, how] : made) {
    std::fprintf(file, "%s %ld %ld\n", what.c_str(), how.calls, how.elements);
  }
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  test::start(argc, argv);
  const bool dies = test::take_flag(argc, argv, "--die");
  const int calls = std::atoi(argv[2]);
  {
    Program program(static_cast<unsigned>(std::atoi(argv[3])));
    for (int i = 0; i < calls; ++i) {
      if (dies && i == std::atoi(argv[4]) && test::rank == test::ranks - 1) raise(SIGKILL);
      program.step();
    }
  }
  write(argv[1]);
  return test::finish();
}
