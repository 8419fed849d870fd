// SPDX-License-Identifier: BSD-3-Clause
// The tests find locations and hierarchies on whole machines: this one, captured ones, and
// described ones.
#include <sched.h>

#include <filesystem>
#include <random>

#include "hierarchy/hierarchy_test.h"
#include "hierarchy/hwloc_places.h"
#include "machine/location_test.h"

namespace sumac {
namespace {

constexpr const char* kCaptured[] = {SUMAC_MACHINES "two-sockets.xml",
                                     SUMAC_MACHINES "restricted.xml",
                                     SUMAC_MACHINES "two-kinds-of-cores.xml"};
constexpr const char* kDescribed[] = {"package:2 numa:2 l3:2 core:4 pu:2", "core:8 pu:1", "pu:4",
                                      "package:2 l3:1 numa:2 l2:2 core:2 pu:2", "pu:1"};

class Machine {
 public:
  explicit Machine(const char* name) {
    std::string problem;
    loaded_ = load_machine(name, &topology_, problem);
    EXPECT_TRUE(loaded_) << problem;
  }
  ~Machine() {
    if (loaded_) hwloc_topology_destroy(topology_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

std::string list_of(hwloc_const_bitmap_t cpus) {
  char text[512];
  hwloc_bitmap_list_snprintf(text, sizeof text, cpus);
  return text;
}

CpuMask mask_of(hwloc_const_bitmap_t cpus) {
  CpuMask mask;
  for (int cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu)) {
    mask.words[cpu / 64] |= std::uint64_t{1} << cpu % 64;
  }
  return mask;
}

// Writes the /sys that a machine would have.
void write_sys(const SysTree& tree, hwloc_topology_t topology) {
  const struct {
    hwloc_obj_type_t type;
    const char* file;
  } kinds[] = {{HWLOC_OBJ_CORE, "topology/core_cpus_list"},
               {HWLOC_OBJ_PACKAGE, "topology/package_cpus_list"},
               {HWLOC_OBJ_L2CACHE, "cache/index0/shared_cpu_list"},
               {HWLOC_OBJ_L3CACHE, "cache/index1/shared_cpu_list"}};
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, object))) {
    const int cpu = static_cast<int>(object->os_index);
    tree.write_cpu(cpu, "cache/index0/level", "2");
    tree.write_cpu(cpu, "cache/index1/level", "3");
    for (const auto& kind : kinds) {
      const hwloc_obj_t around = hwloc_get_ancestor_obj_by_type(topology, kind.type, object);
      if (around) tree.write_cpu(cpu, kind.file, list_of(around->complete_cpuset));
    }
  }
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object))) {
    const std::string number = std::to_string(object->os_index);
    tree.write(std::string("node/node").append(number).append("/cpulist"),
               list_of(object->complete_cpuset));
  }
}

// Returns the processors of every object, and some other sets.
std::vector<hwloc_bitmap_t> sets_of(hwloc_topology_t topology) {
  std::vector<hwloc_bitmap_t> sets;
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_depth(topology, depth, object))) {
      if (!hwloc_bitmap_iszero(object->cpuset)) sets.push_back(hwloc_bitmap_dup(object->cpuset));
    }
  }
  std::mt19937 random(1);
  const std::size_t objects = sets.size();
  for (int i = 0; i < 50; ++i) {
    hwloc_bitmap_t both = hwloc_bitmap_alloc();
    hwloc_bitmap_or(both, sets[random() % objects], sets[random() % objects]);
    sets.push_back(both);
  }
  return sets;
}

TEST(Machines, SysAndHwlocAgree) {
  std::vector<const char*> names(std::begin(kCaptured), std::end(kCaptured));
  names.insert(names.end(), std::begin(kDescribed), std::end(kDescribed));
  for (const char* name : names) {
    const Machine machine(name);
    const SysTree tree;
    write_sys(tree, machine.get());
    for (hwloc_bitmap_t cpus : sets_of(machine.get())) {
      EXPECT_EQ(shown(location_of(tree.root(), mask_of(cpus))),
                shown(location_in(machine.get(), cpus)))
          << name << ": " << list_of(cpus);
      hwloc_bitmap_free(cpus);
    }
  }
}

TEST(Machines, ThisOneIsAsHwlocSeesIt) {
  hwloc_topology_t topology;
  ASSERT_EQ(hwloc_topology_init(&topology), 0);
  ASSERT_EQ(hwloc_topology_load(topology), 0);
  const bool domains = std::filesystem::exists("/sys/devices/system/node/node0/cpulist");
  const auto expect_same = [&](hwloc_const_bitmap_t cpus, const Location& found) {
    Location expected = location_in(topology, cpus);
    if (!domains) expected.numa = -1;  // hwloc makes one up
    EXPECT_EQ(shown(found), shown(expected)) << list_of(cpus);
  };
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  hwloc_bitmap_t all = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    hwloc_bitmap_set(all, static_cast<unsigned>(cpu));
    hwloc_bitmap_only(one, static_cast<unsigned>(cpu));
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    expect_same(one, location_of("", own_cpus()));
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  expect_same(all, location_of("", own_cpus()));
  hwloc_bitmap_free(one);
  hwloc_bitmap_free(all);
  hwloc_topology_destroy(topology);
}

TEST(Machines, ProblemsNameTheMachine) {
  hwloc_topology_t topology;
  std::string problem;
  EXPECT_FALSE(load_machine("package:2 what:3", &topology, problem));
  EXPECT_TRUE(problem.starts_with("package:2 what:3: is neither a file nor")) << problem;
  EXPECT_FALSE(load_machine(SUMAC_MACHINES "README.md", &topology, problem));
  EXPECT_NE(problem.find("README.md: "), problem.npos) << problem;
}

std::vector<Place> places_on(const char* name, int nodes, int ranks, bool bound = true) {
  const Machine machine(name);
  std::vector<Place> places;
  for (int node = 0; node < nodes; ++node) {
    for (const Location& at : locations_of(machine.get(), ranks, bound)) {
      Place place;
      place.node = static_cast<std::uint64_t>(node);
      place.at = at;
      places.push_back(place);
    }
  }
  return places;
}

// Returns the number of groups of each level: "numa 4 | node 1".
std::string counted(const char* text, const std::vector<Place>& places) {
  HierarchySpec spec;
  Hierarchy hierarchy;
  std::string problem, counts;
  EXPECT_TRUE(parse_hierarchy(text, spec, problem) &&
              build_hierarchy(spec, places, SlowDesign::basic, hierarchy, problem))
      << problem;
  for (const HierarchyLevel& level : hierarchy.levels) {
    if (!counts.empty()) counts += " | ";
    counts += level.name;
    counts += ' ';
    counts += std::to_string(level.groups.size());
  }
  return counts;
}

TEST(Machines, Described) {
  const auto places = places_on(kDescribed[0], 2, 32);
  EXPECT_EQ(counted("auto", places), "numa 8 | node 2 | top 1");
  EXPECT_EQ(counted("core,l2,l3,numa,package,node", places),
            "l2 16 | numa 8 | package 4 | node 2 | top 1")
      << "no L2 is known, so the ranks of an L3 are one";
  EXPECT_EQ(counted("l3,numa,package,node", places), "l3 16 | numa 8 | package 4 | node 2 | top 1");
  EXPECT_EQ(counted("auto", places_on(kDescribed[0], 1, 32)), "numa 4 | top 1");
  EXPECT_EQ(counted("auto", places_on(kDescribed[0], 1, 32, false)), "top 1") << "nobody is bound";
  EXPECT_EQ(counted("core,numa", places_on(kDescribed[0], 1, 64)), "core 32 | numa 4 | top 1")
      << "two ranks a core";
}

TEST(Machines, TwoSockets) {
  const auto places = places_on(kCaptured[0], 2, 64);
  EXPECT_EQ(counted("auto", places), "numa 4 | node 2 | top 1");
  EXPECT_EQ(counted("l3,package,node", places), "l3 32 | package 4 | node 2 | top 1");
  EXPECT_EQ(counted("package", places_on(kCaptured[0], 1, 64)), "package 2 | top 1");
}

TEST(Machines, RestrictedOnesKeepTheNumbersOfTheWholeMachine) {
  const auto places = places_on(kCaptured[1], 1, 5);
  EXPECT_EQ(built("numa", places), "numa 0,1 2,3,4 | top 0,2");
  EXPECT_EQ(places[0].at.numa, 0) << "its lowest processor is not allowed, and still names it";
  EXPECT_EQ(places[2].at.numa, 8);
}

TEST(Machines, TwoKindsOfCores) {
  const auto places = places_on(kCaptured[2], 1, 12);
  EXPECT_EQ(built("l2", places), "l2 0 1 2 3 4,5,6,7 8,9,10,11 | top 0,1,2,3,4,8");
  auto classes = places;
  for (std::size_t i = 4; i < 12; ++i) classes[i].slow = true;
  EXPECT_EQ(built("l2", classes),
            "l2 0 1 2 3 4,5,6,7 8,9,10,11 | slow 0 1 2 3 4,8 | attach 0,4 1 2 3 | top 0,1,2,3");
}

}  // namespace
}  // namespace sumac
