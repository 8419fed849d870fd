// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/call_sites.h"

#include <dlfcn.h>
#include <unwind.h>

#include <cstring>

#include "base/real_path.h"
#include "observe/json_line.h"

namespace sumac {
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
