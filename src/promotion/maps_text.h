// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self/maps line by line: how kernels without PROCMAP_QUERY tell what is mapped. Cost:
// 0.1 to 0.3 us for each mapping of the process up to the one that is looked for. Allocates nothing
// and takes no lock.
#pragma once

#include <cstddef>

#include "promotion/mapping.h"

namespace sumac::promotion {

class MapsText {
 public:
  MapsText();
  ~MapsText();
  MapsText(const MapsText&) = delete;
  MapsText& operator=(const MapsText&) = delete;

  // The next mapping, in ascending order. With `name`, of `name_bytes` bytes, also its name, as
  // much of it as fits.
  bool next(Mapping& mapping, char* name = nullptr, std::size_t name_bytes = 0);

 private:
  const char* line();
  bool fill();

  int fd_;
  char text_[1024];
  std::size_t at_ = 0, held_ = 0;
  bool of_long_line_ = false;  // what comes next is the rest of a line that did not fit
};

}  // namespace sumac::promotion
