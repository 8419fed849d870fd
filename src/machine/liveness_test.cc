// SPDX-License-Identifier: BSD-3-Clause
#include "machine/liveness.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace sumac {
namespace {

pid_t child_that(void (*lives)()) {
  const pid_t child = fork();
  if (child == 0) {
    lives();
    _exit(0);
  }
  return child;
}

void wait_for_ever() { pause(); }

TEST(Liveness, RunsAndStops) {
  const pid_t child = child_that(wait_for_ever);
  const WatchedProcess watched = watch(child);
  EXPECT_NE(watched.begin, 0u);
  EXPECT_FALSE(is_gone(watched));
  kill(child, SIGSTOP);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_FALSE(is_gone(watched)) << "stopped";
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_gone(watched)) << "its parent has not noticed";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(watched));
  EXPECT_FALSE(is_gone(WatchedProcess())) << "not known";
}

void* live_on(void*) {
  pause();
  return nullptr;
}

TEST(Liveness, OutlivesItsFirstThread) {
  const pid_t child = child_that([] {
    pthread_t thread;
    pthread_create(&thread, nullptr, live_on, nullptr);
    syscall(SYS_exit, 0);  // ends this thread only
  });
  const WatchedProcess watched = watch(child);
  std::string stat;
  while (stat.find(" Z ") == stat.npos) {
    std::ifstream file("/proc/" + std::to_string(child) + "/stat");
    std::getline(file, stat);
  }
  EXPECT_FALSE(is_gone(watched)) << stat;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(watched));
}

// Another process has the number of the one that was watched; and the name of a command may be
// anything.
TEST(Liveness, TellsProcessesOfOneNumberApart) {
  char proc[] = "/tmp/sumac-liveness-XXXXXX";
  ASSERT_TRUE(mkdtemp(proc));
  const std::string folder = std::string(proc) + "/" + std::to_string(getpid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const auto write = [&](const char* begin) {
    std::ofstream(folder + "/stat")
        << "1 (a) Z (b) R 1 1 1 0 -1 4 1 1 1 1 1 1 1 1 20 0 1 0 " << begin << " 9 9\n";
  };
  write("4711");
  const WatchedProcess watched = watch(getpid(), proc);
  EXPECT_EQ(watched.begin, 4711u);
  EXPECT_FALSE(is_gone(watched, proc));
  write("4712");
  EXPECT_TRUE(is_gone(watched, proc));
  unlink((folder + "/stat").c_str());
  EXPECT_FALSE(is_gone(watched, proc)) << "in doubt";
  rmdir(folder.c_str());
  rmdir(proc);
}

TEST(Liveness, Namespace) { EXPECT_EQ(pid_namespace(), pid_namespace()); }

}  // namespace
}  // namespace sumac
