// SPDX-License-Identifier: BSD-3-Clause
// Filters of system calls for the calling thread and those that it starts.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define NEXT_IF(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise)
#define NEXT_UNLESS(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, otherwise, 0)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static inline int install(struct sock_filter* filter, size_t bytes) {
  const struct sock_fprog program = {(unsigned short)(bytes / sizeof *filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static inline int refuse_attach(void) {
  struct sock_filter filter[] = {LOAD(nr), NEXT_UNLESS(__NR_process_vm_readv, 1),
                                 NEXT_IF(__NR_process_vm_writev, 1), REFUSE(EPERM), ALLOW};
  return install(filter, sizeof filter);
}
