// SPDX-License-Identifier: BSD-3-Clause
// The processors that this process may use, and binding to one.
#pragma once

#include <sched.h>

inline void bind_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

inline cpu_set_t usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof usable, &usable);
  return usable;
}

// The first of them after `cpu`; -1: there is none.
inline int next_processor(const cpu_set_t& usable, int cpu) {
  do {
    ++cpu;
  } while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &usable));
  return cpu < CPU_SETSIZE ? cpu : -1;
}
