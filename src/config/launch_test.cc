// SPDX-License-Identifier: BSD-3-Clause
#include "config/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                             "PMIX_RANK", "SLURM_PROCID", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD"}) {
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

}  // namespace
