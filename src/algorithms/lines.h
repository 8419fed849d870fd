// SPDX-License-Identifier: BSD-3-Clause
// Small messages as cache lines that carry their own flags: no line is waited for after the flag
// that tells of it, so all lines of a message travel at the same time.
#pragma once

#include <cstring>

#include "algorithms/chunks.h"
#include "algorithms/fold.h"
#include "transport/shm/group.h"

namespace sumac {

inline int lines_for(std::size_t bytes) { return static_cast<int>(div_up(bytes, kLineData)); }

// Writes this rank's lines, each published as soon as it is full.
inline void put_lines(const ShmGroup& group, std::uint64_t position, const std::byte* from,
                      std::size_t bytes) {
  Line* line = &group.line(group.rank(), position, 0);
  for (; bytes > kLineData; ++line, from += kLineData, bytes -= kLineData) {
    std::memcpy(line->data, from, kLineData);
    publish(line->in, position + 1);
  }
  std::memcpy(line->data, from, bytes);
  publish(line->in, position + 1);
}

// Collects a rank's lines, which must all be in.
inline void take_lines(const ShmGroup& group, int rank, std::uint64_t position, std::byte* to,
                       std::size_t bytes) {
  const Line* line = &group.line(rank, position, 0);
  for (; bytes > kLineData; ++line, to += kLineData, bytes -= kLineData) {
    std::memcpy(to, line->data, kLineData);
  }
  std::memcpy(to, line->data, bytes);
}

// As fold_lines, what does not fit one line, by the program's function.
inline void fold_lines_by_user(const ShmGroup& group, std::uint64_t position,
                               const ReduceArguments& args) {
  alignas(kCacheLine) std::byte collected[round_up(kLinesData, kCacheLine)];
  fold(args, args.output, group.size(), args.count, [&](int r) -> const std::byte* {
    if (r == group.rank()) return args.input;
    take_lines(group, r, position, collected, args.bytes());
    return collected;
  });
}

// Folds all ranks' lines, this rank's own data taken from the input, in rank order into the output,
// which may be the input.
inline void fold_lines(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args) {
  const std::byte* const input = args.input;
  const std::size_t bytes = args.bytes();
  const int ranks = group.size();
  if (bytes <= kLineData) {
    fold(args, args.output, ranks, args.count, [&](int r) -> const std::byte* {
      return r == group.rank() ? input : group.line(r, position, 0).data;
    });
    return;
  }
  if (args.user) return fold_lines_by_user(group, position, args);
  alignas(kCacheLine) std::byte collected[kMaxSources][round_up(kLinesData, kCacheLine)];
  alignas(kCacheLine) std::byte partial[round_up(kLinesData, kCacheLine)];
  for (int r = 0; r < ranks;) {
    const void* sources[kMaxSources];
    int taken = 0;
    if (r > 0) sources[taken++] = partial;
    for (; taken < kMaxSources && r < ranks; ++r, ++taken) {
      sources[taken] = input;
      if (r == group.rank()) continue;
      take_lines(group, r, position, collected[taken], bytes);
      sources[taken] = collected[taken];
    }
    args.kernel(r < ranks ? partial : args.output, sources, taken, args.count);
  }
}

}  // namespace sumac
