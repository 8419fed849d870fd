// SPDX-License-Identifier: BSD-3-Clause
// Buffers of tests in the memory of the stand-ins for run-times of GPUs, at random.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "devices/stand_in.h"
#include "mpi/data.h"

namespace test {

// The functions of a stand-in, which is loaded and initialised by this.
class StandIn {
 public:
  explicit StandIn(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW)) {
    if (!library_) {
      std::fprintf(stderr, "SUMAC_TEST_RUNTIMES does not name stand-ins: %s\\n", path.c_str());
      std::abort();
    }
    find<decltype(stand_in_initialise)>("stand_in_initialise")();
  }
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

 private:
  void* library_;
};
#define STAND_IN(stand_in, name) (*(stand_in).find<decltype(name)>(#name))

// The stand-ins whose paths SUMAC_TEST_RUNTIMES lists, behind one another as in PATH. Each is
// loaded when it is asked for first.
class StandIns {
 public:
  StandIns() {
    const char* const paths = std::getenv("SUMAC_TEST_RUNTIMES");
    std::istringstream list(paths ? paths : "");
    for (std::string path; std::getline(list, path, ':');) paths_.push_back(path);
    if (paths_.empty()) std::abort();
    loaded_.resize(paths_.size());
  }
  std::size_t count() const { return paths_.size(); }
  const StandIn& operator[](std::size_t i) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!loaded_[i]) loaded_[i] = std::make_unique<StandIn>(paths_[i]);
    return *loaded_[i];
  }
  // Calls use(stand_in) for all of them.
  template <class Use>
  void each(Use use) {
    for (std::size_t i = 0; i < count(); ++i) use((*this)[i]);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<StandIn>> loaded_;
};
inline StandIns& stand_ins() {
  static auto* the_stand_ins = new StandIns;
  return *the_stand_ins;
}

// A third of the buffers are in the program's own memory, a third in a device's, and a third in
// memory of the host whose addresses a device's had before. Where there are several run-times, the
// second one is loaded after some buffers, and so on.
class RandomMemory final : public OtherMemory {
 public:
  explicit RandomMemory(std::uint64_t seed) : random_(seed) { stand_ins()[0]; }

  unsigned char* make(std::size_t bytes, unsigned char*& memory) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::uint64_t kind = random_.below(3);
    const std::size_t loaded = std::min(stand_ins().count(), 1 + number_++ / kBuffersEach);
    const StandIn& in = stand_ins()[random_.below(loaded)];
    void* const at = kind == 0 ? nullptr : STAND_IN(in, stand_in_allocate)(bytes, 0);
    if (!at) return nullptr;
    if (kind == 1) STAND_IN(in, stand_in_set_host)(at, 1);
    memory = static_cast<unsigned char*>(at);
    owners_[memory] = &in;
    return static_cast<unsigned char*>(STAND_IN(in, stand_in_view)(at));
  }
  void drop(unsigned char* memory) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto owner = owners_.find(memory);
    STAND_IN(*owner->second, stand_in_free)(memory);
    owners_.erase(owner);
  }

 private:
  static constexpr std::size_t kBuffersEach = 40;
  std::mutex mutex_;
  Random random_;
  std::size_t number_ = 0;
  std::map<unsigned char*, const StandIn*> owners_;
};

inline void use_device_memory(std::uint64_t seed) { other_memory() = new RandomMemory(mix(seed)); }

}  // namespace test
