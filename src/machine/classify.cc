// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.h"
#include "base/text.h"
#include "machine/place.h"

namespace sumac {
namespace {

// Removes the domain from a host's name; addresses are left as they are.
std::string_view without_domain(std::string_view host) {
  if (host.find_first_not_of("0123456789.") == host.npos) return host;
  return host.substr(0, host.find('.'));
}

// Matches a pattern in which * stands for any characters and ? for one.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;  // the star takes one letter more
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace

void classify(std::string_view slow_hosts, int forced_class, const char* host_name, Place& place) {
  constexpr int kFast = 1, kSlow = 2;
  const std::string_view host = host_name, short_host = without_domain(host);
  place.host = hash_text(short_host);
  place.attached = 0;
  place.slow = forced_class == kSlow;
  while (!slow_hosts.empty() && forced_class != kFast) {
    std::string_view owner = take_word(slow_hosts, ',');
    const std::string_view pattern = take_word(owner, '@');
    if (pattern.empty() || !(matches(pattern, host) || matches(pattern, short_host))) continue;
    place.slow = true;
    owner = trimmed(owner);
    if (!owner.empty()) place.attached = hash_text(without_domain(owner));
    return;
  }
}

}  // namespace sumac
