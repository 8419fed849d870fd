// SPDX-License-Identifier: BSD-3-Clause
// This finds the place in the program at which a call was made.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace sumac {

// Calls returned to these addresses, which are numbered from 1; 0 stands for all others once there
// are many. Only one thread at a time may use it.
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
