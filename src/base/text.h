// SPDX-License-Identifier: BSD-3-Clause
// Texts of several words, such as options.
#pragma once

#include <string_view>

namespace sumac {

constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Removes from the front of `text` the word before the separator, and the separator, and returns
// the word: all of the text where there is no separator.
constexpr std::string_view take_word(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return trimmed(word);
}

}  // namespace sumac
