// SPDX-License-Identifier: BSD-3-Clause
#include "machine/presence.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace sumac {
namespace {

constexpr const char* kMark = "7f00-7f01 r--s 00000000 08:01 77 /opt/a dir/lib/libsumac-mpich.so\n";
constexpr const char* kBackEnd =
    "7e00-7e01 r-xp 00000000 08:01 77 /opt/a dir/lib/libsumac-mpich.so\n";
constexpr const char* kStub = "7d00-7d01 r-xp 00000000 08:01 76 /opt/a dir/lib/libsumac.so\n";
constexpr const char* kMpi = "7c00-7c01 r-xp 00000000 08:01 70 /usr/lib/libmpi.so.40.30.4\n";

// A /proc that the test writes.
class Proc : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sumac-presence-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  // Adds a process. Words of `environment` are separated by blanks.
  void process(pid_t pid, pid_t parent, const std::string& name, std::string environment,
               const std::string& maps) {
    const std::string directory = root + "/" + std::to_string(pid);
    std::filesystem::create_directory(directory);
    write(directory + "/stat",
          std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0\n");
    for (char& c : environment) c = c == ' ' ? '\0' : c;
    write(directory + "/environ", environment + '\0');
    write(directory + "/maps", "5500-5501 r-xp 00000000 00:00 0\n" + maps);
    write(directory + "/cmdline", std::string("./") + name + '\0' + "-x" + '\0');
  }
  void openmpi(pid_t pid, const char* job, int rank, const std::string& maps,
               const std::string& more = "") {
    process(pid, 2, "app", space(job, rank) + more, maps);
  }
  static std::string space(const char* job, int rank) {
    return std::string("HOME=/ PMIX_NAMESPACE=") + job +
           " XOMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  }
  static std::string hydra(int rank) {
    return "MPI_LOCALRANKID=0 PMI_RANK=" + std::to_string(rank);
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  JobOnNode look(pid_t self) const { return look_at_job(root.c_str(), self); }

  std::string root;
};

const std::string kServed = std::string(kStub) + kMpi + kBackEnd + kMark;

TEST_F(Proc, OwnJobOnly) {
  process(2, 1, "mpiexec", "HOME=/", "");
  openmpi(10, "a", 0, kServed);
  openmpi(11, "a", 1, kServed);
  openmpi(12, "b", 0, kServed);
  openmpi(13, "b", 1, kMpi);
  openmpi(14, "b", 2, kMpi);
  process(15, 1, "sh", "HOME=/ OMPI_COMM_WORLD_RANK=4", "");
  const JobOnNode a = look(10), b = look(12);
  EXPECT_EQ(a.own, 0);
  ASSERT_EQ(a.ranks.size(), 2u);
  EXPECT_TRUE(a.find(0)->served && a.find(1)->served);
  EXPECT_EQ(a.find(2), nullptr);
  ASSERT_EQ(b.ranks.size(), 3u);
  EXPECT_FALSE(b.find(1)->served);
  EXPECT_TRUE(b.find(1)->surely_without());
  EXPECT_EQ(b.find(1)->pid, 13);
  EXPECT_EQ(b.find(1)->command, "./app -x");
}

TEST_F(Proc, WhoIsServedAndWhoIsSurelyNot) {
  openmpi(10, "a", 0, kServed);
  openmpi(11, "a", 1, std::string(kStub) + kMpi + kBackEnd);  // linked behind the MPI, or declined
  openmpi(12, "a", 2, std::string(kStub) + kMpi, " SUMAC_DISABLE=yes");
  openmpi(13, "a", 3, std::string(kStub) + kMpi, " SUMAC_DISABLE=off");
  openmpi(14, "a", 4, "");  // has not started, or a static program
  const JobOnNode job = look(10);
  ASSERT_EQ(job.ranks.size(), 5u);
  for (const int rank : {1, 2, 3, 4}) EXPECT_FALSE(job.find(rank)->served) << rank;
  EXPECT_FALSE(job.find(0)->surely_without());
  EXPECT_FALSE(job.find(1)->surely_without());
  EXPECT_TRUE(job.find(2)->surely_without() && job.find(2)->disabled);
  EXPECT_FALSE(job.find(3)->surely_without());
  EXPECT_FALSE(job.find(4)->surely_without());
}

TEST_F(Proc, SeveralProcessesOfARank) {
  openmpi(10, "a", 0, kServed);
  // A shell that waits for the program, which has overwritten its environment; its helper.
  process(20, 2, "sh", space("a", 1), kStub);
  process(21, 20, "a) S 1 (b", "", kServed);
  process(22, 21, "helper", "A=1", "");
  // A shell whose program runs without Sumac.
  process(30, 2, "sh", space("a", 2), kStub);
  process(31, 30, "program", space("a", 2), kMpi);
  // A job within the job.
  process(40, 10, "mpiexec", space("a", 0), kMpi);
  process(41, 40, "inner", space("c", 1), kMpi);
  const JobOnNode job = look(10);
  ASSERT_EQ(job.ranks.size(), 3u);
  EXPECT_TRUE(job.find(0)->served && job.find(1)->served);
  EXPECT_FALSE(job.find(2)->served);
  EXPECT_EQ(job.find(2)->pid, 31);
  EXPECT_TRUE(job.find(2)->surely_without());
}

TEST_F(Proc, HydraJobsAreToldApartByTheirProxies) {
  process(5, 1, "hydra_pmi_proxy", "", "");
  process(6, 1, "hydra_pmi_proxy", "", "");
  process(10, 5, "app", hydra(0), kServed);
  process(11, 5, "sh", hydra(1), "");
  process(12, 11, "app", hydra(1), kServed);
  process(20, 6, "app", hydra(0), kServed);
  process(21, 6, "app", hydra(1), kMpi);
  process(30, 1, "app", hydra(2), kMpi);  // a daemon of a job that has ended
  EXPECT_EQ(look(10).ranks.size(), 2u);
  EXPECT_TRUE(look(10).find(1)->served);
  EXPECT_FALSE(look(20).find(1)->served);
  EXPECT_TRUE(look(30).ranks.empty());
}

TEST_F(Proc, SlurmStepsAndAServerOfAnotherJob) {
  const auto slurm = [&](pid_t pid, const char* step, int rank, const std::string& maps) {
    process(pid, 2, "app",
            std::string("SLURM_JOB_ID=7 SLURM_STEP_ID=") + step +
                " SLURM_PROCID=" + std::to_string(rank),
            maps);
  };
  slurm(10, "0", 3, kServed);
  slurm(11, "0", 4, kMpi);
  slurm(12, "1", 5, kMpi);
  const JobOnNode job = look(10);
  EXPECT_EQ(job.own, 3);
  ASSERT_EQ(job.ranks.size(), 2u);
  EXPECT_FALSE(job.find(4)->served);
  openmpi(20, "a", 0, kServed, " PMIX_SERVER_URI2=x");
  openmpi(21, "a", 1, kMpi, " PMIX_SERVER_URI2=y");
  EXPECT_EQ(look(20).ranks.size(), 1u);
}

TEST_F(Proc, NothingIsToldWithoutAJobOrTheOwnMark) {
  process(10, 1, "app", "HOME=/", kServed);
  openmpi(11, "a", 0, std::string(kStub) + kMpi);
  openmpi(12, "a", 1, kMpi);
  EXPECT_EQ(look(10).own, -1);
  EXPECT_TRUE(look(10).ranks.empty());
  EXPECT_TRUE(look(11).ranks.empty());
  EXPECT_TRUE(look(99).ranks.empty());
}

TEST_F(Proc, WhatCannotBeLookedIntoIsNotJudged) {
  openmpi(10, "a", 0, kServed);
  openmpi(11, "a", 1, kMpi);
  std::filesystem::remove(root + "/11/maps");
  openmpi(12, "a", 2, kMpi);
  std::filesystem::remove(root + "/12/stat");
  EXPECT_EQ(look(10).ranks.size(), 1u);
}

TEST(Presence, TheOwnMarkIsSeen) {
  const auto shared = [] {
    std::ifstream file("/proc/self/maps");
    int lines = 0;
    for (std::string line; std::getline(file, line);) lines += line.find(" r--s ") != line.npos;
    return lines;
  };
  const int before = shared();
  ASSERT_TRUE(mark_as_served(reinterpret_cast<const void*>(&mark_as_served)));
  EXPECT_EQ(shared(), before + 1);
}

// Below a launcher (2): a rank (10), a shell that it runs (11), and what that runs (12).
TEST_F(Proc, WhatARankHasStarted) {
  const auto family = [this](const std::string& maps_of_rank, const std::string& of_shell) {
    process(1, 0, "init", "", "");
    process(2, 1, "mpiexec", "HOME=/", kMpi);  // a driver that has an MPI is no rank
    process(10, 2, "app", "SIZE=2", maps_of_rank);
    process(11, 10, "sh", of_shell, "");
    process(12, 11, "tool", "SIZE=2", kMpi);
  };
  const auto by_rank = [this](pid_t self) { return started_by_rank("SIZE", root.c_str(), self); };
  family(kMpi, "SIZE=2");
  EXPECT_TRUE(by_rank(12));
  EXPECT_TRUE(by_rank(11));
  EXPECT_FALSE(by_rank(10)) << "its own MPI does not count";
  EXPECT_FALSE(by_rank(99)) << "no such process";
  family("", "SIZE=2");
  EXPECT_FALSE(by_rank(12)) << "a wrapper without MPI";
  family(kMpi, "HOME=/");
  EXPECT_FALSE(by_rank(12)) << "what is above belongs to another job";
  std::string symbols = kMpi;  // as a debugger has them
  symbols.replace(symbols.find("r-xp"), 4, "r--p");
  family(symbols, "SIZE=2");
  EXPECT_FALSE(by_rank(12));
}

}  // namespace
}  // namespace sumac
