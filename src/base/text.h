// SPDX-License-Identifier: BSD-3-Clause
// Texts that hold several words: options mostly.
#pragma once

#include <string_view>

namespace sumac {

constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes what is before the separator, and the separator, off the front of the text: all of it where
// there is no separator.
constexpr std::string_view take_word(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return trimmed(word);
}

}  // namespace sumac
