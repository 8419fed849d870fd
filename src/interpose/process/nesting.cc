// SPDX-License-Identifier: BSD-3-Clause
#include <link.h>
#include <unwind.h>

#include "interpose/process/entry.h"

namespace sumac {
namespace {

struct CodeRange {
  std::uintptr_t low = 0, high = 0;
  bool holds(std::uintptr_t address) const { return address >= low && address < high; }
};

int find_own_code(dl_phdr_info* info, std::size_t, void* range) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
    const std::uintptr_t low = info->dlpi_addr + header.p_vaddr;
    const CodeRange code{low, low + header.p_memsz};
    if (!code.holds(reinterpret_cast<std::uintptr_t>(&called_from_within))) continue;
    *static_cast<CodeRange*>(range) = code;
    return 1;
  }
  return 0;
}

CodeRange own_code() {
  CodeRange range;
  dl_iterate_phdr(find_own_code, &range);
  return range;
}

struct Walk {
  const CodeRange& own;
  bool left = false, came_back = false;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const bool own = walk.own.holds(_Unwind_GetIP(frame));
  walk.left |= !own;
  walk.came_back |= walk.left && own;
  return walk.came_back ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

ThreadState& thread_state() {
  // The state lies in the few bytes that the C run-time keeps for libraries opened late; other
  // thread-local memory costs a call.
  [[gnu::tls_model("initial-exec")]] static thread_local ThreadState state;
  return state;
}

bool called_from_within() {
  static const CodeRange own = own_code();
  Walk walk{own};
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.came_back;
}

// sumac_pause() and sumac_resume() change the thread's own state alone: what other threads do at
// the same time could differ between ranks.
std::atomic<int> paused_threads{0};

}  // namespace sumac

extern "C" {

__attribute__((visibility("default"))) void sumac_backend_pause() {
  using namespace sumac;
  if (thread_state().pauses++ == 0) paused_threads.fetch_add(1, std::memory_order_relaxed);
}

__attribute__((visibility("default"))) void sumac_backend_resume() {
  using namespace sumac;
  int& pauses = thread_state().pauses;
  if (pauses == 0) return;
  if (--pauses == 0) paused_threads.fetch_sub(1, std::memory_order_relaxed);
}
}
