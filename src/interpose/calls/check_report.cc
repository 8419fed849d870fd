// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "interpose/calls/call_text.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

std::atomic<bool> told{false};  // a rank that this one has heard of has told a difference

// This is a new file of this rank's in the folder.
class OwnFile {
 public:
  OwnFile(int folder, int rank, const char* kind) {
    char name[64];
    std::snprintf(name, sizeof name, "rank-%d.%s", rank, kind);
    file_ = make_own_file(folder, name);
  }
  ~OwnFile() {
    if (file_ >= 0) close(file_);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  void add(const std::byte* bytes, std::size_t count) {
    if (file_ >= 0) write_all(file_, bytes, count);
  }

 private:
  int file_;
};

std::string counts_of(const std::vector<Data>& data) {
  std::string text = "[";
  for (const Data& piece : data) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(static_cast<long long>(piece.count));
  }
  return text + "]";
}

// Returns the name of the type of which all ranks have a result.
std::string name_of_type(const ComparedReduction& by, const std::vector<Data>& results) {
  const bool some = !results.empty() && results.front().count > 0;
  return name_of_type(by.type, some ? results.front().type : kMpi.datatype_null);
}

// Returns the first rank whose result has other bits than rank 0's.
int find_odd(Communicator& c, std::uint64_t hash) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(c.size));
  c.oob.all_gather(&hash, all.data(), sizeof hash);
  int rank = 0;
  while (rank < c.size - 1 && all[static_cast<std::size_t>(rank)] == all[0]) ++rank;
  return rank;
}

}  // namespace

bool CheckReport::agree(Verdict verdict, std::uint64_t hash) {
  Communicator& c = check_.communicator_;
  const auto below = static_cast<std::uint64_t>(c.size - c.rank);
  std::uint64_t words[] = {verdict == Verdict::different ? below : 0, hash, ~hash, told.load()};
  c.oob.all_max(words, 4);
  const bool same_bits = words[1] == ~words[2];
  if (words[0] == 0 && same_bits) {
    count_check_use(verdict == Verdict::undecided ? CheckUse::undecided : CheckUse::equal);
    return false;
  }
  count_check_use(CheckUse::differed);
  const int teller = words[0] ? c.size - static_cast<int>(words[0]) : find_odd(c, hash);
  if (words[3] == 0) {
    if (c.rank == teller) make_folder();
    mpi.Barrier(c.comm);
    save();
    mpi.Barrier(c.comm);
    if (c.rank == teller) {
      tell(words[0] ? what() : "the result has other bits than rank 0's");
    }
  }
  told = true;
  if (!check_ends_job) return true;
  if (c.rank != teller) mpi.Barrier(c.comm);
  end_job(c.comm);
  return true;
}

bool CheckReport::tell_alone(Verdict verdict) {
  if (verdict != Verdict::different) {
    count_check_use(verdict == Verdict::undecided ? CheckUse::undecided : CheckUse::equal);
    return false;
  }
  count_check_use(CheckUse::differed);
  if (told.exchange(true)) return true;
  // The rank that makes the folder is the first to tell.
  const bool first = make_folder() || errno != EEXIST;
  save();
  if (first) tell(what());
  if (check_ends_job) end_job(check_.communicator_.comm);
  return true;
}

// The name is the same on all ranks of the communicator, and different from that of another job.
std::string CheckReport::folder() const {
  const Communicator& c = check_.communicator_;
  const std::uint64_t word = c.first_process ? c.first_process : process_word();
  char name[32];
  std::snprintf(name, sizeof name, "/sumac-check-%08x", static_cast<unsigned>(word));
  return check_folder() + name;
}

bool CheckReport::make_folder() const {
  return !check_folder().empty() && mkdir(folder().c_str(), 0700) == 0;
}

void CheckReport::save() const {
  if (check_folder().empty()) return;
  mkdir(folder().c_str(), 0700);  // needed if the folder is on another node's disk
  const int at = open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (at < 0) return;
  if (fstat(at, &status) == 0 && status.st_uid == geteuid()) {
    save_call(at);
    save_data(at, "input", check_.inputs_, check_.saved_ ? check_.saved_->shift() : 0);
    save_data(at, "sumac", check_.results_, 0);
    save_data(at, "mpi", check_.results_, check_.other_.shift());
  }
  close(at);
}

void CheckReport::save_data(int folder, const char* kind, const std::vector<Data>& data,
                            std::ptrdiff_t shift) const {
  OwnFile file(folder, check_.communicator_.rank, kind);
  for (const Data& piece : data) {
    if (piece.count == 0) continue;
    TypedBytes bytes(moved(piece, shift), check_.packs_);
    const std::byte* next = nullptr;
    while (const std::size_t size = bytes.next(next)) file.add(next, size);
  }
}

void CheckReport::save_call(int folder) const {
  const Communicator& c = check_.communicator_;
  const Call& call = check_.call_;
  const bool has_operation = check_.by_.op != Op::none;
  std::string text = "{\"call\": " + quoted(mpi_name(call.kind));
  const auto add = [&](const char* key, const std::string& value) {
    text += std::string(",\n \"") + key + "\": " + value;
  };
  add("communicator", quoted(name_of_communicator(c)));
  add("rank", std::to_string(c.rank));
  add("ranks", std::to_string(c.size));
  if (call.root != kNoRoot) add("root", std::to_string(call.root));
  if (has_operation) add("operation", quoted(sumac::name_of(check_.by_.op)));
  add("type", quoted(name_of_type(check_.by_, check_.results_)));
  add("input_counts", counts_of(check_.inputs_));
  add("result_counts", counts_of(check_.results_));
  add("in_place", call.send.address == kMpi.in_place ? "true" : "false");
  add("path", quoted(check_.path_));
  if (!difference_.own.empty()) {
    add("first_different_element", std::to_string(difference_.at));
    add("sumac", quoted(difference_.own));
    add("mpi", quoted(difference_.other));
    add("bound", quoted(difference_.bound));
  }
  text += "}\n";
  OwnFile(folder, c.rank, "json").add(reinterpret_cast<const std::byte*>(text.data()), text.size());
}

std::string CheckReport::what() const {
  return "element " + std::to_string(difference_.at) + " is " + difference_.own + ", and " +
         difference_.other + " by the MPI (they may differ by " + difference_.bound + ")";
}

void CheckReport::tell(const std::string& problem) const {
  const Communicator& c = check_.communicator_;
  const bool has_operation = check_.by_.op != Op::none;
  const bool saved = !check_folder().empty() && access(folder().c_str(), F_OK) == 0;
  const std::vector<Data>& results = check_.results_;
  log_error(
      "error[wrong-result]: rank %d of %d in %.60s: %s%s%s of %s %s, served by %s: %s; %s%s%.300s",
      c.rank, c.size, name_of_communicator(c).c_str(), mpi_name(check_.call_.kind).c_str(),
      has_operation ? ", " : "", has_operation ? sumac::name_of(check_.by_.op) : "",
      counts_of(results).c_str(), name_of_type(check_.by_, results).c_str(), check_.path_,
      problem.c_str(), check_ends_job ? "ending the job" : "going on with the MPI's result",
      saved ? "; the call is in " : "; the call could not be kept in ",
      saved ? folder().c_str() : check_folder().c_str());
}

}  // namespace sumac
