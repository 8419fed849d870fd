// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { kLongest = 32 };  // longer names get no suggestion

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static int same(char a, char b) { return toupper((unsigned char)a) == toupper((unsigned char)b); }

// Returns the number of edits (insert, delete, replace, swap two neighbours) that turn `a` into
// `b`. Each has at most kLongest characters. The function keeps three rows of the usual table.
static size_t edit_distance(const char* a, size_t a_length, const char* b, size_t b_length) {
  size_t rows[3][kLongest + 1];
  for (size_t j = 0; j <= b_length; ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a_length; ++i) {
    size_t* row = rows[i % 3];
    const size_t* above = rows[(i - 1) % 3];
    const size_t* above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_length; ++j) {
      const size_t replaced = above[j - 1] + !same(a[i - 1], b[j - 1]);
      row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = least(row[j], above2[j - 2] + 1);
      }
    }
  }
  return rows[a_length % 3][b_length];
}

const char* sumac_nearest(const char* name, size_t length, const char* const* known, size_t count) {
  if (length == 0 || length > kLongest) return NULL;
  const char* nearest = NULL;
  // A word with one wrong letter in three is still the same word, but at least one letter must be
  // right.
  size_t best = least((length + 2) / 3 + 1, length);
  for (size_t i = 0; i < count; ++i) {
    const size_t known_length = strlen(known[i]);
    if (known_length > kLongest) continue;
    const size_t distance = edit_distance(name, length, known[i], known_length);
    if (distance < best) {
      best = distance;
      nearest = known[i];
    }
  }
  return nearest;
}
