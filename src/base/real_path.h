// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace sumac {

// Returns the absolute path of an existing file or folder, without links. Returns an empty text,
// with the cause in errno, if nothing is there. Letting the C library allocate the buffer spares
// the caller's stack 4 KiB.
inline std::string real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> found(realpath(path, nullptr), std::free);
  return found ? found.get() : std::string();
}

// Returns the absolute path of something that need not exist, since the program may change its
// working directory. Returns the path unchanged if the working directory is unknown.
inline std::string absolute_path(const char* path) {
  if (*path == '/') return path;
  const std::unique_ptr<char, decltype(&std::free)> here(getcwd(nullptr, 0), std::free);
  return here ? std::string(here.get()) + "/" + path : path;
}

}  // namespace sumac
