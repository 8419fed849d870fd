// SPDX-License-Identifier: BSD-3-Clause
// A failed write sends a signal: SIGXFSZ if a file would exceed the limit of its size (ulimit -f),
// SIGPIPE if nobody reads. By default these signals end the process, which must not happen for what
// Sumac writes beside the program: the calls shall fail with EFBIG and EPIPE instead.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

struct sumac_write_signals {
  sigset_t held, mask_before, pending_before;
};

// Holds the two signals back in this thread, to which the kernel sends them.
static inline void sumac_hold_write_signals(struct sumac_write_signals* signals) {
  sigemptyset(&signals->held);
  sigaddset(&signals->held, SIGXFSZ);
  sigaddset(&signals->held, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals->held, &signals->mask_before);
  sigpending(&signals->pending_before);
}

// Drops those that have come since, and lets the signals in again. Keeps errno.
static inline void sumac_drop_write_signals(struct sumac_write_signals* signals) {
  const int error = errno;
  const struct timespec none = {0, 0};
  if (sigismember(&signals->pending_before, SIGXFSZ)) sigdelset(&signals->held, SIGXFSZ);
  if (sigismember(&signals->pending_before, SIGPIPE)) sigdelset(&signals->held, SIGPIPE);
  while (sigtimedwait(&signals->held, NULL, &none) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &signals->mask_before, NULL);
  errno = error;
}

#ifdef __cplusplus
namespace sumac {

// Holds the two signals back until the end of the block.
class WithoutWriteSignals {
 public:
  WithoutWriteSignals() { sumac_hold_write_signals(&signals_); }
  ~WithoutWriteSignals() { sumac_drop_write_signals(&signals_); }
  WithoutWriteSignals(const WithoutWriteSignals&) = delete;
  WithoutWriteSignals& operator=(const WithoutWriteSignals&) = delete;

 private:
  sumac_write_signals signals_;
};

}  // namespace sumac
#endif
