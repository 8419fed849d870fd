// SPDX-License-Identifier: BSD-3-Clause
#include "team/thread_budget.h"

#include <algorithm>

#include "base/launch.h"
#include "machine/own_processors.h"
#include "tasks/threads.h"

namespace sumac {
namespace {

void set_room(const ProcessorRoom& told) {
  set_processor_room(told);
  const ProcessorRoom room = processor_room();
  constexpr double kRounding = 1e-6;
  const int own = static_cast<int>(room.share * room.processors + kRounding);
  set_own_processors(room.quota > 0 ? std::min(own, room.quota / std::max(1, room.ranks)) : own);
}

}  // namespace

void read_thread_options(const sumac_options& options) {
  ThreadSettings settings;
  settings.min_bytes = options.threads_min;
  settings.priority = static_cast<int>(options.task_priority);
  settings.own_regions = options.own_regions != 0;
  if (options.threads > 0) settings.most = static_cast<int>(options.threads);
  set_threads(settings);
}

void guess_processors() {
  const CpuMask own = own_cpus();
  ProcessorRoom room;
  room.processors = own.count();
  room.ranks = std::max(1, sumac_launch_ranks_on_node());
  room.share = share_of_processors(own, {}, room.ranks - 1);
  room.quota = cpu_quota();
  set_room(room);
}

void learn_processors(const std::vector<Hello>& machine, std::size_t place) {
  const Hello& own = machine[place];
  std::vector<CpuMask> others;
  ProcessorRoom room;
  for (const Hello& hello : machine) {
    if (&hello != &own) others.push_back(hello.cpus);
    room.ranks = std::max(room.ranks, hello.job_ranks_on_node);
  }
  room.known = static_cast<int>(others.size()) + 1;
  room.ranks = std::max(room.ranks, room.known);
  room.processors = own.cpus.count();
  room.share = share_of_processors(own.cpus, others, room.ranks - room.known);
  room.quota = own.cpu_quota;
  set_room(room);
}

}  // namespace sumac
