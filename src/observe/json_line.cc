// SPDX-License-Identifier: BSD-3-Clause
#include "observe/json_line.h"

namespace sumac {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace sumac
