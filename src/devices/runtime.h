// SPDX-License-Identifier: BSD-3-Clause
// A run-time is a vendor's library by which programs use memory of GPUs: CUDA's driver, HIP, Level
// Zero. This is all that Sumac asks of one; each has a file of its own that implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace sumac {

enum class MemoryKind : std::uint8_t {
  host,     // the program's own
  pinned,   // host memory that a run-time knows: devices may use its pages
  managed,  // host and devices use it, and the run-time moves its pages
  device,   // the host cannot touch it
};

class DeviceRuntime;

// A run-time says this of an address. The last two fields are for the run-time itself.
struct DevicePlace {
  MemoryKind memory = MemoryKind::host;
  DeviceRuntime* runtime = nullptr;  // knows the address; null for the program's own memory
  int device = 0;
  void* handle = nullptr;
};

enum class Towards : std::uint8_t { host, device };

class DeviceRuntime {
 public:
  // The file is how the path of the library goes on after its folder; the modules are paths of
  // which one exists if the kernel has the module that the run-time needs. Null ends the list.
  DeviceRuntime(const char* its_file, const char* const* its_modules)
      : file(its_file), modules(its_modules) {}
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;

  const char* const file;
  const char* const* const modules;

  // Looks up the functions in the library, which is loaded and stays so. Returns false if one is
  // missing.
  virtual bool find_functions(void* library) = 0;

  // Says what memory this is. Memory that the run-time does not know is the host's, and so is all
  // memory before the program has initialised the run-time and after it has shut down. The answer
  // is never kept from an earlier call.
  virtual DevicePlace place_of(const void* address) = 0;

  // Begins a copy between host memory and device memory at `place`, on a stream of Sumac's own for
  // this direction. Returns 0 or the run-time's error. The host memory is in use until wait().
  virtual int copy(const DevicePlace& place, Towards towards, void* to, const void* from,
                   std::size_t bytes) = 0;
  // Waits for the copies that were begun in this direction.
  virtual int wait(const DevicePlace& place, Towards towards) = 0;
  // Makes copies with these pages faster, if the run-time can do that.
  virtual void pin(const DevicePlace& place, void* pages, std::size_t bytes) = 0;

  virtual std::string error_name(int error) = 0;

 protected:
  ~DeviceRuntime() = default;

  // Looks up one function; returns false if there is none.
  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    void* const found = symbol(library, name);
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  }

 private:
  static void* symbol(void* library, const char* name);
};

// They live as long as the process.
DeviceRuntime& cuda();
DeviceRuntime& hip();
DeviceRuntime& level_zero();

}  // namespace sumac
