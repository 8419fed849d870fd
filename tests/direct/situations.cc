// SPDX-License-Identifier: BSD-3-Clause
// A program does to its memory and descriptors what promotion could not know of, and its results
// must be those of private memory.
// situations CASE   device, faults, faults_late, closefrom, grow, freed, locked, scanned, forked,
//                   ended
// With SUMAC_PROMOTE=eager buffers are promoted at their first use.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>

#include "../mpi/check.h"
#include "../mpi/direct_memory.h"

namespace {

using namespace test;

constexpr std::size_t kMega = std::size_t{1} << 20;

// A buffer of doubles that is a mapping of its own.
struct Buffer {
  explicit Buffer(std::size_t size, std::uintptr_t at = 0) : bytes(size) {
    void* const place = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (!CHECK(place != MAP_FAILED)) std::abort();
    data = static_cast<double*>(place);
  }
  int count() const { return static_cast<int>(bytes / sizeof(double)); }
  double& middle() const { return data[bytes / sizeof(double) / 2]; }

  double* data;
  std::size_t bytes;
};

// Calls act(first, last, is_of_sumac) for the mappings of this process.
template <class Act>
void for_mappings(Act act) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long first = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &first, &end) == 2) {
      act(first, end, std::strstr(line, "/memfd:sumac-") != nullptr, line);
    }
  }
  std::fclose(maps);
}

bool is_promoted(const Buffer& buffer) {
  bool is = false;
  const auto at = reinterpret_cast<unsigned long>(&buffer.middle());
  for_mappings([&](unsigned long first, unsigned long end, bool of_sumac, const char*) {
    is |= of_sumac && first <= at && at < end;
  });
  return is;
}

// Calls act(descriptor) for the memory file of this process, if it is open.
template <class Act>
void for_memory_file(Act act) {
  for (int number = 3; number < 4096; ++number) {
    char link[64], target[64] = {};
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", number);
    const ssize_t length = readlink(link, target, sizeof target - 1);
    if (length > 0 && std::strncmp(target, "/memfd:sumac-", 13) == 0) act(number);
  }
}

std::size_t file_bytes() {
  std::size_t bytes = 0;
  for_memory_file([&](int file) {
    struct stat now {};
    if (fstat(file, &now) == 0) bytes += static_cast<std::size_t>(now.st_blocks) * 512;
  });
  return bytes;
}

void reduce(const Buffer& in, const Buffer& out, int times, MPI_Comm comm = MPI_COMM_WORLD) {
  int own = 0, size = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &size);
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < in.count(); ++i) in.data[i] = own + t + i % 8;
    MPI_Allreduce(in.data, out.data, in.count(), MPI_DOUBLE, MPI_SUM, comm);
    int wrong = 0;
    for (int i = 0; i < in.count(); ++i) {
      wrong += out.data[i] != size * (size - 1) / 2 + size * (t + i % 8);
    }
    CHECK(wrong == 0, "%d of %d; call %d, path '%s'; %s", wrong, in.count(), t, path(), step_text);
  }
}

// Calls of 8 bytes.
void reduce_little(int times) {
  for (int t = 0; t < times; ++t) {
    double own = rank, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2);
  }
}

void expect_promoted(const Buffer& in, const Buffer& out) {
  reduce(in, out, 4);
  CHECK(is_promoted(in) && is_promoted(out), "%s", step_text);
}

// Buffers registered with an io_uring are pinned. It may be the first time that they are used.
void open_device() {
  const Buffer before(kMega), in(kMega), out(kMega);
  expect_promoted(before, out);
  char parameters[256] = {};
  if (!on_all(syscall(SYS_io_uring_setup, 4, parameters) >= 0)) return skip("no io_uring here");
  reduce(in, out, 4);
  CHECK(!is_promoted(in));
  reduce(before, out, 4);
  CHECK(is_promoted(before), "its pages may be pinned by now");
}

// Page k of the buffer holds the number k, as soon as it is used.
void answer_faults(int faults, const Buffer& buffer) {
  alignas(kPage) static double page[kPage / sizeof(double)];
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data);
  uffd_msg message{};
  while (read(faults, &message, sizeof message) == sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    const std::uintptr_t at = message.arg.pagefault.address & ~(kPage - 1);
    std::fill(std::begin(page), std::end(page), static_cast<double>((at - begin) / kPage));
    uffdio_copy copy{.dst = at,
                     .src = reinterpret_cast<std::uintptr_t>(page),
                     .len = kPage,
                     .mode = 0,
                     .copy = 0};
    if (ioctl(faults, UFFDIO_COPY, &copy) == 0) continue;
    uffdio_range there{at, kPage};
    ioctl(faults, UFFDIO_WAKE, &there);
  }
}

int register_faults(const Buffer& buffer) {
  const auto faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  uffdio_register range{{reinterpret_cast<std::uintptr_t>(buffer.data), buffer.bytes},
                        UFFDIO_REGISTER_MODE_MISSING,
                        0};
  const bool works = faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 &&
                     ioctl(faults, UFFDIO_REGISTER, &range) == 0;
  return works ? faults : -1;
}

// The program brings evicted pages back itself.
void evict(bool late) {
  const Buffer other(kMega), out(kMega), lazy(kMega, 0x300000000000);
  reduce(late ? lazy : other, out, 4);
  const int faults = register_faults(lazy);
  if (!on_all(faults >= 0)) return skip("no userfaultfd here");
  std::thread(answer_faults, faults, lazy).detach();
  for (int round = 0; round < 3; ++round) {
    if (late || round > 0) madvise(lazy.data, lazy.bytes, MADV_DONTNEED);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(lazy.data, out.data, lazy.count(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < out.count(); ++i) wrong += out.data[i] != ranks * (i / 512);
    CHECK(wrong == 0, "%d; round %d", wrong, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The program closes the file, and its own file gets the number.
void close_files() {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  const Buffer near[] = {Buffer(kMega, 0x200000000000), Buffer(kMega, 0x200000200000)};
  const Buffer far[] = {Buffer(kMega, 0x200400000000), Buffer(kMega, 0x200400200000)};
  for (int i = 0; i < 3; ++i) MPI_Barrier(pair);
  reduce(near[0], near[1], 8);
  reduce(far[0], far[1], 4, pair);
  const int own = memfd_create("own", 0);
  CHECK(ftruncate(own, off_t{1} << 46) == 0);
  for_memory_file([&](int file) { dup2(own, file); });
  reduce(far[0], far[1], 8);
  madvise(far[0].data, far[0].bytes, MADV_DONTNEED);
  CHECK(far[0].middle() == 0);
  reduce(near[0], near[1], 8);
  struct stat now {};
  CHECK(fstat(own, &now) == 0 && now.st_blocks == 0, "the program's file has %ld blocks",
        static_cast<long>(now.st_blocks));
}

// A thread works in memory that grows in place, where nothing else is behind it.
void grow() {
  const Buffer out(kMega);
  int grown_often = 0;
  for (int round = 0; round < 20; ++round) {
    Buffer in(2 * kMega);
    munmap(in.data + kMega / sizeof(double), kMega);  // there is room
    in.bytes = kMega;
    expect_promoted(in, out);
    std::atomic<bool> stop{false};
    std::atomic<long> lost{0};
    std::thread worker([&] {
      auto* const place = reinterpret_cast<std::atomic<long>*>(&in.middle());
      for (long k = 0; !stop; ++k) {
        place->store(k);
        lost += place->load() != k;
      }
    });
    usleep(1000);
    const bool grown = mremap(in.data, kMega, 2 * kMega, 0) == in.data;
    usleep(1000);
    stop = true;
    worker.join();
    CHECK(lost == 0, "%ld", lost.load());
    grown_often += grown;
    for (std::size_t i = 0; grown && i < kMega / sizeof(double); ++i) {
      CHECK(in.data[kMega / sizeof(double) + i] == 0);
    }
    munmap(in.data, grown ? 2 * kMega : kMega);
  }
  CHECK(grown_often > 10, "%d of 20", grown_often);
}

// The system has freed memory back while the program makes small calls.
void free_memory() {
  const Buffer in(8 * kMega), out(8 * kMega);
  expect_promoted(in, out);
  CHECK(file_bytes() >= 15 * kMega);
  munmap(in.data, in.bytes);
  munmap(out.data, out.bytes);
  for (int i = 0; i < 1000 && !on_all(file_bytes() < kMega); ++i) {
    reduce_little(300);
    usleep(1000);
  }
  CHECK(file_bytes() < kMega, "%zu", file_bytes());
}

// Reads what the process can, as a checkpointer does.
void read_all_mappings() {
  std::vector<char> block(kMega);
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  for_mappings([&](unsigned long first, unsigned long end, bool, const char* line) {
    if (!std::strstr(line, " rw-")) return;
    while (first < end) {
      const ssize_t got = pread(memory, block.data(), std::min(block.size(), end - first),
                                static_cast<off_t>(first));
      if (got <= 0) return;
      first += static_cast<unsigned long>(got);
    }
  });
  close(memory);
}

void touch_all(bool by_lock) {
  const Buffer in(kMega), out(kMega);
  expect_promoted(in, out);
  reduce(in, out, 8);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::size_t before = file_bytes();
  if (by_lock) {
    if (!on_all(mlockall(MCL_CURRENT | MCL_FUTURE) == 0)) return skip("mlockall is not allowed");
  } else {
    read_all_mappings();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(file_bytes() <= before, "%zu -> %zu", before, file_bytes());
  munlockall();
  reduce(in, out, 8);
}

// Waits for a child that has found its data right.
void expect_right(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
}

// Parent and child have their own, with little and with much promoted memory.
void fork_children() {
  for (const std::size_t bytes : {kMega, 24 * kMega}) {
    const Buffer in(bytes), out(bytes);
    expect_promoted(in, out);
    for (int round = 0; round < 3; ++round) {
      in.middle() = round;
      const pid_t child = fork();
      if (child == 0) {
        usleep(20000);
        const bool right = in.middle() == round && out.data[8] == out.data[16];
        std::memset(in.data, 1, bytes);
        std::memset(out.data, 1, bytes);
        _exit(right ? 0 : 1);
      }
      in.middle() = 77;
      reduce(in, out, 2);
      expect_right(child);
    }
  }
}

// Nothing of the process's memory is held after MPI_Finalize.
int end_and_free() {
  const Buffer in(kMega), out(kMega);
  expect_promoted(in, out);
  const int status = finish();
  int files = 0, mappings = 0;
  for_memory_file([&](int) { ++files; });
  munmap(in.data, in.bytes);
  munmap(out.data, out.bytes);
  for_mappings(
      [&](unsigned long, unsigned long, bool of_sumac, const char*) { mappings += of_sumac; });
  if (files + mappings > 0) std::printf("FAILED: %d files, %d mappings\n", files, mappings);
  return status | (files + mappings > 0);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv, MPI_THREAD_FUNNELED);
  warm_up(MPI_COMM_WORLD);
  const std::string name = argc > 1 ? argv[1] : "";
  step("%s", name.c_str());
  if (name == "device") open_device();
  if (name == "faults" || name == "faults_late") evict(name == "faults_late");
  if (name == "closefrom") close_files();
  if (name == "grow") grow();
  if (name == "freed") free_memory();
  if (name == "locked" || name == "scanned") touch_all(name == "locked");
  if (name == "forked") fork_children();
  if (name == "ended") return end_and_free();
  return finish();
}
