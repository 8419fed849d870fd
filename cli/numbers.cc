// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "config/options.h"

namespace sumac {
namespace {

template <typename Number>
std::string outside(Number number, Number least, Number most) {
  std::ostringstream text;
  if (number < least) text << "less than " << least;
  if (number > most) text << "more than " << most;
  return text.str();
}

std::string_view without_unit_of_bytes(std::string_view text) {
  const bool bytes = !text.empty() && (text.back() == 'B' || text.back() == 'b');
  if (bytes) text.remove_suffix(1);
  if (bytes && !text.empty() && (text.back() == 'i' || text.back() == 'I')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string read_whole_number(const std::string& text, std::int64_t least, std::int64_t most,
                              std::int64_t& number) {
  std::int64_t read = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, read);
  if (error == std::errc::invalid_argument || stopped != end) return "not a whole number";
  if (error == std::errc::result_out_of_range) read = text[0] == '-' ? INT64_MIN : INT64_MAX;
  const std::string wrong = outside(read, least, most);
  if (wrong.empty()) number = read;
  return wrong;
}

std::string read_real_number(const std::string& text, double least, double most, double& number) {
  char* stopped = nullptr;
  const double read = std::strtod(text.c_str(), &stopped);
  const bool begins = !text.empty() && !std::isspace(static_cast<unsigned char>(text[0]));
  if (!begins || *stopped != '\0' || std::isnan(read)) return "not a number";
  const std::string wrong = outside(read, least, most);
  if (wrong.empty()) number = read;
  return wrong;
}

std::string read_size(const std::string& text, std::uint64_t& bytes) {
  std::uint64_t read = 0;
  const std::string number(without_unit_of_bytes(text));
  if (sumac_parse_bytes(number.c_str(), &read) != 0) return "not a size";
  if (read > kMostBytes) return "more than " + std::to_string(kMostBytes >> 30) + "G";
  bytes = read;
  return "";
}

}  // namespace sumac
