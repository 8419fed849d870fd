// SPDX-License-Identifier: BSD-3-Clause
// These functions take texts of several words apart, such as options.
#pragma once

#include <string_view>

namespace sumac {

constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Removes the word before the separator, and the separator, from the front of `text`, and returns
// the word. Takes all of the text if it has no separator.
constexpr std::string_view take_word(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return trimmed(word);
}

}  // namespace sumac
