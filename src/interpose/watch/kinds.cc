// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/kinds.h"

#include <dlfcn.h>
#include <unwind.h>

#include <bit>
#include <cstring>

#include "base/hash.h"
#include "base/real_path.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

constexpr std::size_t kMostExact = 1 << 14, kMost = 1 << 16, kMostTypes = 4096;

std::uint64_t hash_of(const char* name, std::uint64_t hash) {
  return hash_value(reinterpret_cast<std::uintptr_t>(name), hash);
}

}  // namespace

std::size_t CallKinds::Hash::operator()(const CallKindKey& key) const {
  std::uint64_t hash = hash_of(key.op, hash_of(key.form, hash_of(key.function, SUMAC_HASH_START)));
  const std::uint64_t numbers[] = {
      static_cast<std::uint64_t>(key.communicator) << 32 | key.type,
      static_cast<std::uint64_t>(key.root) << 32 | key.site,
      static_cast<std::uint64_t>(key.operation) << 2 | key.in_place << 1 | key.rounded, key.count,
      key.bytes};
  return hash_value(numbers, hash);
}

CallKinds::CallKinds() {
  sums_.resize(1);
  number_of_type("");
}

std::uint32_t CallKinds::number_of_type(const std::string& name) {
  if (const auto found = type_numbers_.find(name); found != type_numbers_.end()) {
    return found->second;
  }
  if (types_.size() >= kMostTypes) return number_of_type("");
  types_.push_back(name);
  return type_numbers_[name] = static_cast<std::uint32_t>(types_.size() - 1);
}

std::uint32_t CallKinds::number_of(CallKindKey key, std::string& line) {
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  if (numbers_.size() >= kMostExact && !key.rounded) {
    key.rounded = true;
    key.count = std::bit_floor(key.count);
    key.bytes = std::bit_floor(key.bytes);
    key.site = 0;
    return number_of(key, line);
  }
  if (numbers_.size() >= kMost) return 0;
  const auto number = static_cast<std::uint32_t>(sums_.size());
  sums_.emplace_back();
  numbers_.emplace(key, number);
  line = text_of(number, key);
  return number;
}

std::string CallKinds::text_of(std::uint32_t number, const CallKindKey& key) const {
  JsonLine line("kind", number);
  line.add("function", key.function);
  line.add("form", key.form);
  if (key.communicator >= 0) line.add("communicator", key.communicator);
  if (*key.op) line.add("operation", key.op);
  if (!types_[key.type].empty()) line.add("type", types_[key.type]);
  line.add("count", key.count);
  line.add("bytes", key.bytes);
  if (key.root >= 0) line.add("root", key.root);
  if (key.site > 0) line.add("site", key.site);
  if (key.operation >= 0) line.add("persistent", key.operation);
  if (key.in_place) line.add("in_place", true);
  if (key.rounded) line.add("rounded", true);
  return line.text();
}

std::string CallKinds::all_sums() const {
  std::string all;
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    const CallSums& sums = sums_[number];
    if (sums.calls == 0) continue;
    JsonLine line("sums", number);
    line.add("calls", sums.calls);
    line.add("kept", sums.kept);
    line.add("bytes", sums.bytes);
    line.add("inside_ns", sums.inside);
    line.add("completing_ns", sums.completing);
    if (!all.empty()) all += '\n';
    all += line.text();
  }
  return all;
}

namespace {

constexpr std::uint32_t kMostSites = 4096;

// The symbols of this library begin here.
const char own_symbol = 0;

// Returns true for the code of an MPI, of its language bindings, and of Sumac.
bool belongs_to_mpi(const Dl_info& info) {
  Dl_info own;
  if (dladdr(&own_symbol, &own) != 0 && own.dli_fbase == info.dli_fbase) return true;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* name = slash ? slash + 1 : info.dli_fname;
  return std::strncmp(name, "libmpi", 6) == 0 || std::strncmp(name, "libsumac", 8) == 0;
}

// Returns the absolute path of an object file. The program itself is named as it was started.
std::string path_of(const char* name) {
  const bool has_folder = std::strchr(name, '/') != nullptr;
  std::string path = has_folder ? real_path(name) : std::string();
  if (path.empty()) path = real_path("/proc/self/exe");
  return path.empty() ? name : path;
}

}  // namespace

CallSites::Place& CallSites::place_of(std::uintptr_t address) {
  const auto [at, added] = places_.try_emplace(address);
  if (!added) return at->second;
  Dl_info info;
  // The call is before the address that it returns to.
  const bool known = dladdr(reinterpret_cast<const void*>(address - 1), &info) != 0;
  at->second.inside_mpi = known && belongs_to_mpi(info);
  return at->second;
}

std::uint32_t CallSites::number_of(std::uintptr_t address, Place& place, std::string& line) {
  if (place.number != 0 || used_ == kMostSites) return place.number;
  place.number = ++used_;
  JsonLine definition("site", place.number);
  definition.add("address", address);
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(address - 1), &info) != 0) {
    definition.add("base", reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    definition.add("object", path_of(info.dli_fname));
    if (info.dli_sname) definition.add("symbol", info.dli_sname);
  }
  line = definition.text();
  return place.number;
}

std::uint32_t CallSites::find(const void* address, std::string& line) {
  const auto caller = reinterpret_cast<std::uintptr_t>(address);
  Place& direct = place_of(caller);
  if (!direct.inside_mpi) return number_of(caller, direct, line);
  struct Walk {
    CallSites& sites;
    std::uintptr_t caller;
    bool passed = false;
    std::uintptr_t found = 0;
  };
  Walk walk{*this, caller};
  const auto look = [](_Unwind_Context* frame, void* data) {
    Walk& own = *static_cast<Walk*>(data);
    const std::uintptr_t at = _Unwind_GetIP(frame);
    own.passed |= at == own.caller;
    if (!own.passed || own.sites.place_of(at).inside_mpi) return _URC_NO_REASON;
    own.found = at;
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(look, &walk);
  if (walk.found == 0) return number_of(caller, direct, line);
  return number_of(walk.found, place_of(walk.found), line);
}

}  // namespace sumac
