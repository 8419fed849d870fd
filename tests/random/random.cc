// SPDX-License-Identifier: BSD-3-Clause
// Random programs of collectives, compared with a serial oracle. All follows from seeds, so a
// program that fails can be run again, and with some of its calls only.
// random [--first SEED] [--count SEEDS] [--calls N] [--most BYTES] [--threads N] [--only 3,7,9]
//        [--calm] [--list] [--unaided] [--devices SEEDS] [--require-taken] [--multiple]
//   --only      the calls to make   --list   rank 0 prints them
//   --calm      without delays      --unaided   the MPI alone, without Sumac
//   --devices   after so many seeds the first stand-in for a run-time of GPUs is loaded
//               (SUMAC_TEST_RUNTIMES), and buffers are in its memory at random, and then others
//   --require-taken   Sumac must serve what it serves on every communicator
#include <algorithm>
#include <string>

#include "devices/device_memory.h"
#include "program.h"

namespace {

using namespace test;
using test::sweep::Options;

void on_alarm_in_programs(int) {
  for (const auto& place : sweep::places) {
    if (!*place) continue;
    char line[512];
    const int used =
        std::snprintf(line, sizeof line, "rank %d of %d: out of time in: %s\n", rank, ranks, place);
    if (write(STDERR_FILENO, line, static_cast<std::size_t>(used)) < 0) return;
  }
  _exit(3);
}

// The value that follows `flag`, which is removed with it; `other` where there is none.
std::string take_value(int& argc, char** argv, const char* flag, const char* other) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], flag) != 0) continue;
    const std::string value = argv[i + 1];
    std::copy(argv + i + 2, argv + argc + 1, argv + i);
    argc -= 2;
    return value;
  }
  return other;
}

std::set<int> numbers(const std::string& list) {
  std::set<int> all;
  for (std::size_t at = 0; at < list.size();) {
    std::size_t used = 0;
    all.insert(std::stoi(list.substr(at), &used));
    at += used + 1;
  }
  return all;
}

struct Command {
  std::uint64_t first, count, devices;
  bool unaided;
  Options options;
};

Command read_arguments(int& argc, char** argv) {
  Command command;
  command.first = std::stoull(take_value(argc, argv, "--first", "1"));
  command.count = std::stoull(take_value(argc, argv, "--count", "1"));
  command.devices = std::stoull(take_value(argc, argv, "--devices", "18446744073709551615"));
  Options& options = command.options;
  options.calls = std::stoi(take_value(argc, argv, "--calls", "40"));
  options.most_bytes = std::stoull(take_value(argc, argv, "--most", "327680"));
  options.threads = std::stoi(take_value(argc, argv, "--threads", "1"));
  options.only = numbers(take_value(argc, argv, "--only", ""));
  options.calm = take_flag(argc, argv, "--calm");
  options.served = take_flag(argc, argv, "--require-taken");
  options.listed = take_flag(argc, argv, "--list");
  command.unaided = take_flag(argc, argv, "--unaided");
  return command;
}

void run_all(const Command& command) {
  sweep::Notes notes;
  sweep::notes = &notes;
  sweep::operand(0);  // made before there are threads
  sweep::operand(1);
  sweep::bases();
  for (std::uint64_t i = 0; i < command.count; ++i) {
    if (i == command.devices) use_device_memory(command.first);
    const long before = failures;
    sweep::run_program(command.first + i, i, command.options);
    if (failures == before) continue;
    std::fprintf(stderr, "rank %d: wrong with seed %llu\n", rank,
                 static_cast<unsigned long long>(command.first + i));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Command command = read_arguments(argc, argv);
  const bool threaded = command.options.threads > 1;
  const int level = threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  const int provided =
      command.unaided ? start_unaided(argc, argv, level) : start(argc, argv, level);
  if (command.unaided) {
    command.options.large = in_sumac<void*>("MPI_Bcast_c");
    command.options.persistent = in_sumac<void*>("MPI_Bcast_init");
  }
  if (command.options.threads < 1 || command.options.threads > sweep::kMostThreads || argc > 1) {
    std::fprintf(stderr, "random: an argument is not understood: %s\n", argv[argc - 1]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  signal(SIGALRM, on_alarm_in_programs);
  if (threaded && provided != MPI_THREAD_MULTIPLE) return end_without_threads();
  run_all(command);
  const long own = sweep::collectives;
  long all = 0;
  MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("collectives: %ld\n", all);
  return command.unaided ? finish_unaided() : finish();
}
