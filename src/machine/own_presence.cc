// SPDX-License-Identifier: BSD-3-Clause
// This file has what presence.h says of this process and its node as they are; presence.cc has what
// follows from a list of marks.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "machine/presence.h"

namespace sumac {
namespace {

// Returns the whole file, or an empty text if it cannot be read.
std::string read_all(const char* path) {
  std::string text;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::vector<char> part(1 << 16);
  ssize_t got = 0;
  while ((got = read(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

std::string list_of_sockets() { return read_all("/proc/net/unix"); }

sumac_job own_job{};  // known since mark_as_served()

}  // namespace

bool mark_as_served(const char* family) {
  own_job = sumac_own_job(family, "/proc");
  if (own_job.numbers) own_job.numbers = strdup(own_job.numbers);
  return sumac_make_mark(&own_job, SUMAC_MARK_SERVED) != 0;
}

JobOnNode look_at_job() {
  return own_job.id == 0 ? JobOnNode() : look_at_job(own_job, list_of_sockets(), getpid());
}

bool started_by_rank() {
  return own_job.id != 0 &&
         started_by_rank(parse_marks(list_of_sockets()), own_job.id, "/proc", getpid());
}

}  // namespace sumac
