// SPDX-License-Identifier: BSD-3-Clause
// What the test programs share: checks that count failures and let the program go on, questions to
// Sumac about how it served a call, and the MPI's own functions to compare with.
#pragma once

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace test {

inline std::atomic<long> checks{0}, failures{0};
inline int rank = 0, ranks = 1;  // of MPI_COMM_WORLD

__attribute__((format(printf, 2, 0))) inline void say(const char* where, const char* format,
                                                      va_list arguments) {
  char line[512];
  int used = std::snprintf(line, sizeof line, "rank %d of %d: %s ", rank, ranks, where);
  used +=
      std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used), format, arguments);
  if (used > static_cast<int>(sizeof line) - 2) used = static_cast<int>(sizeof line) - 2;
  line[used++] = '\n';
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(used)) < 0) return;
}

__attribute__((format(printf, 3, 4))) inline bool check(bool right, const char* where,
                                                        const char* format, ...) {
  ++checks;
  if (right || ++failures > 20) return right;
  va_list arguments;
  va_start(arguments, format);
  say(where, format, arguments);
  va_end(arguments);
  return false;
}

#define SUMAC_TEST_TEXT(x) #x
#define SUMAC_TEST_LINE(x) SUMAC_TEST_TEXT(x)
// CHECK(condition, format...) counts and prints a failure and goes on. Its value is the value of
// the condition.
#define CHECK(condition, ...)                 \
  ::test::check(static_cast<bool>(condition), \
                __FILE_NAME__ ":" SUMAC_TEST_LINE(__LINE__) ": " #condition, " " __VA_ARGS__)

// The step that the program is in, for the message printed when a rank hangs.
inline char step_text[160] = "start";
__attribute__((format(printf, 1, 2))) inline void step(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(step_text, sizeof step_text, format, arguments);
  va_end(arguments);
}

inline void on_alarm(int) {
  char line[256];
  const int used = std::snprintf(line, sizeof line, "rank %d of %d: out of time in: %s\n", rank,
                                 ranks, step_text);
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(used)) < 0) return;
  _exit(3);
}

template <class Function>
Function in_sumac(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

inline bool is_active() {
  static const auto active = in_sumac<int (*)()>("sumac_active");
  return active && active();
}

// How this thread's last collective was served: an algorithm's name, or "mpi: " and a reason.
inline const char* path() {
  static const auto last_path = in_sumac<const char* (*)()>("sumac_last_path");
  return last_path ? last_path() : "mpi: Sumac is not loaded";
}
inline bool was_taken() { return *path() && std::strncmp(path(), "mpi: ", 5) != 0; }
inline bool was_handed_down(const char* reason) {
  return std::strncmp(path(), "mpi: ", 5) == 0 && std::strcmp(path() + 5, reason) == 0;
}

// Makes a reduction. Returns true if it went over a hierarchy, which adds floating-point numbers in
// another order than a serial loop.
inline bool goes_over_levels(MPI_Comm comm) {
  const double own = 1;
  double sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  int size = 0;
  MPI_Comm_size(comm, &size);
  CHECK(sum == size, "%g", sum);
  for (const char* name :
       {"levels", "passive", "multi_leader", "all_ranks", "all_ranks_peers", "flat"}) {
    if (std::strcmp(path(), name) == 0) return true;
  }
  return false;
}
#define CHECK_TAKEN() CHECK(::test::was_taken(), "path '%s'", ::test::path())
#define CHECK_HANDED_DOWN(reason) \
  CHECK(::test::was_handed_down(reason), "%s: path '%s'", reason, ::test::path())

// With --require-taken, tests check that Sumac serves nonblocking and persistent operations: they
// call forget_path() before an operation is started and expect_taken_nonblocking() after it.
inline bool require_taken = false;
inline std::atomic<long> taken_nonblocking{0};

// Makes path() say "mpi: ...", by a reduction that is never Sumac's, so that the path of an earlier
// call is not mistaken for that of the next.
inline void leave_path() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  static const MPI_Op op = [] {
    MPI_Op made;
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &made);
    return made;
  }();
  int in = 0, out = 0;
  MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  CHECK(!was_taken(), "path '%s'", path());
}
inline void forget_path() {
  if (require_taken) leave_path();
}

// The last operation must have been served by Sumac, or left to the MPI because the rules prefer it
// at this size.
inline void expect_taken_nonblocking(const char* what) {
  if (!require_taken) return;
  if (was_taken()) ++taken_nonblocking;
  CHECK(was_taken() || was_handed_down("the rules prefer the MPI here"), "%s: path '%s'", what,
        path());
}

inline int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

// The MPI's own functions, called directly and not through Sumac.
struct Native {
  decltype(&PMPI_Allreduce) Allreduce;
  decltype(&PMPI_Reduce) Reduce;
  decltype(&PMPI_Bcast) Bcast;
  decltype(&PMPI_Barrier) Barrier;
  decltype(&PMPI_Reduce_local) Reduce_local;
  decltype(&PMPI_Pack) Pack = nullptr;
  decltype(&PMPI_Unpack) Unpack = nullptr;
};

inline const Native& native() {
  static const Native functions = [] {
    Native n{};
    const auto find = in_sumac<void* (*)(const char*)>("sumac_native");
    if (!find) std::abort();
    const auto get = [&]<class Function>(Function& function, const char* name) {
      function = reinterpret_cast<Function>(find(name));
    };
    get(n.Allreduce, "MPI_Allreduce");
    get(n.Reduce, "MPI_Reduce");
    get(n.Bcast, "MPI_Bcast");
    get(n.Barrier, "MPI_Barrier");
    get(n.Reduce_local, "MPI_Reduce_local");
    get(n.Pack, "MPI_Pack");
    get(n.Unpack, "MPI_Unpack");
    return n;
  }();
  return functions;
}

// Makes the first calls, which go to the MPI. True when Sumac serves the communicator afterwards.
inline bool warm_up(MPI_Comm comm) {
  for (int i = 0; i < 3; ++i) MPI_Barrier(comm);
  return was_taken();
}

// Removes `flag` from the arguments. True if it was there.
inline bool take_flag(int& argc, char** argv, const char* flag) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], flag) != 0) continue;
    for (--argc; i <= argc; ++i) argv[i] = argv[i + 1];
    return true;
  }
  return false;
}

// Set by --linked: Sumac is linked behind the MPI, so the program's calls do not pass through it.
inline bool only_linked = false;

// A rank that runs longer than SUMAC_TEST_SECONDS prints the step it is in, and exits.
inline void limit_time() {
  const char* seconds = std::getenv("SUMAC_TEST_SECONDS");
  signal(SIGALRM, on_alarm);
  if (seconds) alarm(static_cast<unsigned>(std::atoi(seconds)));
}

// Starts MPI where some ranks, or all, may be without Sumac.
inline int start_unaided(int& argc, char**& argv, int level = MPI_THREAD_SINGLE) {
  limit_time();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return provided;
}

// Starts MPI, with MPI_THREAD_MULTIPLE if --multiple is given.
inline int start(int& argc, char**& argv, int level = MPI_THREAD_SINGLE) {
  require_taken = take_flag(argc, argv, "--require-taken");
  only_linked = take_flag(argc, argv, "--linked");
  if (take_flag(argc, argv, "--multiple")) level = MPI_THREAD_MULTIPLE;
  const int provided = start_unaided(argc, argv, level);
  if (!CHECK(is_active() != only_linked, "Sumac does%s serve this program",
             only_linked ? "" : " not")) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return provided;
}

// Whether any of the ranks, or all, say so.
inline bool on_any(bool here) {
  int own = here, all = 0;
  native().Allreduce(&own, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  return all != 0;
}
inline bool on_all(bool here) { return !on_any(!here); }

// Rank 0 prints a line by which the test counts as skipped.
inline void skip(const char* reason) {
  if (rank == 0) std::printf("SKIPPED: %s\n", reason);
}
// The same of a program that can do nothing here: it ends. Returns its exit status.
inline int end_skipped(const char* reason) {
  skip(reason);
  MPI_Finalize();
  return 0;
}
inline int end_without_threads() {
  return end_skipped("this MPI does not grant MPI_THREAD_MULTIPLE");
}

// Prints a line that the launching script looks for, and returns the program's exit status.
inline int report(long all_checks, long all_failures, const char* with_sumac = "") {
  if (rank == 0) {
    std::printf("%s: %ld checks on %d ranks%s, %ld failed\n", all_failures ? "FAILED" : "passed",
                all_checks, ranks, with_sumac, all_failures);
    std::fflush(stdout);
  }
  return all_failures ? 1 : 0;
}

// Ends MPI; rank 0 reports.
inline int finish() {
  step("the end");
  CHECK(!require_taken || taken_nonblocking > 0, "no operation was served by Sumac");
  const long own[2] = {checks, failures};
  long all[2] = {};
  native().Allreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return report(all[0], all[1]);
}

// The same after start_unaided(); how many ranks had Sumac is reported, too.
inline int finish_unaided() {
  step("the end");
  const long own[3] = {checks, failures, is_active()};
  long all[3] = {};
  MPI_Allreduce(own, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  char with_sumac[40];
  std::snprintf(with_sumac, sizeof with_sumac, ", %ld with Sumac", all[2]);
  return report(all[0], all[1], with_sumac);
}

}  // namespace test
