// SPDX-License-Identifier: BSD-3-Clause
// Preloaded under MPICH 4.0 in a lab, for two things its UCX device does not do well there:
// - polling the network in vain yields the processor. Ranks have to share processors in a lab, and
// a
//   call takes 12 ms where they spin, 0.2 where they do not;
// - MPI_Finalize does not wait for the connections to close: a rank that has done with its own no
//   longer answers the others, and every third job over uneven hosts hangs, without Sumac too.
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int epoll_wait(int fd, struct epoll_event* events, int most, int milliseconds) {
  const long found = syscall(SYS_epoll_pwait, fd, events, most, milliseconds, NULL, 8);
  if (found == 0 && milliseconds == 0) sched_yield();
  return (int)found;
}

EXPORT void* ucp_disconnect_nb(void* endpoint);
EXPORT void* ucp_disconnect_nb(void* endpoint) {
  (void)endpoint;
  return NULL;  // done
}
