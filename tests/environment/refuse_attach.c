// SPDX-License-Identifier: BSD-3-Clause
// refuse_attach RANKS PROGRAM [ARGUMENTS]: runs the program under a seccomp filter that refuses
// cross-memory attach, like that of container engines. RANKS is "all" or "first" (only rank 0 of
// the job is refused).
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_first(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return rank != NULL && strcmp(rank, "0") == 0;
}

static int refuse(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if ((strcmp(argv[1], "all") == 0 || is_first()) && refuse()) {
    perror("refuse_attach: seccomp");
    return 77;
  }
  execv(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
