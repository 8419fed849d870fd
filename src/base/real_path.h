// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace sumac {

// The absolute path of what is there, without links. Empty, with the cause in errno, where there is
// nothing. The C library's realpath() would want a buffer of 4 KiB on the caller's stack.
inline std::string real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> found(realpath(path, nullptr), std::free);
  return found ? found.get() : std::string();
}

// The absolute path of what need not be there, since the program may change its working directory.
// As it is where that is unknown.
inline std::string absolute_path(const char* path) {
  if (*path == '/') return path;
  const std::unique_ptr<char, decltype(&std::free)> here(getcwd(nullptr, 0), std::free);
  return here ? std::string(here.get()) + "/" + path : path;
}

}  // namespace sumac
