// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/profile.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/cpu.h"
#include "interpose/calls/call_text.h"
#include "interpose/calls/decide.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/mpi/world.h"
#include "interpose/process/members.h"
#include "interpose/requests/held_requests.h"
#include "observe/log.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

// Further communicators are not told apart, and only sums are kept of their calls.
constexpr std::size_t kMostCommunicators = 4096;

bool profiled = false;
std::string& folder() {
  static auto* path = new std::string;
  return *path;
}

void warn(const char* what, int rank) {
  log_here("warning[profile]: %s rank %d's file in SUMAC_PROFILE=%.300s: %s", what, rank,
           options.profile, std::strerror(errno));
}

// A derived type's name does not tell how large it is.
std::string describe(MpiDatatype type) {
  if (type == kMpi.datatype_null) return {};
  const TypeInfo* info = find_any_type(type);
  std::string name = name_of_type(info ? info->dtype : DType::none, type);
  std::size_t element = 0;
  if (!info && packed_size(type, element)) name += " of " + std::to_string(element) + " bytes";
  return name;
}

}  // namespace

void read_profile_option() {
  profiled = *options.profile;
  if (!profiled) return;
  // No communicator is set up: its ranks only agree on its name.
  options.build_after = UINT64_MAX;
  options.reproducible = 0;
  folder() = writable_folder(options.profile);
  if (!folder().empty()) return;
  log(Level::warn, "warning[profile]: cannot write into SUMAC_PROFILE=%.300s: %s", options.profile,
      std::strerror(errno));
}

bool calls_are_profiled() { return profiled; }

const char* name_of_op(MpiOp op) {
  if (op == kMpi.op_null) return "";
  const Op* known = mpi_is_up() ? find_any_op(op) : nullptr;
  return known ? name_of(*known) : "user";
}

Profile& profile() {
  static auto* the_profile = new Profile;
  return *the_profile;
}

void Profile::begin() {
  if (!profiled || folder().empty()) return;
  int rank = 0, size = 1;
  mpi.Comm_rank(kMpi.comm_world, &rank);
  mpi.Comm_size(kMpi.comm_world, &size);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!file_.open(folder(), Recording::profile, rank)) return warn("cannot make", rank);
  JsonLine line = recording_head(Recording::profile, rank, size);
  line.add("pid", getpid());
  const std::string mpi_name = library_version();
  line.add("mpi", mpi_name.substr(0, mpi_name.find('\n')));
  line.add("begin_ns", clock_ns());
  file_.add(line.text());
  write();
}

void Profile::end() {
  if (!profiled) return;
  if (compares_clocks_) compare_clocks(kMpi.comm_world);
  leave_held();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!file_.is_open()) return;
  file_.add(kinds_.all_sums());
  file_.add(JsonLine("end_ns", clock_ns()).text());
  write();
  file_.close();
}

void Profile::write_early() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock && file_.is_open()) write();
}

void Profile::write() {
  if (!file_.flush()) warn("its end is missing from", log_rank());
}

void Profile::come_to_know(Communicator& c) {
  Member member;
  mpi.Comm_rank(c.comm, &member.rank);
  mpi.Comm_size(c.comm, &member.size);
  member.inter = is_intercommunicator(c.comm);
  const std::vector<int> ranks = world_ranks(c.comm, member.size);
  member.members = sumac_hash(ranks.data(), ranks.size() * sizeof(int), SUMAC_HASH_START);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (members_.size() >= kMostCommunicators) return;
  member.nth = same_members_[member.members]++;
  member.number = c.profiled = static_cast<int>(members_.size());
  members_.push_back(member);
  define(member, c);
}

void Profile::define(const Member& member, const Communicator& c) {
  JsonLine line("communicator", member.number);
  line.add("name", name_of_communicator(c));
  line.add("rank", member.rank);
  line.add("ranks", member.size);
  line.add("members", member.members);
  line.add("nth", member.nth);
  if (member.inter) line.add("inter", true);
  if (member.agreed) line.add("agreed", c.trace_group);
  file_.add(line.text());
}

Communicator* Profile::find(MpiComm comm) {
  if (!mpi_is_up()) return nullptr;
  Communicator* c = find_or_remember(comm);
  if (c && c->profiled < 0) come_to_know(*c);
  return c && c->profiled >= 0 ? c : nullptr;
}

// Agrees as ranks do without a profile; but Sumac goes no further than the name.
void Profile::agree(const Call& call, Communicator& c) {
  const bool persistent = call.kind.form == Form::persistent;
  const Others others = persistent            ? Others::will_come
                        : ends_together(call) ? Others::have_come
                                              : Others::may_be_late;
  count_call(call.comm, persistent ? kAgreeAfter : 1, others, 1);
  if (call.kind.form == Form::nonblocking) return;
  bool compares = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Member& member = members_[static_cast<std::size_t>(c.profiled)];
    if (member.agreed || c.trace_group == 0) return;
    member.agreed = true;
    define(member, c);
    int world = 0;
    if (world_is_up()) mpi.Comm_size(kMpi.comm_world, &world);
    // All ranks have this option, or else the communicator is handed down.
    const bool all = member.size == world && c.state == Team::State::counting;
    compares_clocks_ |= all;
    // Threads may come to the other communicators in any order.
    compares = all && call.comm == kMpi.comm_world;
  }
  if (compares) compare_clocks(kMpi.comm_world);
}

void Profile::compare_clocks(MpiComm comm) {
  const ClockOffset offset = measure_clock_offset(comm);
  const std::lock_guard<std::mutex> lock(mutex_);
  JsonLine line("clock_ns", offset.at);
  line.add("offset_ns", offset.offset);
  line.add("within_ns", offset.within);
  file_.add(line.text());
}

std::uint32_t Profile::number_of(CallKindKey key, const void* site) {
  std::string line;
  key.site = sites_.find(site, line);
  if (!line.empty()) file_.add(line);
  line.clear();
  const std::uint32_t number = kinds_.number_of(key, line);
  if (!line.empty()) file_.add(line);
  return number;
}

Profile::Member Profile::next_call_of(const Communicator* c) {
  if (!c) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  Member& own = members_[static_cast<std::size_t>(c->profiled)];
  const Member member = own;
  ++own.calls;
  return member;
}

void Profile::note_of(const Member& member, CallKindKey key, Form form, const CallSize& size,
                      RequestPointer request, const void* site, std::uint64_t began,
                      std::uint64_t ended) {
  key.communicator = member.number;
  const bool persistent = form == Form::persistent;
  if (persistent) key.operation = member.calls;
  key.count = size.count;
  key.bytes = size.bytes;
  const std::string type = describe(size.type);
  EndedCall made{{0, member.calls, began, ended - began, 0, ended}, size.bytes};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    key.type = kinds_.number_of_type(type);
    made.kind = number_of(key, site);
    if (form == Form::blocking) add_locked(made);
  }
  if (form != Form::blocking) hold_request(*request, made, persistent);
}

void Profile::note(const Call& call, const void* site, std::uint64_t began, std::uint64_t ended) {
  Communicator* const c = find(call.comm);
  CallKindKey key;
  key.function = name_of(call.kind.function);
  key.form = name_of(call.kind.form);
  key.op = name_of_op(call.op);
  key.root = call.root;
  key.in_place = call.send.address == kMpi.in_place;
  const Member member = next_call_of(c);
  const CallSize size = size_of(call, member.inter ? 0 : member.size);
  note_of(member, key, call.kind.form, size, call.request, site, began, ended);
  if (c) agree(call, *c);
}

void Profile::note(CallKindKey key, Form form, MpiComm comm, const CallSize& size,
                   RequestPointer request, const void* site, std::uint64_t began,
                   std::uint64_t ended) {
  note_of(next_call_of(find(comm)), key, form, size, request, site, began, ended);
}

void Profile::note_alone(CallKindKey key, MpiDatatype type, MpiCount count, const void* site,
                         std::uint64_t ns) {
  std::size_t element = 0;
  if (count < 0 || !mpi_is_up() || !packed_size(type, element)) return;
  key.form = name_of(Form::local);
  key.count = static_cast<std::uint64_t>(count);
  key.bytes = key.count * element;
  const std::string name = describe(type);
  const std::lock_guard<std::mutex> lock(mutex_);
  key.type = kinds_.number_of_type(name);
  CallSums& sums = kinds_.sums(number_of(key, site));
  ++sums.calls;
  sums.bytes += key.bytes;
  sums.inside += ns;
}

void Profile::add(const EndedCall& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  add_locked(call);
}

void Profile::add_locked(const EndedCall& call) {
  CallSums& sums = kinds_.sums(call.kind);
  ++sums.calls;
  sums.bytes += call.bytes;
  sums.inside += call.inside;
  sums.completing += call.completing;
  if (kept_ < options.profile_calls) {
    ++kept_;
    ++sums.kept;
    file_.add(call);
  }
  if (file_.is_due(call.end)) write();
}

}  // namespace sumac
