// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace_events.h"

#include <map>
#include <string>

namespace sumac::trace {
namespace {

// Gives each text a number, and calls define(number) at its first use.
class Numbers {
 public:
  template <class Define>
  std::uint32_t of(const std::string& text, Define define) {
    const auto [place, is_new] =
        numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) define(place->second);
    return place->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

std::string head(const Recorded& recorded, int rank, int size) {
  JsonLine line = recording_head(Recording::trace, rank, size);
  line.add("dropped", recorded.pieces.dropped() + recorded.calls.dropped());
  return line.text();
}

TracedOperation record_of(RecordingFile& file, Numbers& names, const MeasuredCall& call) {
  const std::uint32_t name = names.of(call.name, [&](std::uint32_t number) {
    JsonLine line("name", number);
    line.add("text", call.name);
    file.add(line.text());
  });
  return {name, 0, call.number, call.bytes, call.group, call.call, call.begin, call.end};
}

TracedPiece record_of(RecordingFile& file, Numbers& lanes, const MeasuredPiece& piece) {
  const std::string text = std::string(piece.level) + '\n' + piece.stage + '\n' + piece.algorithm;
  const std::uint32_t lane = lanes.of(text, [&](std::uint32_t number) {
    JsonLine line("lane", number);
    line.add("level", piece.level);
    line.add("stage", piece.stage);
    line.add("algorithm", piece.algorithm);
    file.add(line.text());
  });
  return {lane, 0, piece.operation, piece.chunk, piece.begin, piece.end};
}

template <class Event>
bool write_all(RecordingFile& file, const Buffer<Event>& events) {
  Numbers numbers;
  for (const Event& event : events) {
    if (event.end == 0) continue;  // a thread has taken the place but not filled it yet
    file.add(record_of(file, numbers, event));
    if (file.is_full() && !file.flush()) return false;
  }
  return true;
}

}  // namespace

bool write_events(RecordingFile& file, const Recorded& recorded, int rank, int size) {
  file.add(head(recorded, rank, size));
  return write_all(file, recorded.calls) && write_all(file, recorded.pieces) && file.flush();
}

}  // namespace sumac::trace
