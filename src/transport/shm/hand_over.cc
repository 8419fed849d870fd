// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/hand_over.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sumac {

#if defined(__x86_64__)
void copy_streamed(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto misplaced = reinterpret_cast<std::uintptr_t>(to) % kCacheLine;
  const std::size_t head = std::min(bytes, misplaced == 0 ? 0 : kCacheLine - misplaced);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; done + kCacheLine <= bytes; done += kCacheLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + done);
    auto* line = reinterpret_cast<__m128i*>(to + done);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  std::memcpy(to + done, from + done, bytes - done);
  _mm_sfence();  // a flag's release store does not wait for streamed stores
}
#else
void copy_streamed(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
#endif

// The way in use stays unless the other is clearly cheaper: an eighth is what two measurements of
// one way differ by.
void HandOver::decide(std::uint64_t period, const std::array<std::uint64_t, kWays>& read) {
  std::uint64_t cost[kWays];
  for (std::size_t way = 0; way < kWays; ++way) {
    const std::uint64_t stored = stored_[way].of(period);
    if (stored == 0 || read[way] == 0) return;
    cost[way] = stored + read[way];
  }
  const auto used = static_cast<std::size_t>(chosen_);
  const std::size_t other = 1 - used;
  if (8 * cost[other] < 7 * cost[used]) chosen_ = static_cast<Way>(other);
}

}  // namespace sumac
