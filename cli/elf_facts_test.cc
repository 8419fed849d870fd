// SPDX-License-Identifier: BSD-3-Clause
#include "elf_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace {

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

elf_facts inspect(const std::string& bytes) {
  const std::string path = testing::TempDir() + "sumac_elf_facts_test." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  elf_facts facts;
  inspect_executable(path.c_str(), &facts);
  std::remove(path.c_str());
  return facts;
}

TEST(ElfFacts, AProgramWithoutMpi) {
  elf_facts facts;
  inspect_executable("/proc/self/exe", &facts);
  EXPECT_EQ(facts.is_elf, 1);
  EXPECT_EQ(facts.is_dynamic, 1);
  EXPECT_EQ(facts.family, nullptr);
  EXPECT_STREQ(facts.mpi_library, "");
  EXPECT_EQ(facts.defines_mpi, 0);
}

TEST(ElfFacts, WhatIsNoElfFile) {
  EXPECT_EQ(inspect("").is_elf, 0);
  EXPECT_EQ(inspect("#!/bin/sh\nexit 0\n").is_elf, 0);
  EXPECT_EQ(inspect(std::string(4096, '\x7f')).is_elf, 0);
  elf_facts facts;
  inspect_executable("/nonexistent", &facts);
  EXPECT_EQ(facts.is_elf, 0);
  inspect_executable("/", &facts);
  EXPECT_EQ(facts.is_elf, 0);
}

TEST(ElfFacts, TruncatedFilesAreReadWithinTheirEnd) {
  const std::string bytes = own_bytes();
  for (size_t size : {1u, 16u, 63u, 64u, 65u, 200u, 1000u, 4096u, 10000u}) {
    inspect(bytes.substr(0, size));
  }
}

TEST(ElfFacts, DamagedHeadersAreReadWithinTheFile) {
  const std::string bytes = own_bytes().substr(0, 65536);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 8; ++i) damaged[16 + random() % 1200] = static_cast<char>(random());
    inspect(damaged);
  }
}

}  // namespace
