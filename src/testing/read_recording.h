// SPDX-License-Identifier: BSD-3-Clause
// Reads a rank's file of a recording back (observe/recording_file.h).
#pragma once

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "observe/recording_file.h"

namespace sumac::testing {

struct ReadRecording {
  std::vector<std::string> lines;               // lines of JSON
  std::map<std::string, std::string> sections;  // contents of all sections of a name, joined

  template <class Record>
  std::vector<Record> records() const {
    const auto found = sections.find(Record::kSection);
    if (found == sections.end()) return {};
    std::vector<Record> all(found->second.size() / sizeof(Record));
    std::memcpy(all.data(), found->second.data(), all.size() * sizeof(Record));
    return all;
  }
};

inline ReadRecording read_recording(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string content = all.str();
  ReadRecording read;
  for (std::size_t at = 0; at + 8 <= content.size();) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, content.data() + at + 4, sizeof bytes);
    read.sections[content.substr(at, 4)] += content.substr(at + 8, bytes);
    at += 8 + bytes;
  }
  std::istringstream text(read.sections["text"]);
  for (std::string line; std::getline(text, line);) read.lines.push_back(line);
  return read;
}

// Returns the value that a line of JSON has for a key, without quotes; nothing if it has none.
inline std::string value_of(const std::string& line, const std::string& key) {
  const std::string before = "\"" + key + "\": ";
  const std::size_t found = line.find(before);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + before.size();
  const bool quoted = line[begin] == '"';
  return line.substr(begin + quoted,
                     line.find_first_of(quoted ? "\"" : ",}", begin + quoted) - begin - quoted);
}

}  // namespace sumac::testing
