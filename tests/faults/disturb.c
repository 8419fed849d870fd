// SPDX-License-Identifier: BSD-3-Clause
// Loaded in front of an MPI program, it disturbs the rank while the program runs, as
// SUMAC_TEST_DISTURB says:
//   signals   one that interrupts system calls, up to a thousand times a second
//   stops     SIGSTOP, and SIGCONT some milliseconds later
//   forks     children: of fork() that write to their copy of the stack and end, of
//             posix_spawn(), of system()
//   clock     the time of day jumps to and fro by years
// At its end each rank writes how often that happened.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static _Atomic long* times;  // that the rank was disturbed; the child that stops it counts too
static const char* how;
static _Atomic int over;
static pthread_t program;

static unsigned draw(unsigned bound) {
  static _Thread_local unsigned long state;
  if (state == 0) state = (unsigned long)syscall(SYS_gettid) * 2654435761u;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % bound;
}

static void pause_ms(unsigned most) {
  const struct timespec time = {0, 1000 * (long)(1 + draw(1000 * most))};
  nanosleep(&time, NULL);
}

static void on_signal(int number) {
  (void)number;
  ++*times;
}

static void* send_signals(void* unused) {
  (void)unused;
  while (!over) {
    pause_ms(2);
    pthread_kill(program, SIGUSR2);
  }
  return NULL;
}

static void fork_once(void) {
  const pid_t child = fork();
  if (child == 0) {
    char stack[4096];
    memset(stack, 0x5a, sizeof stack);
    _exit(stack[draw(sizeof stack)] == 0x5a ? 0 : 1);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

static void spawn_once(void) {
  char* const words[] = {"true", NULL};
  pid_t child;
  if (posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0) waitpid(child, NULL, 0);
}

static void* make_children(void* unused) {
  (void)unused;
  while (!over) {
    pause_ms(8);
    const unsigned way = draw(4);
    if (way < 2) fork_once();
    if (way == 2) spawn_once();
    if (way == 3 && system("exit 0") != 0) continue;
    ++*times;
  }
  return NULL;
}

// In a child, which ends with the rank.
static void stop_parent(pid_t rank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (getppid() == rank) {
    pause_ms(40);
    kill(rank, SIGSTOP);
    ++*times;
    pause_ms(draw(8) == 0 ? 80 : 8);
    kill(rank, SIGCONT);
  }
  _exit(0);
}

__attribute__((constructor)) static void begin(void) {
  static _Atomic long own;
  times = &own;
  const char* asked = getenv("SUMAC_TEST_DISTURB");
  how = asked != NULL && dlsym(RTLD_DEFAULT, "MPI_Init") != NULL ? strdup(asked) : "";
  if (*how == '\0') return;
  unsetenv("SUMAC_TEST_DISTURB");  // the rank alone, and not its children
  program = pthread_self();
  pthread_t thread;
  if (strcmp(how, "signals") == 0) {
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR2, &action, NULL);
    pthread_create(&thread, NULL, send_signals, NULL);
  } else if (strcmp(how, "forks") == 0) {
    pthread_create(&thread, NULL, make_children, NULL);
  } else if (strcmp(how, "stops") == 0) {
    times = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t rank = getpid();
    if (fork() == 0) stop_parent(rank);
  }
}

__attribute__((destructor)) static void end(void) {
  if (*how == '\0') return;
  over = 1;
  char line[80];
  const int used = snprintf(line, sizeof line, "disturbed %s: %ld times\n", how, *times);
  if (write(STDERR_FILENO, line, (size_t)used) < 0) return;
}

static long jump(void) {
  if (how == NULL || strcmp(how, "clock") != 0) return 0;
  ++*times;
  return ((long)draw(5) - 2) * 366 * 24 * 3600 + (long)draw(100) - 50;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int status = (int)syscall(SYS_clock_gettime, clock, time);
  const int jumps = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  if (status == 0 && jumps) time->tv_sec += jump();
  return status;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
