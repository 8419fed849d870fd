// SPDX-License-Identifier: BSD-3-Clause
// What is wrong when ranks differ: which rank, and how.
#include <atomic>
#include <cstring>

#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/set_up.h"
#include "observe/log.h"

namespace sumac {
namespace {

struct Text {
  char characters[256];
};

Text own_text(const Communicator& c) {
  Text text{};
  sumac_options_text(&options, text.characters, sizeof text.characters);
  std::size_t used = std::strlen(text.characters);
  // Files of one name may differ: what they say counts.
  if (!user_rules().rules.empty()) {
    std::snprintf(text.characters + used, sizeof text.characters - used,
                  " RULES=%.100s (content %08x)", options.rules,
                  static_cast<unsigned>(user_rules().hash));
    used = std::strlen(text.characters);
  }
  std::snprintf(text.characters + used, sizeof text.characters - used, "%s%s",
                c.hierarchy.empty() ? "" : " info key sumac_hierarchy=", c.hierarchy.c_str());
  return text;
}

const char* or_defaults(const Text& text) {
  if (text.characters[0] == '\0') return "only defaults";
  return text.characters + (text.characters[0] == ' ' ? 1 : 0);
}

}  // namespace

void explain_difference(Communicator& c, const std::vector<Hello>& hellos) {
  const Text own = own_text(c);
  std::vector<Text> texts(hellos.size());
  mpi.Allgather(&own, sizeof own, MPI_BYTE, texts.data(), sizeof own, MPI_BYTE, c.comm);
  static std::atomic<bool> told;
  if (told.exchange(true)) return;
  for (std::size_t r = 1; r < hellos.size(); ++r) {
    if (hellos[r].options == hellos[0].options) continue;
    log(Level::warn, "warning[options-differ]: rank %zu has %s, rank 0 has %s; give all the same",
        r, or_defaults(texts[r]), or_defaults(texts[0]));
    return;
  }
}

}  // namespace sumac
