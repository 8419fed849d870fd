// SPDX-License-Identifier: BSD-3-Clause
#include "plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sumac::replay {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kMostCommunicators = 1000;  // some MPIs have 2048 in all

Word mix(Word hash, Word value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// What all ranks have at one place of a rank's calls: a communicator, or a persistent operation.
struct Line {
  Word key = 0;    // the same on all its ranks
  int comm = 0;    // in this rank's record
  Word count = 0;  // of calls on it, or starts
  Word calls = 0;  // a hash of them
};

// One entry of all ranks' lists.
struct Entry {
  Word key, count, calls;
};

class Planner {
 public:
  Planner(const Record& record, MPI_Comm world) : record_(record), world_(world) {
    std::map<std::vector<int>, Word> seen;
    for (std::size_t c = 0; c < record.comms.size(); ++c) {
      const std::vector<int>& members = record.comms[c].members;
      Word key = members.size();  // else the keys of others could begin as this one
      for (const int member : members) key = mix(key, static_cast<Word>(member) + 1);
      occurrence_.push_back(members.empty() ? 0 : seen[members]++);
      keys_.push_back(mix(mix(key, occurrence_.back()), 0));
    }
  }

  std::size_t stop(std::size_t most);
  void compare() const;
  std::vector<MPI_Comm> make() const;
  bool can_be_made(int comm) const {
    return !record_.comms[static_cast<std::size_t>(comm)].members.empty();
  }

 private:
  // Counts the events before `stop`. `limits` (by key) lets the count end at the first event that
  // is beyond its line's limit; returns where.
  std::size_t count(std::size_t stop, const std::map<Word, Word>* limits);
  std::vector<std::vector<Entry>> gather() const;
  std::map<Word, Word> limits() const;
  Word describe(const Shape& shape) const;
  bool advance(Line& line, Word what, const std::map<Word, Word>* limits);

  const Record& record_;
  const MPI_Comm world_;
  std::vector<Word> keys_, occurrence_;
  std::map<Word, Line> lines_;
};

// What all ranks must have the same of.
Word Planner::describe(const Shape& shape) const {
  Word hash = mix(static_cast<Word>(shape.function), static_cast<Word>(shape.form));
  hash = mix(hash, static_cast<Word>(shape.root + 2));
  if (shape.op == kNone) return hash;
  for (const char c : record_.ops[static_cast<std::size_t>(shape.op)]) {
    hash = mix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

bool Planner::advance(Line& line, Word what, const std::map<Word, Word>* limits) {
  if (limits && line.count >= limits->at(line.key)) return false;
  ++line.count;
  line.calls = mix(line.calls, what);
  return true;
}

std::size_t Planner::count(std::size_t stop, const std::map<Word, Word>* limits) {
  std::vector<Word> persistent(record_.num_requests, 0);  // their keys
  std::map<int, Word> made;                               // persistent ones, by communicator
  for (auto& [key, line] : lines_) line.count = line.calls = 0;
  for (std::size_t e = 0; e < stop; ++e) {
    const Event& event = record_.events[e];
    if (event.shape != kNone) {
      const Shape& shape = record_.shapes[static_cast<std::size_t>(event.shape)];
      if (!can_be_made(shape.comm)) continue;
      const Word key = keys_[static_cast<std::size_t>(shape.comm)];
      Line& line = lines_[key];
      line.key = key;
      line.comm = shape.comm;
      if (!advance(line, describe(shape), limits)) return e;
      if (event.kind != 'p') continue;
      const Word own = mix(key, ++made[shape.comm]);
      persistent[record_.requests[event.first]] = own;
      lines_[own].key = own;
      lines_[own].comm = shape.comm;
    } else if (event.kind == 'g') {
      for (std::uint32_t i = 0; i < event.requests; ++i) {
        const Word key = persistent[record_.requests[event.first + i]];
        if (key != 0 && !advance(lines_[key], 1, limits)) return e;
      }
    }
  }
  return stop;
}

std::vector<std::vector<Entry>> Planner::gather() const {
  std::vector<Entry> own;
  for (const auto& [key, line] : lines_) own.push_back({key, line.count, line.calls});
  int ranks = 1;
  MPI_Comm_size(world_, &ranks);
  const int bytes = static_cast<int>(own.size() * sizeof(Entry));
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), places(sizes.size());
  MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, world_);
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
  const auto total = static_cast<std::size_t>(places.back() + sizes.back());
  std::vector<Entry> all(total / sizeof(Entry) + 1);
  MPI_Allgatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE,
                 world_);
  std::vector<std::vector<Entry>> result;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const auto first = all.begin() + places[r] / static_cast<int>(sizeof(Entry));
    result.emplace_back(first, first + sizes[r] / static_cast<int>(sizeof(Entry)));
  }
  return result;
}

// Of each own line: the least count of its ranks.
std::map<Word, Word> Planner::limits() const {
  const auto all = gather();
  std::map<Word, Word> least;
  for (const auto& [key, line] : lines_) {
    Word limit = line.count;
    for (const int member : record_.comms[static_cast<std::size_t>(line.comm)].members) {
      Word theirs = 0;
      if (member < static_cast<int>(all.size())) {
        for (const Entry& entry : all[static_cast<std::size_t>(member)]) {
          if (entry.key == key) theirs = entry.count;
        }
      }
      limit = std::min(limit, theirs);
    }
    least[key] = limit;
  }
  return least;
}

// A rank that stops earlier takes counterparts from others: until none stops earlier.
std::size_t Planner::stop(std::size_t most) {
  std::size_t stop = count(std::min(most, record_.events.size()), nullptr);
  for (int changed = 1; changed;) {
    const std::map<Word, Word> least = limits();
    const std::size_t earlier = count(stop, &least);
    changed = earlier != stop;
    stop = earlier;
    MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, world_);
  }
  count(stop, nullptr);
  return stop;
}

void Planner::compare() const {
  const auto all = gather();
  int rank = 0, differs = 0;
  MPI_Comm_rank(world_, &rank);
  std::string what;
  for (const auto& [key, line] : lines_) {
    const CommText& comm = record_.comms[static_cast<std::size_t>(line.comm)];
    for (const int member : comm.members) {
      for (const Entry& entry : all[static_cast<std::size_t>(member)]) {
        if (entry.key != key || (entry.count == line.count && entry.calls == line.calls)) continue;
        differs = 1;
        what = "ranks " + std::to_string(rank) + " and " + std::to_string(member) +
               " have other calls on " + (comm.name.empty() ? "a communicator" : comm.name);
      }
    }
  }
  int anywhere = differs;
  MPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_MAX, world_);
  if (!anywhere) return;
  throw Failure("replay-mismatch", differs ? what : "ranks have other calls");
}

std::vector<MPI_Comm> Planner::make() const {
  std::vector<MPI_Comm> comms(record_.comms.size(), MPI_COMM_NULL);
  std::vector<std::size_t> order;
  for (const auto& [key, line] : lines_) {
    const auto comm = static_cast<std::size_t>(line.comm);
    if (key == keys_[comm] && line.count > 0) order.push_back(comm);
  }
  if (order.size() > kMostCommunicators) {
    throw Failure("replay-communicators",
                  "a rank's calls are on " + std::to_string(order.size()) + " communicators");
  }
  // In one order on all ranks, lest they wait for one another in a circle.
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const auto &left = record_.comms[a].members, &right = record_.comms[b].members;
    return left != right ? left < right : occurrence_[a] < occurrence_[b];
  });
  MPI_Group world;
  MPI_Comm_group(world_, &world);
  for (const std::size_t c : order) {
    const std::vector<int>& members = record_.comms[c].members;
    MPI_Group group;
    MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
    MPI_Comm_create_group(world_, group, 0, &comms[c]);
    MPI_Group_free(&group);
  }
  MPI_Group_free(&world);
  return comms;
}

}  // namespace

Plan make_plan(const Record& record, std::size_t most, MPI_Comm world) {
  Planner planner(record, world);
  Plan plan;
  plan.events = planner.stop(most);
  planner.compare();
  plan.comms = planner.make();
  for (std::size_t e = 0; e < record.events.size(); ++e) {
    const Event& event = record.events[e];
    if (event.shape == kNone) continue;
    const int comm = record.shapes[static_cast<std::size_t>(event.shape)].comm;
    if (e >= plan.events) {
      ++plan.cut;
    } else if (!planner.can_be_made(comm)) {
      ++plan.left_out;
    }
  }
  return plan;
}

void free_communicators(Plan& plan) {
  for (MPI_Comm& comm : plan.comms) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

}  // namespace sumac::replay
