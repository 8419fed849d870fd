// SPDX-License-Identifier: BSD-3-Clause
// Loaded in front of a program, notes the files of /proc that Sumac's libraries open, in
// $SUMAC_TEST_OPENS/<pid>: those that the MPI opens are left out, as are the process's own.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_of_sumac(const void* caller) {
  Dl_info about;
  return dladdr(caller, &about) != 0 && about.dli_fname != NULL &&
         strstr(about.dli_fname, "libsumac") != NULL;
}

static void note(const char* path, const void* caller) {
  const char* const folder = getenv("SUMAC_TEST_OPENS");
  if (folder == NULL || strncmp(path, "/proc/", 6) != 0 || !is_of_sumac(caller)) return;
  char name[256], line[320];
  snprintf(name, sizeof name, "%s/%d", folder, (int)getpid());
  const int length = snprintf(line, sizeof line, "%s\n", path);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(file, line, (size_t)length) != length) abort();
  close(file);
}

static int mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
}

#define SUMAC_TEST_OPEN(name)                                     \
  int name(const char* path, int flags, ...) {                    \
    va_list arguments;                                            \
    va_start(arguments, flags);                                   \
    const int mode = mode_of(flags, arguments);                   \
    va_end(arguments);                                            \
    note(path, __builtin_return_address(0));                      \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
  }
SUMAC_TEST_OPEN(open)
SUMAC_TEST_OPEN(open64)

#define SUMAC_TEST_NEXT(type, name, ...) \
  static type (*next)(__VA_ARGS__);      \
  if (next == NULL) next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

FILE* fopen(const char* path, const char* mode) {
  SUMAC_TEST_NEXT(FILE*, "fopen", const char*, const char*);
  note(path, __builtin_return_address(0));
  return next(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  SUMAC_TEST_NEXT(FILE*, "fopen64", const char*, const char*);
  note(path, __builtin_return_address(0));
  return next(path, mode);
}

DIR* opendir(const char* path) {
  SUMAC_TEST_NEXT(DIR*, "opendir", const char*);
  note(path, __builtin_return_address(0));
  return next(path);
}
