// SPDX-License-Identifier: BSD-3-Clause
// The stand-in for Level Zero, built as libze_loader.so of an older version, whose command lists
// cannot be waited for, and of a newer one (STAND_IN_CAN_WAIT). It has two drivers; memory is the
// second one's, on its only device.
#include <atomic>

#include "stand_in_memory.h"

namespace {

using stand_in::Copied;
using stand_in::Kind;
using stand_in::memory;

enum : int {
  kSuccess = 0,
  kDeviceLost = 0x70000001,
  kUninitialized = 0x78000001,
  kInvalidArgument = 0x78000004,
};
constexpr std::uint32_t kContextDesc = 0xd, kCommandQueueDesc = 0xe, kAllocationProperties = 0x17;
constexpr std::uint32_t kDrivers = 2;

char drivers[kDrivers], device;

struct Context {
  void* driver;
};
// One thread at a time may use a list.
struct List {
  stand_in::Stream stream;
  bool synchronous = false;
  std::atomic<bool> in_use{false};
};
class Use {
 public:
  explicit Use(List& list) : list_(list) {
    if (list.in_use.exchange(true)) memory().note_mistake();
  }
  ~Use() { list_.in_use = false; }

 private:
  List& list_;
};

struct ContextDesc {
  std::uint32_t stype;
  const void* next;
  std::uint32_t flags;
};
struct CommandQueueDesc {
  std::uint32_t stype;
  const void* next;
  std::uint32_t ordinal, index, flags, mode, priority;
};
struct AllocationProperties {
  std::uint32_t stype;
  void* next;
  std::uint32_t type;
  std::uint64_t id, page_size;
};

int state() { return memory().state() == stand_in::State::ready ? kSuccess : kUninitialized; }

}  // namespace

STAND_IN_EXPORT int zeDriverGet(std::uint32_t* count, void** list) {
  if (const int error = state()) return error;
  for (std::uint32_t i = 0; list && i < *count && i < kDrivers; ++i) list[i] = &drivers[i];
  *count = kDrivers;
  return kSuccess;
}

STAND_IN_EXPORT int zeContextCreate(void* driver, const ContextDesc* desc, void** context) {
  if (desc->stype != kContextDesc) return kInvalidArgument;
  *context = new Context{driver};
  return state();
}

STAND_IN_EXPORT int zeMemGetAllocProperties(void* context, const void* address,
                                            AllocationProperties* is, void** on) {
  if (const int error = state()) return error;
  if (is->stype != kAllocationProperties) return kInvalidArgument;
  const bool own = static_cast<Context*>(context)->driver == &drivers[1];
  const Kind kind = own ? memory().kind_of(address) : Kind::unknown;
  constexpr std::uint32_t kTypes[] = {0, 1, 3, 2};  // by stand_in::Kind
  is->type = kTypes[static_cast<int>(kind)];
  *on = kind == Kind::unknown ? nullptr : &device;
  return kSuccess;
}

STAND_IN_EXPORT int zeCommandListCreateImmediate(void* context, void* on,
                                                 const CommandQueueDesc* desc, void** list) {
  if (const int error = state()) return error;
  const bool own = static_cast<Context*>(context)->driver == &drivers[1] && on == &device;
  if (desc->stype != kCommandQueueDesc || !own) return kInvalidArgument;
  auto* const made = new List;
  made->synchronous = desc->mode == 1;
  *list = made;
  return kSuccess;
}

STAND_IN_EXPORT int zeCommandListAppendMemoryCopy(void* given, void* to, const void* from,
                                                  std::size_t bytes, void*, std::uint32_t, void**) {
  if (const int error = state()) return error;
  List& list = *static_cast<List*>(given);
  const Use use(list);
  // Level Zero finds out by itself which side is on the device.
  const bool to_host = memory().is_device(from);
  const Copied copied = memory().copy(list.stream, to, from, bytes, to_host);
  if (list.synchronous) memory().wait(list.stream);
  return copied == Copied::well    ? kSuccess
         : copied == Copied::badly ? kInvalidArgument
                                   : kDeviceLost;
}

#if STAND_IN_CAN_WAIT
STAND_IN_EXPORT int zeCommandListHostSynchronize(void* given, std::uint64_t) {
  if (const int error = state()) return error;
  List& list = *static_cast<List*>(given);
  const Use use(list);
  memory().wait(list.stream);
  return kSuccess;
}
#endif

STAND_IN_EXPORT void stand_in_query_needs_context(int) {}
