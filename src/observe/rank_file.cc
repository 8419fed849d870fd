// SPDX-License-Identifier: BSD-3-Clause
#include "observe/rank_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/real_path.h"
#include "base/write_signals.h"

namespace sumac {

std::string writable_folder(const char* folder) {
  std::string path = real_path(folder);
  struct stat about;
  if (path.empty() || stat(path.c_str(), &about) != 0) return {};
  if (!S_ISDIR(about.st_mode)) errno = ENOTDIR;
  const bool usable = S_ISDIR(about.st_mode) && access(path.c_str(), W_OK | X_OK) == 0;
  return usable ? path : std::string();
}

int make_own_file(const std::string& folder, const std::string& name) {
  return make_own_file(AT_FDCWD, folder + "/" + name);
}

int make_own_file(int folder, const std::string& name) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return openat(folder, name.c_str(), kNew, 0600);
}

bool write_all(int file, const void* data, std::size_t size) {
  const WithoutWriteSignals without;
  const char* const bytes = static_cast<const char*>(data);
  for (std::size_t done = 0; done < size;) {
    const ssize_t written = write(file, bytes + done, size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace sumac
