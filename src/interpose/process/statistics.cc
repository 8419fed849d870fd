// SPDX-License-Identifier: BSD-3-Clause
// sumac_stats() tells what MPI_Finalize would report, at any time.
#include <cstring>
#include <memory>

#include "interpose/process/communicator.h"
#include "interpose/process/own_memory.h"
#include "observe/report.h"

extern "C" __attribute__((visibility("default"))) std::size_t sumac_backend_stats(
    char* text, std::size_t size) {
  using namespace sumac;
  const std::unique_ptr<RankReport> made(
      new RankReport{all_stats(), process_times(), process_counted()});
  RankReport& own = *made;
  count_own_memory(own.stats);
  const std::string json = counts_json(own);
  if (size > 0) {
    const std::size_t shown = std::min(size - 1, json.size());
    std::memcpy(text, json.data(), shown);
    text[shown] = 0;
  }
  return json.size();
}
