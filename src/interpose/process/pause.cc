// SPDX-License-Identifier: BSD-3-Clause
// sumac_pause() and sumac_resume() change the thread's own state alone: what other threads do at
// the same time could differ between ranks.
#include "interpose/process/entry.h"

namespace sumac {

std::atomic<int> paused_threads{0};

}  // namespace sumac

extern "C" {

__attribute__((visibility("default"))) void sumac_backend_pause() {
  using namespace sumac;
  if (thread_state().pauses++ == 0) paused_threads.fetch_add(1, std::memory_order_relaxed);
}

__attribute__((visibility("default"))) void sumac_backend_resume() {
  using namespace sumac;
  int& pauses = thread_state().pauses;
  if (pauses == 0) return;
  if (--pauses == 0) paused_threads.fetch_sub(1, std::memory_order_relaxed);
}
}
