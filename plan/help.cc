// SPDX-License-Identifier: BSD-3-Clause
#include "plan/options.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace sumac::plan {
namespace {

constexpr std::size_t kColumns = 80, kLeft = 27;

// `left`, then `text` from column kLeft on, in lines of kColumns.
std::string row(const std::string& left, const std::string& text) {
  std::string result = "  " + left;
  if (result.size() > kLeft - 2) result += "\n" + std::string(kLeft, ' ');
  const std::size_t start = result.rfind('\n') == std::string::npos ? 0 : result.rfind('\n') + 1;
  std::size_t column = result.size() - start;
  if (column < kLeft) result += std::string(kLeft - column, ' ');
  column = kLeft;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool first = column == kLeft;
    if (!first && column + 1 + word.size() > kColumns) {
      result += "\n" + std::string(kLeft, ' ') + word;
      column = kLeft + word.size();
    } else {
      result += (first ? "" : " ") + word;
      column += word.size() + (first ? 0 : 1);
    }
  }
  return result + "\n";
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) names += "--" + name;
  const std::string type = option.get_type_name();
  if (type[0] == '[') return names + type;  // a value that may be left out
  return names + (option.get_items_expected_max() > 0 && !type.empty() ? " " + type : "");
}

}  // namespace

std::string help_of(const CLI::App& app, const char* examples, const char* status) {
  std::string usage = "Usage: " + app.get_name() + " [OPTIONS]", arguments, options, last;
  for (const CLI::Option* option : app.get_options()) {
    const std::string line = row(names_of(*option), option->get_description());
    if (option->get_positional()) {
      const std::string name = option->get_name(true);
      usage += option->get_required() ? " " + name : " [" + name + "]";
      arguments += line;
    } else {
      (option == app.get_help_ptr() ? last : options) += line;
    }
  }
  return usage + "\n\n" + app.get_description() + "\n\nExamples:\n" + examples + "\nArguments:\n" +
         arguments + "\nOptions:\n" + options + last + "\n" + status;
}

}  // namespace sumac::plan
