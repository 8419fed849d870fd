// SPDX-License-Identifier: BSD-3-Clause
// Calls every collective on communicators of all ranks, to test what the options change.
//   --late-rank                sets the variable of this process's rank only after Sumac started
//   --differ                   ranks must have found that their options differ
//   --only RANK NAME=VALUE...  (the last argument) sets variables on one rank only
//   --large N                  number of doubles in a message, 1 by default
//   --user, --nonblocking      also makes reductions of these kinds
#include <string>
#include <utility>
#include <vector>

#include "exercise.h"

namespace {

const char* const kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

int launched_rank() {
  for (const char* name : kRankVariables) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return -1;
}

void set_on_one_rank(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--only") != 0 || std::atoi(argv[i + 1]) != launched_rank()) continue;
    for (int s = i + 2; s < argc; ++s) {
      const std::string setting = argv[s];
      const std::size_t equals = setting.find('=');
      setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
  }
}

// Makes a first MPI call, after which Sumac has read its options.
void start_sumac_without_rank() {
  std::vector<std::pair<std::string, std::string>> kept;
  for (const char* name : kRankVariables) {
    if (const char* value = std::getenv(name)) kept.emplace_back(name, value);
    unsetenv(name);
  }
  int initialized = 0;
  MPI_Initialized(&initialized);
  for (const auto& [name, value] : kept) setenv(name.c_str(), value.c_str(), 1);
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
}

struct Exercise {
  int count = 1;
  MPI_Op op = MPI_OP_NULL;
  bool nonblocking = false;

  void run(MPI_Comm comm) const {
    std::vector<double> own(static_cast<std::size_t>(count), test::rank + 1), sums(own.size());
    const double expected = test::ranks * (test::ranks + 1) / 2;
    const auto right = [&](const char* what) {
      bool all = true;
      for (double& sum : sums) all &= std::exchange(sum, -1) == expected;
      CHECK(all, "%s of %d, '%s'", what, count, test::path());
    };
    MPI_Allreduce(own.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm);
    right("all-reduce");
    MPI_Reduce(own.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (test::rank == 0) right("reduce");
    MPI_Bcast(own.data(), count, MPI_DOUBLE, 0, comm);
    CHECK(own.back() == 1);
    MPI_Barrier(comm);
    own.assign(own.size(), test::rank + 1);
    if (op != MPI_OP_NULL) {
      MPI_Allreduce(own.data(), sums.data(), count, MPI_DOUBLE, op, comm);
      right("all-reduce by an operation of its own");
    }
    if (!nonblocking) return;
    MPI_Request request;
    MPI_Iallreduce(own.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right("nonblocking all-reduce");
  }
};

}  // namespace

int main(int argc, char** argv) {
  set_on_one_rank(argc, argv);
  if (test::take_flag(argc, argv, "--late-rank")) start_sumac_without_rank();
  const bool user = test::take_flag(argc, argv, "--user");
  Exercise exercise;
  exercise.nonblocking = test::take_flag(argc, argv, "--nonblocking");
  const bool differ = test::take_flag(argc, argv, "--differ");
  if (argc > 2 && std::strcmp(argv[1], "--large") == 0) exercise.count = std::atoi(argv[2]);
  test::start(argc, argv);
  if (user) MPI_Op_create(add, 1, &exercise.op);
  for (int c = 0; c < 3; ++c) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 4; ++i) exercise.run(comm);
    if (differ) CHECK_HANDED_DOWN("ranks have different SUMAC_ options");
    MPI_Comm_free(&comm);
  }
  if (user) MPI_Op_free(&exercise.op);
  return test::finish();
}
