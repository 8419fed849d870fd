// SPDX-License-Identifier: BSD-3-Clause
// sumac-simulated, which `sumac simulate` has SimGrid's smpirun start, with all ranks in one
// process that share its globals (-no-privatize). Makes the calls of a job, by Sumac and by SMPI's
// own collectives, and prints a JSON line for each. Usage: sumac-simulated JOB.json Exit status: 0
// done, 2 the job cannot be read.
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "observe/log.h"
#include "simulate/trial.h"

namespace sumac::simulated {
namespace {

// What SMPI prepares in a first call takes a millisecond and more, on 512 ranks. So every case is
// called twice; beyond this size, where that takes long to simulate, the first call is a small one.
constexpr std::size_t kWarmedUp = 64 << 10;

void warm_up(Case one, Communicator* communicator, Board& board) {
  if (one.bytes > kWarmedUp) one.bytes = sizeof(double);
  Trial(one, communicator, board).run();
}

void print(const Case& one, const Outcome& outcome, const std::string& plan) {
  nlohmann::ordered_json json{{"collective", name_of(one.collective)},
                              {"bytes", one.bytes},
                              {"native", one.native},
                              {"nonblocking", one.nonblocking},
                              {"compute", one.compute},
                              {"us", outcome.seconds * 1e6},
                              {"wrong", outcome.wrong},
                              {"plan", plan}};
  std::printf("%s\n", json.dump().c_str());
  std::fflush(stdout);
}

void run_cases(const Job& job, Communicator* communicator, Board& board, int rank) {
  for (const Case& one : job.cases) {
    warm_up(one, communicator, board);
    Trial trial(one, communicator, board);
    const Outcome outcome = trial.run();
    if (rank == 0) print(one, outcome, trial.plan());
  }
}

void run(const Job& job) {
  Process process(job.settings);
  static Board board(job.settings.places.size());
  bool serves = false;
  for (const Case& one : job.cases) serves |= !one.native;
  std::unique_ptr<Communicator> communicator;
  if (serves) communicator = std::make_unique<Communicator>(process, MPI_COMM_WORLD);
  run_cases(job, communicator.get(), board, process.rank);
}

// The job, read by the first rank that comes; null where that fails.
const Job* shared_job(const char* path) {
  static const std::unique_ptr<const Job> job = [&]() -> std::unique_ptr<const Job> {
    try {
      return std::make_unique<const Job>(read_job(path));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "sumac: error[simulation]: %s: %s\n", path, error.what());
      return nullptr;
    }
  }();
  return job.get();
}

}  // namespace
}  // namespace sumac::simulated

extern "C" __attribute__((visibility("default"))) int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const sumac::simulated::Job* const job =
      argc == 2 ? sumac::simulated::shared_job(argv[1]) : nullptr;
  sumac::set_log(sumac::Level::warn, 0);
  if (job) sumac::simulated::run(*job);
  MPI_Finalize();
  return job ? 0 : 2;
}
