// SPDX-License-Identifier: BSD-3-Clause
// The tests check that a profile's file tells of each call that the program made, and of no other:
// of random programs whose calls fail, are made within others, are never completed, and are kept
// one by one only up to a number. The file is read back. Each program has a process of its own,
// because a process has one profile.
#include "interpose/watch/profile.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "interpose/mpi/fake_requests_test.h"
#include "interpose/watch/profile_below_test.h"
#include "testing/read_recording.h"

namespace sumac {
namespace {

using Random = std::minstd_rand;
using testing::value_of;

// Calls that are alike in all that a kind says are counted together.
struct Counted {
  std::uint64_t calls = 0, bytes = 0;
  bool operator==(const Counted&) const = default;
};
using Counts = std::map<std::string, Counted>;

std::string kind_text(const char* function, const char* form, int communicator, const char* op,
                      const std::string& type, std::uint64_t count, std::uint64_t bytes, int root,
                      const std::string& site, std::int64_t operation, bool in_place) {
  const auto or_empty = [](std::int64_t number) {
    return number < 0 ? std::string() : std::to_string(number);
  };
  return std::string(function) + ' ' + form + ' ' + or_empty(communicator) + ' ' + op + ' ' + type +
         ' ' + std::to_string(count) + ' ' + std::to_string(bytes) + ' ' + or_empty(root) + ' ' +
         site + ' ' + or_empty(operation) + ' ' + (in_place ? "true" : "");
}

// A call returns to one of these places, which are outside of this program and of the MPI.
const void* site_at(std::size_t number) {
  return reinterpret_cast<const char*>(&std::getenv) + 1 + number;
}

struct HeldCall {
  MpiRequest handle = kMpi.request_null;
  std::string kind;
  std::uint64_t bytes = 0;
  bool persistent = false, active = true;
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    // The profile adds what has not ended.
    for (const HeldCall& each : held_) {
      if (each.active) count(each.kind, each.bytes);
    }
  }
  const Counts& counts() const { return counts_; }
  // Returns how many calls have been noted on each communicator.
  const std::map<int, std::uint32_t>& calls_on() const { return calls_on_; }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  void count(const std::string& kind, std::uint64_t bytes) {
    ++counts_[kind].calls;
    counts_[kind].bytes += bytes;
  }
  void step() {
    switch (random_() % 8) {
      case 0:
        return pack();
      case 1:
        return reduce_locally();
      case 2:
      case 3:
        return start_or_free();
      case 4:
      case 5:
        return complete();
      default:
        return make_call();
    }
  }
  void make_call();
  void pack();
  void reduce_locally();
  void start_or_free();
  void complete();

  Random random_;
  Counts counts_;
  std::map<int, std::uint32_t> calls_on_;
  std::vector<HeldCall> held_;
};

void Program::make_call() {
  constexpr Form kForms[] = {Form::blocking, Form::blocking, Form::nonblocking, Form::persistent};
  constexpr Function kSome[] = {Function::allreduce, Function::bcast, Function::reduce};
  const Function function = kSome[random_() % 3];
  const Form form = kForms[random_() % 4];
  const CallKind kind{function, info_of(collective_of(function)), form, false, call_below};
  Call call{kind};
  const std::size_t comm = random_() % kComms;
  MpiRequest request = kMpi.request_null;
  call.comm = comm_at(comm);
  call.receive = {nullptr, static_cast<MpiCount>(random_() % 3), type_at(random_() % kTypes)};
  if (function != Function::bcast) call.op = one_in(2) ? kMpi.sum : kOwnOp;
  if (function != Function::allreduce) call.root = static_cast<int>(random_() % 2);
  if (function == Function::allreduce && one_in(3)) call.send.address = kMpi.in_place;
  call.request = one(request);
  constexpr int kErrors[] = {0, 0, 0, 1, 2};
  const int error = kErrors[random_() % 5];
  around_profile.error = error == 1 ? kMpi.err_truncate : error == 2 ? kMpi.err_type : kMpiSuccess;
  around_profile.nests = one_in(4);
  const std::size_t site = random_() % 3;
  EXPECT_EQ(serve_profiled(call, site_at(site)), around_profile.error);
  // Other ranks may have made a call that was truncated here.
  const bool noted = error == 0 || (error == 1 && form == Form::blocking);
  if (!noted) return;
  const int number = around_profile.number_of(comm);
  const std::uint32_t nth = number < 0 ? 0 : calls_on_[number]++;
  const auto elements = static_cast<std::uint64_t>(call.receive.count);
  const std::uint64_t bytes = elements * size_of_type(call.receive.type);
  const char* op = call.op == kMpi.op_null ? "" : call.op == kMpi.sum ? "sum" : "user";
  const std::string text =
      kind_text(name_of(function), name_of(form), number, op, name_in_file(call.receive.type),
                elements, bytes, call.root, std::to_string(site),
                form == Form::persistent ? static_cast<std::int64_t>(nth) : -1,
                call.send.address == kMpi.in_place);
  if (form == Form::blocking) return count(text, bytes);
  held_.push_back({request, text, bytes, form == Form::persistent, form != Form::persistent});
}

void Program::pack() {
  const MpiDatatype type = type_at(random_() % kTypes);
  const int number = static_cast<int>(random_() % 4);
  const bool unpacks = one_in(2);
  int position = 0;
  around_profile.error = one_in(4) ? kMpi.err_truncate : kMpiSuccess;
  if (unpacks) {
    in_front.Unpack(nullptr, 0, &position, nullptr, number, type, comm_at(0));
  } else {
    in_front.Pack(nullptr, number, type, nullptr, 0, &position, comm_at(0));
  }
  if (around_profile.error != kMpiSuccess) return;
  const auto elements = static_cast<std::uint64_t>(number);
  const std::uint64_t bytes = elements * size_of_type(type);
  count(kind_text(unpacks ? "unpack" : "pack", "local", -1, "", name_in_file(type), elements, bytes,
                  -1, "", -1, false),
        bytes);
}

void Program::reduce_locally() {
  const CallKind kind{Function::reduce_local, info_of(Collective::reduce_local), Form::local, false,
                      call_below};
  Call call{kind};
  call.receive = {nullptr, 2, type_at(0)};
  call.op = kMpi.sum;
  around_profile.error = one_in(4) ? kMpi.err_op : kMpiSuccess;
  around_profile.nests = false;
  serve_profiled(call, site_at(0));
  if (around_profile.error != kMpiSuccess) return;
  const std::uint64_t bytes = 2 * size_of_type(type_at(0));
  count(kind_text("reduce_local", "local", -1, "sum", name_in_file(type_at(0)), 2, bytes, -1, "0",
                  -1, false),
        bytes);
}

void Program::start_or_free() {
  HandleArray<MpiRequest> handles;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    HeldCall& each = held_[i];
    if (!each.persistent || each.active) continue;
    if (one_in(6)) {
      in_front.Request_free(one(each.handle));
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    if (one_in(2)) continue;
    each.active = true;
    handles.push_back(each.handle);
  }
  if (!handles.empty()) in_front.Startall(static_cast<int>(handles.size()), handles.data());
}

void Program::complete() {
  HandleArray<MpiRequest> handles;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (one_in(2)) continue;
    handles.push_back(held_[i].handle);
    asked.push_back(i);
  }
  const auto ask = static_cast<Ask>(random_() % kAsks);
  if (asked.empty()) return;
  for (const Told& told : ask_about(in_front, ask, handles).told) {
    HeldCall& ended = held_[asked[static_cast<std::size_t>(told.index)]];
    if (looks(ask) || !ended.active) continue;
    count(ended.kind, ended.bytes);
    ended.active = false;
  }
  std::erase_if(held_, [](const HeldCall& each) { return !each.persistent && !each.active; });
}

// This is what the file says.
class ProfileFile {
 public:
  explicit ProfileFile(const std::string& path) : read_(testing::read_recording(path)) {
    for (const std::string& line : read_.lines) add(line);
  }

  Counts counts() const {
    Counts all;
    for (const auto& [number, sums] : sums_) {
      Counted& counted = all[kinds_.at(number)];
      counted.calls += number_in(sums, "calls");
      counted.bytes += number_in(sums, "bytes");
    }
    return all;
  }
  // The calls that are kept one by one are those of the sums, if all are kept.
  void check_records(std::uint64_t most, const std::map<int, std::uint32_t>& calls_on) const;

 private:
  static std::uint64_t number_in(const std::string& line, const char* key) {
    return std::strtoull(value_of(line, key).c_str(), nullptr, 10);
  }
  void add(const std::string& line) {
    if (line.starts_with("{\"site\"")) {
      const std::uint64_t first = reinterpret_cast<std::uintptr_t>(site_at(0));
      sites_[value_of(line, "site")] = std::to_string(number_in(line, "address") - first);
    }
    if (line.starts_with("{\"kind\"")) {
      const std::string function = value_of(line, "function");
      const bool packs = function == "pack" || function == "unpack";  // made from this program
      const std::string site = packs ? "" : sites_.at(value_of(line, "site"));
      std::string text = function;
      for (const char* key :
           {"form", "communicator", "operation", "type", "count", "bytes", "root"}) {
        text += ' ' + value_of(line, key);
      }
      text += ' ' + site + ' ' + value_of(line, "persistent") + ' ' + value_of(line, "in_place");
      kinds_[number_in(line, "kind")] = text;
      lines_[number_in(line, "kind")] = line;
    }
    if (line.starts_with("{\"sums\"")) sums_[number_in(line, "sums")] = line;
  }

  testing::ReadRecording read_;
  std::map<std::string, std::string> sites_;
  std::map<std::uint64_t, std::string> kinds_, lines_, sums_;
};

void ProfileFile::check_records(std::uint64_t most,
                                const std::map<int, std::uint32_t>& calls_on) const {
  const auto records = read_.records<ProfiledCall>();
  std::map<std::uint64_t, std::uint64_t> kept, inside, completing;
  std::map<std::string, std::set<std::uint64_t>> numbers;  // the key is a communicator
  for (const ProfiledCall& each : records) {
    ++kept[each.kind];
    inside[each.kind] += each.inside;
    completing[each.kind] += each.completing;
    EXPECT_LE(each.begin + each.inside, each.end);
    const std::string& line = lines_.at(each.kind);
    const std::string comm = value_of(line, "communicator");
    if (comm.empty() || !value_of(line, "persistent").empty()) continue;
    EXPECT_TRUE(numbers[comm].insert(each.sequence).second) << "a call has a number of its own";
    EXPECT_LT(each.sequence, calls_on.at(std::stoi(comm)));
  }
  std::uint64_t collectives = 0;
  for (const auto& [number, sums] : sums_) {
    EXPECT_EQ(number_in(sums, "kept"), kept[number]);
    const bool is_alone = value_of(lines_.at(number), "form") == "local";
    if (!is_alone) collectives += number_in(sums, "calls");
    if (is_alone || kept[number] != number_in(sums, "calls")) continue;
    EXPECT_EQ(number_in(sums, "inside_ns"), inside[number]);
    EXPECT_EQ(number_in(sums, "completing_ns"), completing[number]);
  }
  EXPECT_EQ(records.size(), std::min(most, collectives));
}

// Runs a program and reads its file. Returns true if all is as it should be.
bool is_right(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::string folder = ::testing::TempDir() + "profile-XXXXXX";
  if (!mkdtemp(folder.data())) return false;
  begin_profile(seed, folder.c_str());
  options.profile_calls = seed % 3 == 0 ? 40 : seed % 7 == 0 ? 0 : 1000000;
  profile().begin();
  Program program(seed);
  program.run(400);
  profile().end();
  const ProfileFile file(folder + '/' + recording_name(Recording::profile, kOwnRank));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(file.counts(), program.counts());
  file.check_records(options.profile_calls, program.calls_on());
  return !::testing::Test::HasFailure();
}

TEST(Profile, CountsWhatWasCalled) {
  for (unsigned seed = 1; seed <= 120 && !::testing::Test::HasFailure(); ++seed) {
    const pid_t process = fork();
    if (process == 0) _exit(is_right(seed) ? 0 : 1);
    int status = 0;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sumac
