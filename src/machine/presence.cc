// SPDX-License-Identifier: BSD-3-Clause
#include "machine/presence.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/process_stat.h"
#include "base/text.h"

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

// Takes the next word up to '-', and returns whether all of it is a number.
template <class Number>
bool take_number(std::string_view& text, Number& number, int base = 10) {
  const std::string_view word = take_word(text, '-');
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

// Parses a name of the form "<job>-<rank>-<process>-<state>".
bool parse_mark(std::string_view name, Mark& mark) {
  if (!take_number(name, mark.job, 16) || !take_number(name, mark.rank)) return false;
  if (!take_number(name, mark.pid)) return false;
  if (name == SUMAC_MARK_SERVED) {
    mark.state = Mark::State::served;
  } else if (name == SUMAC_MARK_DISABLED) {
    mark.state = Mark::State::disabled;
  } else if (name == SUMAC_MARK_NOT_ABLE) {
    mark.state = Mark::State::not_able;
  } else {
    return false;
  }
  return true;
}

sumac_job own_job{};  // known since mark_as_served()

std::vector<int> parse_numbers(std::string_view list) {
  std::vector<int> numbers;
  while (!list.empty()) {
    const std::string_view word = take_word(list, ',');
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

bool mark_as_served(const char* family) {
  own_job = sumac_own_job(family, "/proc");
  if (own_job.numbers) own_job.numbers = strdup(own_job.numbers);
  return sumac_make_mark(&own_job, SUMAC_MARK_SERVED) != 0;
}

std::vector<Mark> parse_marks(std::string_view sockets) {
  constexpr std::string_view kPlace = " @" SUMAC_MARK_PREFIX;
  std::vector<Mark> marks;
  while (!sockets.empty()) {
    const std::string_view line = take_word(sockets, '\n');
    const std::size_t place = line.find(kPlace);
    Mark mark;
    if (place == line.npos || !parse_mark(line.substr(place + kPlace.size()), mark)) continue;
    marks.push_back(mark);
  }
  return marks;
}

const Mark* JobOnNode::find(int rank) const {
  const auto at = std::lower_bound(marks.begin(), marks.end(), rank,
                                   [](const Mark& mark, int wanted) { return mark.rank < wanted; });
  return at != marks.end() && at->rank == rank ? &*at : nullptr;
}

JobOnNode::Where JobOnNode::where(int rank, int world) const {
  if (!numbers.empty()) {
    return std::binary_search(numbers.begin(), numbers.end(), rank) ? Where::here
                                                                    : Where::elsewhere;
  }
  if (started == world) return Where::here;
  if (started == 0) return Where::unknown;
  return is_complete() ? Where::elsewhere : Where::unknown;
}

JobOnNode look_at_job(const sumac_job& job, std::string_view sockets, pid_t self) {
  JobOnNode seen;
  if (job.id == 0) return seen;
  std::vector<Mark> marks = parse_marks(sockets);
  std::erase_if(marks, [&](const Mark& mark) { return mark.job != job.id; });
  const bool sees_itself = std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) {
    return mark.rank == job.rank && mark.pid == self && mark.served();
  });
  if (!sees_itself) return seen;
  // A rank may have several processes, such as one that starts the program and the program itself.
  // Sumac serves the rank if it serves any of them.
  const auto key = [](const Mark& mark) { return std::pair(mark.rank, mark.state); };
  std::sort(marks.begin(), marks.end(),
            [&](const Mark& a, const Mark& b) { return key(a) < key(b); });
  const auto same = [](const Mark& a, const Mark& b) { return a.rank == b.rank; };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
  seen.own = job.rank;
  seen.started = job.ranks;
  if (job.numbers) seen.numbers = parse_numbers(job.numbers);
  seen.marks = std::move(marks);
  return seen;
}

JobOnNode look_at_job() {
  return own_job.id == 0 ? JobOnNode() : look_at_job(own_job, list_of_sockets(), getpid());
}

bool started_by_rank(const std::vector<Mark>& marks, std::uint64_t job, const char* proc,
                     pid_t self) {
  sumac_process_stat process;
  for (pid_t pid = self; pid > 1 && sumac_read_process_stat(proc, pid, &process);) {
    pid = process.parent;
    for (const Mark& mark : marks) {
      if (mark.job == job && mark.pid == pid) return true;
    }
  }
  return false;
}

bool started_by_rank() {
  return own_job.id != 0 &&
         started_by_rank(parse_marks(list_of_sockets()), own_job.id, "/proc", getpid());
}

}  // namespace sumac
