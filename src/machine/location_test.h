// SPDX-License-Identifier: BSD-3-Clause
// The tests of locations share this file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include "machine/location.h"

namespace sumac {

// A temporary folder stands in the place of /, with a /sys that the test writes.
class SysTree {
 public:
  SysTree() {
    std::string name = testing::TempDir() + "sumac_sys_XXXXXX";
    if (mkdtemp(name.data())) root_ = name;
  }
  ~SysTree() {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }
  SysTree(const SysTree&) = delete;
  SysTree& operator=(const SysTree&) = delete;

  const char* root() const { return root_.c_str(); }

  // Writes a file below /sys/devices/system.
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + "/sys/devices/system/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void remove(const std::string& path) const {
    std::filesystem::remove_all(root_ + "/sys/devices/system/" + path);
  }
  void write_cpu(int cpu, const char* file, const std::string& text) const {
    write(std::string("cpu/cpu").append(std::to_string(cpu)).append("/").append(file), text);
  }
  void write_cache(int cpu, int index, const char* level, const char* type,
                   const std::string& cpus) const {
    const std::string cache = std::string("cache/index").append(std::to_string(index));
    write_cpu(cpu, (cache + "/level").c_str(), level);
    write_cpu(cpu, (cache + "/type").c_str(), type);
    write_cpu(cpu, (cache + "/shared_cpu_list").c_str(), cpus);
  }

 private:
  std::string root_;
};

inline CpuMask mask_of(std::initializer_list<int> cpus) {
  CpuMask mask;
  for (const int cpu : cpus) {
    const auto n = static_cast<unsigned>(cpu);
    mask.words[n / 64] |= std::uint64_t{1} << n % 64;
  }
  return mask;
}

inline std::string shown(const Location& at) {
  std::string text;
  for (const int number : {at.core, at.l2, at.l3, at.numa, at.package}) {
    text += std::to_string(number);
    text += ' ';
  }
  return text;
}

}  // namespace sumac
