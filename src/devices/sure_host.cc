// SPDX-License-Identifier: BSD-3-Clause
#include "devices/sure_host.h"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sumac {
namespace {

// The program itself is the first object.
int note_data(dl_phdr_info* object, std::size_t, void* data) {
  auto& range = *static_cast<HostRange*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W)) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    range = {begin, begin + segment.p_memsz};
  }
  return 1;
}

// Returns where the heap begins, which the kernel tells in the 47th field of this file. The second
// field may have spaces, and ends with a bracket. Returns the last address if it is not known.
std::uintptr_t find_heap() {
  std::FILE* const file = std::fopen("/proc/self/stat", "re");
  if (!file) return UINTPTR_MAX;
  char text[2048];
  text[std::fread(text, 1, sizeof text - 1, file)] = 0;
  std::fclose(file);
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at && field < 47; ++field) at = std::strchr(at + 1, ' ');
  const std::uintptr_t begin = at ? std::strtoull(at, nullptr, 10) : 0;
  return begin != 0 ? begin : UINTPTR_MAX;
}

// Only this much of the first thread's stack is certain, since the system makes room for it as it
// grows.
constexpr std::uintptr_t kCertainStack = 8 << 20;

HostRange find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {1, 1};
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uintptr_t>(low), end = begin + bytes;
  return {std::max(begin, end - std::min(end, kCertainStack)), end};
}

}  // namespace

HostRange program_data;
std::uintptr_t begin_of_heap = UINTPTR_MAX;
constinit thread_local HostRange own_stack;

void learn_sure_host() {
  dl_iterate_phdr(note_data, &program_data);
  begin_of_heap = find_heap();
}

void find_own_stack() { own_stack = find_stack(); }

}  // namespace sumac
