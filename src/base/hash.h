// SPDX-License-Identifier: BSD-3-Clause
// FNV-1a gives the same number for the same bytes on all machines of one byte order. It is in C
// because the options use it. It must not be used for untrusted input.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SUMAC_HASH_START UINT64_C(0xcbf29ce484222325)

// Continues `hash` over `size` bytes; a new hash starts with SUMAC_HASH_START.
static inline uint64_t sumac_hash(const void* data, size_t size, uint64_t hash) {
  const unsigned char* bytes = (const unsigned char*)data;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#ifdef __cplusplus
#include <string_view>

namespace sumac {

inline std::uint64_t hash_text(std::string_view text, std::uint64_t hash = SUMAC_HASH_START) {
  return sumac_hash(text.data(), text.size(), hash);
}

// The type of `value` must have no padding.
template <class T>
std::uint64_t hash_value(const T& value, std::uint64_t hash = SUMAC_HASH_START) {
  return sumac_hash(&value, sizeof value, hash);
}

}  // namespace sumac
#endif
