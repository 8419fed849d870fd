// SPDX-License-Identifier: BSD-3-Clause
// A JsonLine is one object of JSON on a line, as in the files of a recording.
#pragma once

#include <concepts>
#include <string>

namespace sumac {

// Returns the text as a string of JSON. Control characters are left out.
std::string quoted(const std::string& text);

class JsonLine {
 public:
  // The first key tells what the line is about.
  template <class Value>
  JsonLine(const char* key, const Value& value) {
    add(key, value);
  }
  void add(const char* key, const std::string& value) { put(key, quoted(value)); }
  void add(const char* key, const char* value) { put(key, quoted(value)); }
  void add(const char* key, bool value) { put(key, value ? "true" : "false"); }
  template <std::integral Number>
  void add(const char* key, Number value) {
    put(key, std::to_string(value));
  }
  std::string text() const { return text_ + '}'; }

 private:
  void put(const char* key, const std::string& value) {
    text_ += text_.empty() ? "{\"" : ", \"";
    text_ += key;
    text_ += "\": ";
    text_ += value;
  }
  std::string text_;
};

}  // namespace sumac
