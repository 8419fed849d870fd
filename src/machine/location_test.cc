// SPDX-License-Identifier: BSD-3-Clause
#include "machine/location_test.h"

namespace sumac {
namespace {

// Writes two packages of four cores with two threads each: threads c and c + 8 are core c. Two
// cores share an L2 cache; a package is one L3 cache and two NUMA domains.
void write_machine(const SysTree& tree) {
  const char* l2[] = {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"};
  const char* package[] = {"0-3,8-11", "4-7,12-15"};
  for (int cpu = 0; cpu < 16; ++cpu) {
    const int core = cpu % 8;
    const std::string threads = std::to_string(core) + "," + std::to_string(core + 8);
    tree.write_cpu(cpu, "topology/thread_siblings_list", threads);
    tree.write_cpu(cpu, "topology/core_siblings_list", package[core / 4]);
    tree.write_cache(cpu, 0, "1", "Data", threads);
    tree.write_cache(cpu, 1, "1", "Instruction", threads);
    tree.write_cache(cpu, 2, "2", "Instruction", threads);
    tree.write_cache(cpu, 3, "2", "Unified", l2[core / 2]);
    tree.write_cache(cpu, 4, "3", "Unified", package[core / 4]);
  }
  for (int node = 0; node < 4; ++node) {
    const std::string folder = std::string("node/node").append(std::to_string(node * 2));
    tree.write(folder + "/cpulist", l2[node]);
  }
  tree.write("node/node9/cpulist", "");  // memory without processors
  tree.write("node/online", "0,2,4,6,9");
}

TEST(Location, OfOneProcessor) {
  const SysTree tree;
  write_machine(tree);
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({0}))), "0 0 0 0 0 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({11}))), "3 2 0 2 0 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({13}))), "5 4 4 4 4 ");
}

TEST(Location, OfSeveralProcessors) {
  const SysTree tree;
  write_machine(tree);
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({3, 11}))), "3 2 0 2 0 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({10, 11}))), "-1 2 0 2 0 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({0, 2}))), "-1 -1 0 -1 0 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({3, 4}))), "-1 -1 -1 -1 -1 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({}))), "-1 -1 -1 -1 -1 ");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({99}))), "-1 -1 -1 -1 -1 ");
}

TEST(Location, NewerNamesAreReadFirst) {
  const SysTree tree;
  write_machine(tree);
  tree.write("cpu/cpu5/topology/core_cpus_list", "5");
  tree.write("cpu/cpu5/topology/package_cpus_list", "5,7");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({5}))), "5 4 4 4 5 ");
}

TEST(CacheShare, IsThatOfTheLargestCache) {
  const SysTree tree;
  EXPECT_EQ(cache_share(tree.root(), mask_of({1})), 0U);
  tree.write_cache(1, 0, "2", "Unified", "1");
  tree.write_cpu(1, "cache/index0/size", "2048K");
  EXPECT_EQ(cache_share(tree.root(), mask_of({1})), 2048U << 10);
  tree.write_cache(1, 1, "3", "Unified", "0-3");
  tree.write_cpu(1, "cache/index1/size", "32768K");
  EXPECT_EQ(cache_share(tree.root(), mask_of({1, 2})), 8192U << 10);
  tree.write_cpu(1, "cache/index1/size", "none");
  EXPECT_EQ(cache_share(tree.root(), mask_of({1})), 2048U << 10);
}

TEST(Location, WhatIsHiddenIsUnknown) {
  const SysTree tree;
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({0}))), "-1 -1 -1 -1 -1 ");
  write_machine(tree);
  tree.remove("node");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({3}))), "3 2 0 -1 0 ");
  tree.remove("cpu/cpu3/cache");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({3}))), "3 -1 -1 -1 0 ");
  tree.write("cpu/cpu3/topology/core_siblings_list", "0-x");
  EXPECT_EQ(shown(location_of(tree.root(), mask_of({3}))), "3 -1 -1 -1 -1 ");
}

TEST(Location, LongListsAndHighProcessors) {
  const SysTree tree;
  std::string even = "0";
  for (int cpu = 2; cpu < 2048; cpu += 2) even.append(",").append(std::to_string(cpu));
  tree.write("cpu/cpu1022/topology/core_siblings_list", even);
  tree.write("cpu/cpu1023/topology/core_siblings_list", "1001-4095");
  EXPECT_EQ(location_of(tree.root(), mask_of({1022})).package, 0);
  EXPECT_EQ(location_of(tree.root(), mask_of({1022, 1023})).package, -1);
  EXPECT_EQ(location_of(tree.root(), mask_of({1023})).package, 1001);
}

}  // namespace
}  // namespace sumac
