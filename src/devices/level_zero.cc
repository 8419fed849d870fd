// SPDX-License-Identifier: BSD-3-Clause
// Level Zero, by its loader. Memory belongs to a driver of it; Sumac has a context of its own for
// each driver, and a command list for each device and direction that runs its commands at once.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "devices/runtime.h"

namespace sumac {
namespace {

using Driver = void*;
using Device = void*;
using Context = void*;
using CommandList = void*;
using Event = void*;

// These structures and functions are those of ze_api.h. LevelZeroFunctions return 0 or an error.
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
  std::uint32_t type;  // ze_memory_type_t
  std::uint64_t id, page_size;
};
struct LevelZeroFunctions {
  int (*DriverGet)(std::uint32_t* count, Driver* drivers);
  int (*ContextCreate)(Driver driver, const ContextDesc* desc, Context* context);
  int (*MemGetAllocProperties)(Context context, const void* of, AllocationProperties* properties,
                               Device* device);
  int (*CommandListCreateImmediate)(Context context, Device device, const CommandQueueDesc* desc,
                                    CommandList* list);
  int (*CommandListAppendMemoryCopy)(CommandList list, void* to, const void* from,
                                     std::size_t bytes, Event signal, std::uint32_t num_waits,
                                     Event* waits);
  int (*CommandListHostSynchronize)(CommandList list, std::uint64_t timeout);  // null before 1.6
};

constexpr std::uint32_t kContextDesc = 0xd, kCommandQueueDesc = 0xe, kAllocationProperties = 0x17;
constexpr std::uint32_t kUnknown = 0, kHost = 1, kDevice = 2;  // ze_memory_type_t
constexpr int kSuccess = 0, kUnsupported = 0x78000003;
constexpr std::uint32_t kMostDrivers = 8;

class LevelZero final : public DeviceRuntime {
 public:
  LevelZero(const char* const* kernel_modules)
      : DeviceRuntime("/libze_loader.so", kernel_modules) {}

  bool find_functions(void* library) override;
  DevicePlace place_of(const void* address) override;
  int copy(const DevicePlace& place, Towards towards, void* to, const void* from,
           std::size_t bytes) override;
  int wait(const DevicePlace& place, Towards towards) override;
  // Its copies take any host memory as it is, and the core of the interface cannot register pages.
  void pin(const DevicePlace&, void*, std::size_t) override {}
  std::string error_name(int error) override;

 private:
  // One thread at a time may use a list.
  struct List {
    Device device = nullptr;
    Towards towards = Towards::host;
    CommandList commands = nullptr;
    bool synchronous = false;  // copies are done when they have been begun
    std::mutex in_use;
  };

  bool is_initialised();
  int list_of(const DevicePlace& place, Towards towards, List*& list);
  int make_list(Context context, List& list) const;

  LevelZeroFunctions ze_{};
  std::mutex making_;
  std::vector<List*> lists_;
  Context contexts_[kMostDrivers] = {};
  std::atomic<std::uint32_t> drivers_{0};  // so many have contexts
};

bool LevelZero::find_functions(void* library) {
  find(library, "zeCommandListHostSynchronize", ze_.CommandListHostSynchronize);
  return find(library, "zeDriverGet", ze_.DriverGet) &&
         find(library, "zeContextCreate", ze_.ContextCreate) &&
         find(library, "zeMemGetAllocProperties", ze_.MemGetAllocProperties) &&
         find(library, "zeCommandListCreateImmediate", ze_.CommandListCreateImmediate) &&
         find(library, "zeCommandListAppendMemoryCopy", ze_.CommandListAppendMemoryCopy);
}

// Drivers are listed only after the program has initialised them: Sumac never does.
bool LevelZero::is_initialised() {
  if (drivers_.load(std::memory_order_acquire) > 0) [[likely]]
    return true;
  std::uint32_t count = kMostDrivers;
  Driver drivers[kMostDrivers] = {};
  if (ze_.DriverGet(&count, drivers) != kSuccess) return false;
  const std::lock_guard<std::mutex> lock(making_);
  if (drivers_.load(std::memory_order_relaxed) > 0) return true;
  std::uint32_t made = 0;
  for (std::uint32_t i = 0; i < count && i < kMostDrivers; ++i) {
    const ContextDesc desc{kContextDesc, nullptr, 0};
    if (ze_.ContextCreate(drivers[i], &desc, &contexts_[made]) == kSuccess) ++made;
  }
  drivers_.store(made, std::memory_order_release);
  return made > 0;
}

DevicePlace LevelZero::place_of(const void* address) {
  if (!is_initialised()) return {};
  const std::uint32_t drivers = drivers_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < drivers; ++i) {
    AllocationProperties is{kAllocationProperties, nullptr, kUnknown, 0, 0};
    Device device = nullptr;
    const int error = ze_.MemGetAllocProperties(contexts_[i], address, &is, &device);
    if (error != kSuccess || is.type == kUnknown) continue;
    const MemoryKind kind = is.type == kDevice ? MemoryKind::device
                            : is.type == kHost ? MemoryKind::pinned
                                               : MemoryKind::managed;
    return {kind, this, static_cast<int>(i), device};
  }
  return {};
}

// The first group of queues of a device computes, and all that compute can copy. The list is a
// synchronous one where the loader or the driver cannot wait for the other kind.
int LevelZero::make_list(Context context, List& list) const {
  constexpr std::uint32_t kSynchronous = 1, kAsynchronous = 2, kNormal = 0;
  CommandQueueDesc desc{kCommandQueueDesc, nullptr, 0, 0, 0, kAsynchronous, kNormal};
  if (ze_.CommandListHostSynchronize) {
    const int error = ze_.CommandListCreateImmediate(context, list.device, &desc, &list.commands);
    if (error != kSuccess) return error;
    if (ze_.CommandListHostSynchronize(list.commands, 0) != kUnsupported) return kSuccess;
  }
  list.synchronous = true;
  desc.mode = kSynchronous;
  return ze_.CommandListCreateImmediate(context, list.device, &desc, &list.commands);
}

int LevelZero::list_of(const DevicePlace& place, Towards towards, List*& list) {
  const std::lock_guard<std::mutex> lock(making_);
  for (List* each : lists_) {
    if (each->device == place.handle && each->towards == towards) list = each;
  }
  if (list) return kSuccess;
  auto* const made = new List;
  made->device = place.handle;
  made->towards = towards;
  if (const int error = make_list(contexts_[place.device], *made)) {
    delete made;
    return error;
  }
  lists_.push_back(made);
  list = made;
  return kSuccess;
}

int LevelZero::copy(const DevicePlace& place, Towards towards, void* to, const void* from,
                    std::size_t bytes) {
  List* list = nullptr;
  if (const int error = list_of(place, towards, list)) return error;
  const std::lock_guard<std::mutex> lock(list->in_use);
  return ze_.CommandListAppendMemoryCopy(list->commands, to, from, bytes, nullptr, 0, nullptr);
}

int LevelZero::wait(const DevicePlace& place, Towards towards) {
  List* list = nullptr;
  if (const int error = list_of(place, towards, list)) return error;
  if (list->synchronous) return kSuccess;
  const std::lock_guard<std::mutex> lock(list->in_use);
  return ze_.CommandListHostSynchronize(list->commands, UINT64_MAX);
}

// Level Zero has no function that names errors.
std::string LevelZero::error_name(int error) {
  constexpr struct {
    unsigned error;
    const char* name;
  } kNames[] = {{0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST"},
                {0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY"},
                {0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
                {0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED"},
                {0x78000003, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"},
                {0x78000004, "ZE_RESULT_ERROR_INVALID_ARGUMENT"}};
  for (const auto& each : kNames) {
    if (each.error == static_cast<unsigned>(error)) return each.name;
  }
  char text[32];
  std::snprintf(text, sizeof text, "ze_result_t 0x%x", static_cast<unsigned>(error));
  return text;
}

}  // namespace

DeviceRuntime& level_zero() {
  static constexpr const char* kModules[] = {"/sys/module/i915", "/sys/module/xe", nullptr};
  static auto* the_runtime = new LevelZero(kModules);
  return *the_runtime;
}

}  // namespace sumac
