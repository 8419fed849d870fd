// SPDX-License-Identifier: BSD-3-Clause
// refuse WHAT RANKS PROGRAM [ARGUMENTS]: runs the program under a seccomp filter that refuses
//   attach    cross-memory attach, as those of container engines do
//   queries   PROCMAP_QUERY and PAGEMAP_SCAN, which Linux 6.1 lacks
//   advice    these, MADV_POPULATE_WRITE and MADV_COLLAPSE, which Linux 4.18 lacks
// RANKS is "all" or "first" (only rank 0 of the job is refused).
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_first(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return rank != NULL && strcmp(rank, "0") == 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define NEXT_IF(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise)
#define NEXT_UNLESS(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, otherwise, 0)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int install(struct sock_filter* filter, size_t bytes) {
  const struct sock_fprog program = {(unsigned short)(bytes / sizeof *filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int refuse_attach(void) {
  struct sock_filter filter[] = {LOAD(nr), NEXT_UNLESS(__NR_process_vm_readv, 1),
                                 NEXT_IF(__NR_process_vm_writev, 1), REFUSE(EPERM), ALLOW};
  return install(filter, sizeof filter);
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
