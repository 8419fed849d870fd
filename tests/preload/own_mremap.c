// SPDX-License-Identifier: BSD-3-Clause
// mremap() by the system call: calls of it do not come to Sumac. tcmalloc has such a function.
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) void* mremap(void* old_address, size_t old_bytes,
                                                    size_t new_bytes, int flags, ...);

void* mremap(void* old_address, size_t old_bytes, size_t new_bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* const new_address = va_arg(arguments, void*);
  va_end(arguments);
  return (void*)syscall(SYS_mremap, old_address, old_bytes, new_bytes, flags, new_address);
}
