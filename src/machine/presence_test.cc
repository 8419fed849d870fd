// SPDX-License-Identifier: BSD-3-Clause
#include "machine/presence.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sumac {
namespace {

using Where = JobOnNode::Where;

// Returns a text like /proc/net/unix, with sockets of others.
std::string sockets(std::initializer_list<const char*> names) {
  std::string text =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "00000000b0d575d0: 00000003 00000000 00000000 0001 03  1141\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01  1150 /run/sumac-a-0-1-served\n";
  for (const char* name : names) {
    text +=
        std::string("00000000ce6c20af: 00000002 00000000 00000000 0001 01  1142 @") + name + "\n";
  }
  return text + "00000000ce6c20af: 00000002 00000000 00000000 0001 01  1142 @/tmp/.X11-unix/X0\n";
}

sumac_job job_of(int ranks, int rank = 0, const char* numbers = nullptr) {
  return {0xa, rank, ranks, numbers};
}

std::vector<int> ranks_of(const JobOnNode& job) {
  std::vector<int> ranks;
  for (const Mark& mark : job.marks) ranks.push_back(mark.rank);
  return ranks;
}

TEST(Presence, MarksOfTheOwnJobOnly) {
  const std::string text = sockets({"sumac-a-1-11-served", "sumac-b-2-12-served",
                                    "sumac-a-0-10-served", "sumac-a-3-13-disabled"});
  const JobOnNode job = look_at_job(job_of(4), text, 10);
  EXPECT_EQ(job.own, 0);
  EXPECT_EQ(ranks_of(job), (std::vector{0, 1, 3}));
  EXPECT_TRUE(job.find(1)->served());
  EXPECT_EQ(job.find(1)->pid, 11);
  EXPECT_EQ(job.find(2), nullptr);
  EXPECT_EQ(job.find(3)->state, Mark::State::disabled);
  EXPECT_FALSE(job.is_complete());
}

TEST(Presence, OtherNamesAreNoMarks) {
  EXPECT_TRUE(parse_marks("").empty());
  EXPECT_TRUE(
      parse_marks(sockets({"sumac-", "sumac-a", "sumac-a-1-2", "sumac-a-1-2-", "sumac-g-1-2-served",
                           "sumac-a-x-2-served", "sumac-a-1-2x-served", "sumac-a-1-2-serve",
                           "sumac-a-99999999999-2-served", "sumac-a-1-2-served-3",
                           "sumac-a--1-2-served", "xsumac-a-1-2-served"}))
          .empty());
  EXPECT_EQ(parse_marks(sockets({"sumac-00000000000000ff-1-2-not-able"})).at(0).job, 255u);
}

TEST(Presence, ARankIsServedIfAnyOfItsProcessesIs) {
  const std::string text =
      sockets({"sumac-a-0-10-served", "sumac-a-1-30-not-able", "sumac-a-1-20-served",
               "sumac-a-1-25-disabled", "sumac-a-2-40-not-able", "sumac-a-2-41-disabled"});
  const JobOnNode job = look_at_job(job_of(3), text, 10);
  ASSERT_EQ(ranks_of(job), (std::vector{0, 1, 2}));
  EXPECT_TRUE(job.find(1)->served());
  EXPECT_EQ(job.find(1)->pid, 20);
  EXPECT_FALSE(job.find(2)->served());
  EXPECT_TRUE(job.is_complete());
}

TEST(Presence, NothingIsKnownWithoutAJobOrTheOwnMark) {
  const std::string text = sockets({"sumac-a-0-10-served", "sumac-a-1-11-disabled"});
  EXPECT_EQ(look_at_job(job_of(2), text, 10).own, 0);
  EXPECT_EQ(look_at_job(job_of(2), text, 12).own, -1);
  EXPECT_EQ(look_at_job(job_of(2, 1), text, 11).own, -1) << "it is not served";
  EXPECT_EQ(look_at_job(job_of(2), "", 10).own, -1);
  EXPECT_EQ(look_at_job({0, 0, 2, nullptr}, text, 10).own, -1);
}

TEST(Presence, WhereRanksWithoutAMarkAre) {
  const std::string text = sockets({"sumac-a-0-10-served", "sumac-a-1-11-served"});
  const auto where = [&](const sumac_job& job, int rank, int world) {
    return look_at_job(job, text, 10).where(rank, world);
  };
  EXPECT_EQ(where(job_of(3), 2, 3), Where::here) << "all ranks of the job were started here";
  EXPECT_EQ(where(job_of(2), 2, 3), Where::elsewhere) << "all that were started here have a mark";
  EXPECT_EQ(where(job_of(3), 2, 5), Where::unknown);
  EXPECT_EQ(where(job_of(0), 2, 5), Where::unknown);
  EXPECT_TRUE(look_at_job(job_of(0), text, 10).is_complete());
  EXPECT_EQ(where(job_of(3, 0, "1,4,0"), 4, 5), Where::here);
  EXPECT_EQ(where(job_of(3, 0, "1,4,0"), 2, 5), Where::elsewhere);
  EXPECT_EQ(where(job_of(3, 0, "1,4-5,0"), 4, 9), Where::unknown) << "a list of another form";
}

// A folder like /proc has processes below a launcher (process 2).
class Family : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sumac-presence-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    process(1, 0, "init");
    process(2, 1, "mpiexec");
    process(10, 2, "a) S 1 (b");
    process(11, 10, "sh");
    process(12, 11, "tool");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void process(pid_t pid, pid_t parent, const std::string& name) const {
    const std::string directory = root + "/" + std::to_string(pid);
    std::filesystem::create_directory(directory);
    std::ofstream(directory + "/stat")
        << pid << " (" << name << ") S " << parent << " 1 1 0 -1 4 1 1 1 1 1 1 1 1 20 0 1 0 77 9\n";
  }
  bool by_rank(std::initializer_list<const char*> names, pid_t self) const {
    return started_by_rank(parse_marks(sockets(names)), 0xa, root.c_str(), self);
  }

  std::string root;
};

TEST_F(Family, WhatARankHasStarted) {
  EXPECT_TRUE(by_rank({"sumac-a-0-10-served"}, 12));
  EXPECT_TRUE(by_rank({"sumac-a-0-10-disabled"}, 11));
  EXPECT_FALSE(by_rank({"sumac-a-0-10-served"}, 10)) << "its own mark does not count";
  EXPECT_FALSE(by_rank({"sumac-a-0-10-served"}, 99)) << "no such process";
  EXPECT_FALSE(by_rank({}, 12)) << "a wrapper without MPI";
  EXPECT_FALSE(by_rank({"sumac-b-0-10-served"}, 12)) << "what is above belongs to another job";
}

// The environment names the job, for each launcher.
class OwnJob : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "PMI_SPAWNED",
          "PMIX_NAMESPACE", "PMIX_SERVER_URI2", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID", "SLURM_STEP_ID",
          "SLURM_NODEID", "SLURM_PROCID", "SLURM_GTIDS"}) {
      unsetenv(name);
    }
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  static sumac_job job(const char* family = "openmpi") { return sumac_own_job(family, "/proc"); }
};

TEST_F(OwnJob, OfNoLauncher) {
  EXPECT_EQ(job().id, 0u);
  const sumac_job none = job();
  EXPECT_NE(sumac_make_mark(&none, SUMAC_MARK_SERVED), 0);
}

TEST_F(OwnJob, OfOpenMpi) {
  set("PMIX_NAMESPACE", "1");
  set("PMIX_SERVER_URI2", "x");
  set("OMPI_COMM_WORLD_RANK", "3");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  const sumac_job first = job();
  EXPECT_NE(first.id, 0u);
  EXPECT_EQ(first.rank, 3);
  EXPECT_EQ(first.ranks, 4);
  set("PMIX_SERVER_URI2", "y");  // another daemon
  EXPECT_NE(job().id, first.id);
  set("PMIX_SERVER_URI2", "x");
  EXPECT_EQ(job().id, first.id);
  set("PMIX_NAMESPACE", "2");
  EXPECT_NE(job().id, first.id);
}

TEST_F(OwnJob, OfSlurm) {
  set("SLURM_JOB_ID", "7");
  EXPECT_EQ(job("mpich").id, 0u) << "a program that a job script starts by itself";
  set("SLURM_STEP_ID", "0");
  set("SLURM_PROCID", "4");
  set("SLURM_GTIDS", "3,4,5");
  const sumac_job step = job("mpich");
  EXPECT_NE(step.id, 0u);
  EXPECT_EQ(step.rank, 4);
  EXPECT_EQ(step.ranks, 3);
  EXPECT_STREQ(step.numbers, "3,4,5");
  set("SLURM_STEP_ID", "1");
  EXPECT_NE(job("mpich").id, step.id);
}

TEST_F(OwnJob, OfTheLauncherOfTheProgramsMpi) {
  set("MPI_LOCALRANKID", "0");
  set("PMI_RANK", "1");
  EXPECT_EQ(job("mpich").id, 0u) << "no proxy is above";
  set("PMIX_NAMESPACE", "1");
  set("PMIX_RANK", "5");
  EXPECT_EQ(job("mpich").rank, 1);
  EXPECT_EQ(job("openmpi").rank, 5);
}

TEST_F(OwnJob, ItsMarkIsSeen) {
  set("PMIX_NAMESPACE", std::to_string(getpid()).c_str());
  set("PMIX_RANK", "0");
  EXPECT_EQ(look_at_job().own, -1);
  ASSERT_TRUE(mark_as_served("openmpi"));
  const JobOnNode job = look_at_job();
  EXPECT_EQ(job.own, 0);
  ASSERT_EQ(job.marks.size(), 1u);
  EXPECT_EQ(job.marks[0].pid, getpid());
  EXPECT_FALSE(started_by_rank());
}

}  // namespace
}  // namespace sumac
