// SPDX-License-Identifier: BSD-3-Clause
// A rank writes such a file for people, and lines of JSON in it: into a folder of theirs, readable
// by its owner alone, and never over an existing file or through a link.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>

namespace sumac {

// Returns the absolute path of a folder that files can be made in, since the program may change its
// working directory. Returns an empty text, with the cause in errno, if no file can be made there.
std::string writable_folder(const char* folder);

// Makes FOLDER/<name> anew, mode 0600. Returns its descriptor, or -1, with the cause in errno, if
// the file exists or cannot be made.
int make_own_file(const std::string& folder, const std::string& name);
// Does the same in an open folder.
int make_own_file(int folder, const std::string& name);

// Returns false, with the cause in errno, if not everything could be written.
bool write_all(int file, const void* data, std::size_t size);

// Returns the text as a string of JSON. Control characters are left out.
std::string quoted(const std::string& text);

// A JsonLine is one object of JSON on a line, as in the files of a recording.
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
