// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace_events.h"

#include <unistd.h>

#include <cinttypes>
#include <cstring>

namespace sumac::trace {
namespace {

constexpr int kMostLanes = 64;

// The threads of the process as a viewer shows them: one for each level and stage; 0 is for whole
// operations. When there are too many, the last one takes the rest.
class Lanes {
 public:
  int find(const Piece& piece) {
    int lane = 0;
    while (lane < count_ && !same(*first_[lane], piece)) ++lane;
    if (lane == kMostLanes) return lane;
    if (lane == count_) first_[count_++] = &piece;
    return lane + 1;
  }
  int count() const { return count_; }
  const Piece& operator[](int lane) const { return *first_[lane]; }

 private:
  static bool same(const Piece& a, const Piece& b) {
    return std::strcmp(a.level, b.level) == 0 && std::strcmp(a.stage, b.stage) == 0;
  }

  const Piece* first_[kMostLanes];
  int count_ = 0;
};

// Microseconds, the unit of viewers. They count from the day's beginning: a double holds the
// microseconds of a day to the nanosecond, but not those since 1970.
struct Span {
  std::FILE* file;
  std::uint64_t day;

  void write(std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t start = begin - day, length = end > begin ? end - begin : 0;
    std::fprintf(file, "\"ts\":%" PRIu64 ".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64,
                 start / 1000, start % 1000, length / 1000, length % 1000);
  }
};

void write_name(std::FILE* file, int rank, int lane, const char* name, const char* stage) {
  std::fprintf(file,
               ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,"
               "\"args\":{\"name\":\"%s%s%s\"}}",
               rank, lane, name, *stage ? " " : "", stage);
}

void write_head(std::FILE* file, const Recorded& recorded, int rank, int size) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  for (char& c : host) {
    if (c == '"' || c == '\\' || (c != '\0' && c < ' ')) c = '_';
  }
  std::fprintf(file,
               "[\n{\"ph\":\"M\",\"name\":\"sumac_trace\",\"pid\":%d,\"tid\":0,\"args\":{"
               "\"format\":1,\"rank\":%d,\"ranks\":%d,\"host\":\"%s\",\"day_ns\":%" PRIu64
               ",\"dropped\":%zu}}",
               rank, rank, size, host, recorded.day,
               recorded.pieces.dropped() + recorded.calls.dropped());
  std::fprintf(file,
               ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,"
               "\"args\":{\"name\":\"rank %d on %s\"}}",
               rank, rank, host);
}

void write_call(const Span& span, int rank, const Call& call) {
  std::fprintf(span.file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":0,", call.name,
               rank);
  span.write(call.begin, call.end);
  std::fprintf(span.file,
               ",\"args\":{\"operation\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"group\":\"%016" PRIx64
               "\",\"call\":%" PRIu64 "}}",
               call.number, call.bytes, call.group, call.call);
}

void write_piece(const Span& span, int rank, int lane, const Piece& piece) {
  std::fprintf(span.file, ",\n{\"ph\":\"X\",\"name\":\"%s %s\",\"pid\":%d,\"tid\":%d,", piece.level,
               piece.stage, rank, lane);
  span.write(piece.begin, piece.end);
  std::fprintf(span.file,
               ",\"args\":{\"operation\":%" PRIu64 ",\"chunk\":%" PRIu64
               ",\"level\":\"%s\",\"stage\":\"%s\"}}",
               piece.operation, piece.chunk, piece.level, piece.stage);
}

}  // namespace

void write_events(std::FILE* file, const Recorded& recorded, int rank, int size) {
  const Span span{file, recorded.day};
  write_head(file, recorded, rank, size);
  write_name(file, rank, 0, "operation", "");
  for (const Call& call : recorded.calls) {
    if (call.end) write_call(span, rank, call);
  }
  Lanes lanes;
  for (const Piece& piece : recorded.pieces) {
    if (piece.end) write_piece(span, rank, lanes.find(piece), piece);
  }
  for (int lane = 0; lane < lanes.count(); ++lane) {
    write_name(file, rank, lane + 1, lanes[lane].level, lanes[lane].stage);
  }
  std::fputs("\n]\n", file);
}

}  // namespace sumac::trace
