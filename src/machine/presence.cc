// SPDX-License-Identifier: BSD-3-Clause
#include "machine/presence.h"

#include <algorithm>
#include <charconv>

#include "base/process_stat.h"
#include "base/text.h"

namespace sumac {
namespace {

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

}  // namespace sumac
