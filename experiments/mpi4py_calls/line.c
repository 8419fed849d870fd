/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache line there and back between two processes: no call in which both wait for each other can
 * be faster than the line's way to the other core, half of that. */
#include <sched.h>
#include <stdatomic.h>

enum { kSpins = 100000 }; /* then the other process may need this core */

static void wait_for(atomic_ulong* line, unsigned long value) {
  for (int spins = 0; atomic_load_explicit(line, memory_order_acquire) != value; ++spins) {
    if (spins > kSpins) sched_yield();
  }
}

/* `lines`: 256 zeroed bytes that both processes map. Rank 0 begins. */
void pass_line(void* lines, int rank, long trips) {
  static unsigned long sent;
  atomic_ulong* own = (atomic_ulong*)((char*)lines + 128 * rank);
  atomic_ulong* other = (atomic_ulong*)((char*)lines + 128 * (1 - rank));
  for (long trip = 0; trip < trips; ++trip) {
    ++sent;
    if (rank == 1) wait_for(other, sent);
    atomic_store_explicit(own, sent, memory_order_release);
    if (rank == 0) wait_for(other, sent);
  }
}
