// SPDX-License-Identifier: BSD-3-Clause
#include "base/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace {

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
                             "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
                             "MPI_LOCALNRANKS", "HYDI_CONTROL_FD"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Launch, NoLauncher) {
  EXPECT_EQ(sumac_launch_rank(), -1);
  EXPECT_EQ(sumac_launch_family(), nullptr);
  EXPECT_EQ(sumac_launch_evidence(), nullptr);
}

TEST_F(Launch, OpenMpi) {
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("SLURM_PROCID", "0", 1);
  EXPECT_EQ(sumac_launch_rank(), 3);
  EXPECT_STREQ(sumac_launch_family(), "openmpi");
  EXPECT_STREQ(sumac_launch_evidence(), "OMPI_COMM_WORLD_SIZE");
}

TEST_F(Launch, Hydra) {
  setenv("PMI_RANK", "12", 1);
  EXPECT_EQ(sumac_launch_rank(), 12);
  EXPECT_STREQ(sumac_launch_family(), "mpich");
  setenv("MPI_LOCALNRANKS", "16", 1);
  EXPECT_STREQ(sumac_launch_evidence(), "MPI_LOCALNRANKS");
}

TEST_F(Launch, SlurmAloneTellsTheRankButNoFamily) {
  setenv("SLURM_PROCID", "2", 1);
  setenv("PMI_RANK", "2", 1);
  EXPECT_EQ(sumac_launch_rank(), 2);
  EXPECT_EQ(sumac_launch_family(), nullptr);
}

TEST_F(Launch, SignsOfBothDecideNothing) {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("MPI_LOCALNRANKS", "4", 1);
  EXPECT_EQ(sumac_launch_family(), nullptr);
}

// Each row has an environment, and the variable that tells a program of either MPI its size.
struct Told {
  const char* environment;  // words
  const char* openmpi;      // "VARIABLE=size rank", or nullptr
  const char* mpich;
};

class Size : public Launch, public testing::WithParamInterface<Told> {
 protected:
  static std::string told(const char* family) {
    const sumac_launch launch = sumac_launch_of(family);
    if (launch.launcher == nullptr) return "nobody";
    return std::string(launch.variable) + "=" + std::to_string(launch.size) + " " +
           std::to_string(launch.rank);
  }
};

TEST_P(Size, TheNearestLauncherOfTheProgramsMpiCounts) {
  std::istringstream words(GetParam().environment);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    setenv(word.substr(0, equals).c_str(), word.substr(equals + 1).c_str(), 1);
  }
  EXPECT_EQ(told("openmpi"), GetParam().openmpi);
  EXPECT_EQ(told("mpich"), GetParam().mpich);
}

constexpr const char* kOpenMpi = "OMPI_COMM_WORLD_SIZE=4 3";
constexpr const char* kHydra = "PMI_SIZE=2 1";
constexpr const char* kSlurm = "SLURM_STEP_NUM_TASKS=8 7";
INSTANTIATE_TEST_SUITE_P(
    Launchers, Size,
    testing::Values(
        Told{"", "nobody", "nobody"},
        Told{"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3", kOpenMpi, kOpenMpi},
        Told{"PMI_SIZE=2 PMI_RANK=1", kHydra, kHydra},
        Told{"PMI_SIZE=2 PMI_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3", kOpenMpi,
             kHydra},
        // A job script is in no step, so the program that it starts is a job of its own, of one
        // process.
        Told{"SLURM_NTASKS=8 SLURM_PROCID=0", "nobody", "nobody"},
        Told{"SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=7", kSlurm, kSlurm},
        Told{"SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=7 PMI_SIZE=8 PMI_RANK=7", kSlurm, kSlurm},
        Told{"SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 PMI_SIZE=2 PMI_RANK=1 MPI_LOCALNRANKS=2",
             kHydra, kHydra},
        Told{"OMPI_COMM_WORLD_SIZE=four", "nobody", "nobody"}));

}  // namespace
