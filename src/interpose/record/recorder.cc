// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/record/recorder.h"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"
#include "interpose/profile/profile.h"
#include "observe/log.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

constexpr int kFormat = 1;

// Numbers threads in the order of their first calls.
unsigned thread_number() {
  static std::atomic<unsigned> next{0};
  static thread_local const unsigned number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::string first_line(const std::string& text) {
  std::string line(text);
  for (char& c : line) {
    if (c < ' ' && c != '\n') c = ' ';
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

Recorder& recorder() {
  static auto* the_recorder = new Recorder;
  return *the_recorder;
}

void Recorder::set_up() {
  if (!*options.record) return;
  if (calls_are_profiled()) {
    return log(Level::warn,
               "warning[record]: nothing is recorded into SUMAC_RECORD=%s: SUMAC_PROFILE is set "
               "too, and goes first; run the program once with each",
               options.record);
  }
  mkdir(options.record, 0700);
  folder_ = writable_folder(options.record);
  if (folder_.empty()) {
    return log(Level::warn, "warning[record]: cannot write into SUMAC_RECORD=%s: %s",
               options.record, std::strerror(errno));
  }
  wanted_ = true;
  watch_calls(*this);
}

void Recorder::begin() {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!wanted_ || done_ || file_.is_open() || !world_exists()) return;
  int rank = 0, ranks = 1;
  mpi.Comm_rank(MPI_COMM_WORLD, &rank);
  mpi.Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = folder_ + "/rank-" + std::to_string(rank) + ".calls";
  if (!file_.create(path, options.record_bytes)) {
    done_ = true;
    return log_here("warning[record]: cannot make %s: %s; rank %d's calls are not recorded",
                    path.c_str(), std::strerror(errno), rank);
  }
  file_.add("sumac-record " + std::to_string(kFormat));
  file_.add("rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  file_.add(std::string("by ") + SUMAC_VERSION + ' ' +
            (family() == Family::mpich ? "mpich " : "openmpi ") + first_line(library_version()));
  file_.add("began " + std::to_string(std::time(nullptr)));
  ended_ = last_end_ = clock_ns();
}

void Recorder::end() {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!done_) file_.end("e finalized");
  done_ = true;
}

// For a reason that only this rank may have.
void Recorder::stop(const char* why) {
  done_ = true;
  const int problem = file_.problem();
  file_.end(std::string("e ") + why);
  if (problem) {
    return log_here("warning[record]: cannot write %s: %s; recording has stopped after %llu calls",
                    file_.path().c_str(), std::strerror(problem),
                    static_cast<unsigned long long>(calls_));
  }
  log(Level::warn,
      "warning[record-limit]: recording has stopped after %llu calls of a rank: more than "
      "SUMAC_RECORD_%s allows",
      static_cast<unsigned long long>(calls_), std::strcmp(why, "calls") == 0 ? "CALLS" : "BYTES");
}

// To be called first, with the lock.
bool Recorder::is_recording(CallTimes times) {
  if (!file_.is_open() && !done_) begin();
  if (done_ || !file_.is_open()) return false;
  if (calls_ >= options.record_calls) {
    stop("calls");
    return false;
  }
  note_thread(times);
  return true;
}

void Recorder::note_thread(CallTimes times) {
  const unsigned thread = thread_number();
  if (thread == thread_) return;
  file_.add("n " + std::to_string(thread));
  thread_ = thread;
  if (times.begin < ended_ && !overlaps_) {
    overlaps_ = true;
    file_.add("overlap");
  }
}

// Adds the times to a line, and the line to the file.
void Recorder::write(std::string& line, CallTimes times) {
  line += ' ' + std::to_string(times.begin > last_end_ ? times.begin - last_end_ : 0);
  line += ' ' + std::to_string(times.end - times.begin);
  const bool added = file_.add(line);
  last_end_ = clock_ns();
  ended_ = times.end;
  if (!added) return stop("bytes");
  file_.tick(last_end_);
  if (file_.problem()) stop("bytes");
}

void Recorder::blocking(const Call& call, CallTimes times) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!is_recording(times)) return;
  std::string line = "b " + std::to_string(definitions_.shape(shape_of(call)));
  ++calls_;
  write(line, times);
}

void Recorder::deferred(const Call& call, RequestNumber request, CallTimes times) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!is_recording(times)) return;
  std::string line = call.kind.form == Form::persistent ? "p " : "i ";
  line += std::to_string(definitions_.shape(shape_of(call))) + ' ' + std::to_string(request);
  ++calls_;
  write(line, times);
}

void Recorder::restarted(const std::vector<RequestNumber>& requests, CallTimes times) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!is_recording(times)) return;
  std::string line = "g";
  for (const RequestNumber number : requests) line += ' ' + std::to_string(number);
  calls_ += requests.size();
  write(line, times);
}

void Recorder::completed(const std::vector<RequestNumber>& requests, CallTimes times) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!is_recording(times)) return;
  std::string line = "w";
  for (const RequestNumber number : requests) line += ' ' + std::to_string(number);
  write(line, times);
}

void Recorder::freed(RequestNumber request) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (!done_ && file_.is_open()) file_.add("f " + std::to_string(request));
}

void Recorder::communicator_ends(std::uintptr_t handle) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  definitions_.forget_communicator(handle);
}

void Recorder::type_ends(std::uintptr_t handle) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  definitions_.forget_type(handle);
}

}  // namespace sumac
