// SPDX-License-Identifier: BSD-3-Clause
// Opens the back end of an MPI's family, which lies beside libsumac.so or in sumac/ there, and
// answers the questions of sumac.h that only it can.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/stub/internal.h"

static atomic_bool active;
static _Atomic(void*) started, last_path, description;

int sumac_active(void) { return atomic_load(&active); }

static const char* ask(_Atomic(void*)* function) {
  const char* (*question)(void) = (const char* (*)(void))atomic_load(function);
  return question != NULL ? question() : "";
}

const char* sumac_last_path(void) { return ask(&last_path); }

const char* sumac_description(void) { return ask(&description); }

static int change(const char* name) {
  void (*function)(void) = (void (*)(void))(sumac_active() ? stub_backend_function(name) : NULL);
  if (function == NULL) return 0;
  function();
  return 1;
}

int sumac_pause(void) { return change("sumac_backend_pause"); }

int sumac_resume(void) { return change("sumac_backend_resume"); }

size_t sumac_stats(char* text, size_t size) {
  size_t (*write)(char*, size_t) = (size_t(*)(char*, size_t))(
      sumac_active() ? stub_backend_function("sumac_backend_stats") : NULL);
  return write != NULL ? write(text, size) : 0;
}

void* stub_backend_function(const char* name) {
  void* backend = atomic_load(&started);
  return backend != NULL ? dlsym(backend, name) : NULL;
}

// The loader noted the directory when it loaded the file, so it is right even when LD_PRELOAD was a
// relative path and the program has since changed directory.
bool stub_own_directory(char* directory) {
  Dl_info own;
  if (dladdr((void*)&active, &own) == 0) return false;
  void* handle = dlopen(own.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == NULL) return false;
  const bool known = dlinfo(handle, RTLD_DI_ORIGIN, directory) == 0;
  dlclose(handle);
  return known;
}

static bool find_backend(const char* family, const char* directory, char* path, size_t size) {
  static const char* const places[] = {"", "sumac/"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    const int length = snprintf(path, size, "%s/%slibsumac-%s.so", directory, places[i], family);
    if (length > 0 && (size_t)length < size && access(path, R_OK) == 0) return true;
  }
  return false;
}

// This is called once in a process. The paths are static because they are too long for the stacks
// of small threads.
static void* open_backend(const struct sumac_stub* stub) {
  static char directory[PATH_MAX] = "the directory of libsumac.so", path[PATH_MAX + 64];
  if (!stub_own_directory(directory) || !find_backend(stub->family, directory, path, sizeof path)) {
    stub_warn("no-backend", "no libsumac-%s.so in %s, and %s needs it; running without Sumac",
              stub->family, directory, stub->mpi_path);
    return NULL;
  }
  void* backend = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (backend == NULL && strcmp(stub->mpi_path, kProgramItself) != 0) {
    // The MPI may have been opened RTLD_LOCAL, and the back end for Open MPI refers to its data by
    // name. The MPI is put into the global scope only then, because there it would take the calls
    // of plug-ins that bring another one.
    dlopen(stub->mpi_path, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    backend = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (backend == NULL) stub_warn("bad-backend", "%s; running without Sumac", dlerror());
  return backend;
}

static void report_at_exit(int status, void* unused) {
  (void)status;
  (void)unused;
  void (*report)(void) = (void (*)(void))stub_backend_function("sumac_backend_at_exit");
  if (report != NULL) report();
}

bool stub_start_backend(const struct sumac_stub* stub) {
  void* backend = open_backend(stub);
  if (backend == NULL) return false;
  const sumac_backend_start_fn start = (sumac_backend_start_fn)dlsym(backend, SUMAC_BACKEND_START);
  const char* reason = start != NULL ? start(stub) : "it has no " SUMAC_BACKEND_START;
  if (reason != NULL) {
    // The back end stays loaded: code that has run may have left threads or callbacks behind.
    stub_warn("backend-declined", "the back end for %s cannot serve %s: %s; running without Sumac",
              stub->family, stub->mpi_path, reason);
    return false;
  }
  atomic_store(&last_path, dlsym(backend, "sumac_backend_last_path"));
  atomic_store(&description, dlsym(backend, "sumac_backend_description"));
  atomic_store(&started, backend);
  atomic_store(&active, stub->intercepts);
  on_exit(report_at_exit, NULL);
  return true;
}
