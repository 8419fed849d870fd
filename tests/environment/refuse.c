// SPDX-License-Identifier: BSD-3-Clause
// refuse WHAT RANKS PROGRAM [ARGUMENTS]: runs the program under a seccomp filter that refuses
//   attach    cross-memory attach, as those of container engines do
//   queries   PROCMAP_QUERY and PAGEMAP_SCAN, which Linux 6.1 lacks
//   advice    these, MADV_POPULATE_WRITE and MADV_COLLAPSE, which Linux 4.18 lacks
// RANKS is "all" or "first" (only rank 0 of the job is refused).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refuse.h"

static int is_first(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return rank != NULL && strcmp(rank, "0") == 0;
}

static int refuse_queries(void) {
  struct sock_filter filter[] = {LOAD(nr),
                                 NEXT_IF(__NR_ioctl, 4),
                                 LOAD(args[1]),
                                 NEXT_UNLESS(_IOWR('f', 17, char[104]), 1),
                                 NEXT_IF(_IOWR('f', 16, char[96]), 1),
                                 REFUSE(ENOTTY),
                                 ALLOW};
  return install(filter, sizeof filter);
}

static int refuse_advice(void) {
  struct sock_filter filter[] = {
      LOAD(nr),       NEXT_IF(__NR_madvise, 4), LOAD(args[2]), NEXT_UNLESS(23, 1),
      NEXT_IF(25, 1), REFUSE(EINVAL),           ALLOW};
  return refuse_queries() || install(filter, sizeof filter);
}

static int refuse(const char* what) {
  if (strcmp(what, "attach") == 0) return refuse_attach();
  if (strcmp(what, "queries") == 0) return refuse_queries();
  return strcmp(what, "advice") != 0 || refuse_advice();
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if ((strcmp(argv[2], "all") == 0 || is_first()) && refuse(argv[1])) {
    perror("refuse: seccomp");
    return 77;
  }
  execv(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
