// SPDX-License-Identifier: BSD-3-Clause
#include "check_report.h"

#include <nlohmann/json.hpp>

namespace sumac::bench {

using Json = nlohmann::ordered_json;

std::string to_json(const Checked& checked) {
  Json collectives = Json::array();
  long wrong = 0;
  for (const Attempt& attempt : checked.attempts) {
    collectives.push_back({{"collective", name_of(attempt.test.collective)},
                           {"bytes", attempt.test.bytes()},
                           {"algorithm", attempt.algorithm},
                           {"wrong", attempt.wrong}});
    wrong += attempt.wrong;
  }
  const Json text = {{"kind", "check"},
                     {"family", checked.here.family},
                     {"mpi", checked.here.mpi},
                     {"ranks", checked.here.ranks},
                     {"hosts", checked.hosts},
                     {"loaded", checked.here.sumac.loaded},
                     {"active_ranks", checked.active_ranks},
                     {"description", checked.here.sumac.description},
                     {"collectives", collectives},
                     {"shm_free", checked.shared_memory_free},
                     {"cross_memory_attach", checked.cross_memory_attach},
                     {"wrong", wrong}};
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sumac::bench
