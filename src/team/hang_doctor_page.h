// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits long says so in a page that other processes of the same user may read without
// its help: a file in memory, found in /proc/<pid>/fd by its name. It is written once a second
// while the rank waits. So a rank that does not wait writes nothing, and a page that is not fresh
// tells of a wait that is over, or of a process that is stopped.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace sumac {

inline constexpr char kStatusFile[] = "rank-status.sumac", kStatusMagic[] = "SUMACST1";

// python/sumac_mpi/launch/ranks.py reads the same bytes. Text ends with a zero.
struct RankStatus {
  char magic[8];                       // kStatusMagic, without its end
  std::atomic<std::uint64_t> version;  // base/versioned.h: odd while the page is being written
  std::uint64_t job;                   // the same in all ranks of a job; 0: not known
  std::uint64_t since_ns, fresh_ns;    // CLOCK_MONOTONIC: the wait's begin, the last writing
  std::uint64_t reported_ns;           // when this rank last reported a hang
  std::uint64_t team, nth, bytes;      // the call: the nth on the communicator
  std::int32_t pid, job_rank, job_ranks, rank, ranks;
  std::int32_t reserved;
  char collective[24], algorithm[24], communicator[64], host[64];
  char missing[128];  // ranks of the communicator that have not arrived
};
static_assert(sizeof(RankStatus) == 400);

// A page older than this tells of no wait that goes on.
inline constexpr std::uint64_t kFreshNs = 3'000'000'000;

// Returns this process's page, or null if there can be none.
RankStatus* own_page();

// While this object lives, one of the process's threads writes its page.
class PageWriting {
 public:
  explicit PageWriting(RankStatus& page);
  ~PageWriting();

 private:
  const std::lock_guard<std::mutex> lock_;
  RankStatus& page_;
};

// Notes which job this process is a rank of, unless `job` is 0, and which rank.
void note_job(std::uint64_t job, int job_ranks);

// A process with a page, and what the kernel says about it.
struct SeenRank {
  RankStatus status{};
  char state = '?';           // as in /proc/<pid>/stat
  std::uint64_t swapped = 0;  // bytes

  SeenRank() = default;
  SeenRank(const SeenRank& other) { *this = other; }
  SeenRank& operator=(const SeenRank& other);
  bool waits(std::uint64_t now) const { return now - status.fresh_ns < kFreshNs; }
};

// Returns this process as it shows itself, for its own threads. It belongs to no job if it has no
// page.
SeenRank seen_self();
// Returns the ranks of this process's job that can be seen, by rank.
std::vector<SeenRank> seen_ranks();

// A job that hangs is reported once for the ranks of a host, by one of those that wait.

// Returns true if `own`, whose page is among the others', is to report a hang: no rank before it
// waits as long (it reports itself), and none has reported while it waits.
bool is_to_report(const std::vector<SeenRank>& ranks, const RankStatus& own, std::uint64_t now,
                  std::uint64_t limit_ns);

// Returns the lines of the report: ranks that wait in the same call, and every other rank by
// itself.
std::vector<std::string> report_lines(const std::vector<SeenRank>& ranks, std::uint64_t now);

}  // namespace sumac
