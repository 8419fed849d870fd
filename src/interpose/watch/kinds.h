// SPDX-License-Identifier: BSD-3-Clause
// A kind is what is the same in many calls of a profile, the place in the program among it. There
// are sums over each such kind of call.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sumac {

// This says what is called. Names have static storage.
struct CallKindKey {
  const char* function = "";
  const char* form = "";
  const char* op = "";          // empty for calls without one
  int communicator = -1;        // the communicator's number; -1: none
  std::uint32_t type = 0;       // the number of the type's name
  std::uint32_t site = 0;       // the number of the place in the program
  int root = -1;                // -1: none
  std::int64_t operation = -1;  // persistent: its number among the communicator's calls
  bool in_place = false;
  bool rounded = false;  // count and bytes stand for all up to twice as large
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  bool operator==(const CallKindKey&) const = default;
};

struct CallSums {
  std::uint64_t calls = 0, kept = 0;  // calls, and how many of these were kept one by one
  std::uint64_t bytes = 0;
  std::uint64_t inside = 0, completing = 0;  // ns
};

// The kinds of a process are numbered from 0. Their memory has a bound: once there are many kinds,
// sizes are rounded down to powers of two and places in the program are left out; once these are
// many too, everything that is new is one kind, number 0. Only one thread at a time may use it.
class CallKinds {
 public:
  CallKinds();
  // `line` is set to the kind's definition, JSON, if it is new.
  std::uint32_t number_of(CallKindKey key, std::string& line);
  std::uint32_t number_of_type(const std::string& name);

  CallSums& sums(std::uint32_t number) { return sums_[number]; }
  // Returns the kinds with calls, a line of JSON for each, with a '\n' between them.
  std::string all_sums() const;

 private:
  struct Hash {
    std::size_t operator()(const CallKindKey& key) const;
  };
  std::string text_of(std::uint32_t number, const CallKindKey& key) const;

  std::unordered_map<CallKindKey, std::uint32_t, Hash> numbers_;
  std::vector<CallSums> sums_;
  std::unordered_map<std::string, std::uint32_t> type_numbers_;
  std::vector<std::string> types_;
};

// This finds the place in the program at which a call was made. Calls returned to these addresses,
// which are numbered from 1; 0 stands for all others once there are many. Only one thread at a time
// may use it.
class CallSites {
 public:
  // Returns the number of the place that a call made from `address` belongs to. If that is inside
  // of the MPI, as for calls from Fortran, it is the innermost caller outside, which a walk of the
  // stack finds. `line` is set to the site's definition, JSON, if it is new.
  std::uint32_t find(const void* address, std::string& line);

 private:
  struct Place {
    bool inside_mpi = false;
    std::uint32_t number = 0;
  };
  Place& place_of(std::uintptr_t address);
  std::uint32_t number_of(std::uintptr_t address, Place& place, std::string& line);

  std::unordered_map<std::uintptr_t, Place> places_;
  std::uint32_t used_ = 0;
};

}  // namespace sumac
