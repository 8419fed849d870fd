// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/kinds.h"

#include <bit>

#include "base/hash.h"
#include "observe/json_line.h"

namespace sumac {
namespace {

constexpr std::size_t kMostExact = 1 << 14, kMost = 1 << 16, kMostTypes = 4096;

std::uint64_t hash_of(const char* name, std::uint64_t hash) {
  return hash_value(reinterpret_cast<std::uintptr_t>(name), hash);
}

}  // namespace

std::size_t CallKinds::Hash::operator()(const CallKindKey& key) const {
  std::uint64_t hash = hash_of(key.op, hash_of(key.form, hash_of(key.function, SUMAC_HASH_START)));
  const std::uint64_t numbers[] = {
      static_cast<std::uint64_t>(key.communicator) << 32 | key.type,
      static_cast<std::uint64_t>(key.root) << 32 | key.site,
      static_cast<std::uint64_t>(key.operation) << 2 | key.in_place << 1 | key.rounded, key.count,
      key.bytes};
  return hash_value(numbers, hash);
}

CallKinds::CallKinds() {
  sums_.resize(1);
  number_of_type("");
}

std::uint32_t CallKinds::number_of_type(const std::string& name) {
  if (const auto found = type_numbers_.find(name); found != type_numbers_.end()) {
    return found->second;
  }
  if (types_.size() >= kMostTypes) return number_of_type("");
  types_.push_back(name);
  return type_numbers_[name] = static_cast<std::uint32_t>(types_.size() - 1);
}

std::uint32_t CallKinds::number_of(CallKindKey key, std::string& line) {
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  if (numbers_.size() >= kMostExact && !key.rounded) {
    key.rounded = true;
    key.count = std::bit_floor(key.count);
    key.bytes = std::bit_floor(key.bytes);
    key.site = 0;
    return number_of(key, line);
  }
  if (numbers_.size() >= kMost) return 0;
  const auto number = static_cast<std::uint32_t>(sums_.size());
  sums_.emplace_back();
  numbers_.emplace(key, number);
  line = text_of(number, key);
  return number;
}

std::string CallKinds::text_of(std::uint32_t number, const CallKindKey& key) const {
  JsonLine line("kind", number);
  line.add("function", key.function);
  line.add("form", key.form);
  if (key.communicator >= 0) line.add("communicator", key.communicator);
  if (*key.op) line.add("operation", key.op);
  if (!types_[key.type].empty()) line.add("type", types_[key.type]);
  line.add("count", key.count);
  line.add("bytes", key.bytes);
  if (key.root >= 0) line.add("root", key.root);
  if (key.site > 0) line.add("site", key.site);
  if (key.operation >= 0) line.add("persistent", key.operation);
  if (key.in_place) line.add("in_place", true);
  if (key.rounded) line.add("rounded", true);
  return line.text();
}

std::string CallKinds::all_sums() const {
  std::string all;
  for (std::size_t number = 0; number < sums_.size(); ++number) {
    const CallSums& sums = sums_[number];
    if (sums.calls == 0) continue;
    JsonLine line("sums", number);
    line.add("calls", sums.calls);
    line.add("kept", sums.kept);
    line.add("bytes", sums.bytes);
    line.add("inside_ns", sums.inside);
    line.add("completing_ns", sums.completing);
    if (!all.empty()) all += '\n';
    all += line.text();
  }
  return all;
}

}  // namespace sumac
