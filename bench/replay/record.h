// SPDX-License-Identifier: BSD-3-Clause
// One rank's file of a record (docs/replay.md), read.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "interpose/calls/call.h"

namespace sumac::replay {

// What is wrong, under the slug of docs/troubleshooting.md.
struct Failure : std::runtime_error {
  Failure(const char* the_slug, const std::string& what)
      : std::runtime_error(what), slug(the_slug) {}
  const char* slug;
};

inline constexpr int kNone = -1;

struct Side {
  bool given = false, in_place = false;
  std::int64_t place = 0, count = 0;
  int type = kNone;
  std::vector<std::int64_t> counts, places;  // of the ranks' parts
  std::vector<int> types;
};

struct Shape {
  Function function = Function::barrier;
  Form form = Form::blocking;
  bool large = false;
  int comm = kNone, root = kNoRoot, op = kNone;
  Side send, receive;
};

struct TypeText {
  std::string constructor, name;
  std::vector<std::int64_t> numbers;
  std::vector<int> types;
};

struct CommText {
  std::vector<int> members;  // none: it cannot be made again
  std::string name;
};

struct Event {
  char kind = 0;                          // the letter of its line: b i p g w f
  int shape = kNone;                      // of b i p
  std::uint32_t first = 0, requests = 0;  // in Record::requests
  std::uint64_t gap = 0;                  // ns
};

struct Record {
  int rank = 0, ranks = 1;
  bool ended = false;     // the program, not the record alone
  bool overlaps = false;  // threads made calls at the same time
  std::vector<CommText> comms;
  std::vector<TypeText> types;
  std::vector<std::string> ops;
  std::vector<Shape> shapes;
  std::vector<Event> events;
  std::vector<std::uint32_t> requests;
  std::uint32_t num_requests = 0;
};

// Throws Failure.
Record read_record(const std::string& path);

}  // namespace sumac::replay
