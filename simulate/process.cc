// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/process.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "interpose/mpi/constants.h"
#include "levels/call_plan.h"
#include "team/hello.h"
#include "team/set_up.h"

namespace sumac::simulated {
namespace {

int world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

Context Process::context_of(Process& process) {
  return {process.settings.options,
          process.settings.rules,
          process.arena_,
          process.idle_,
          process.measures_,
          process.groups_,
          process.settings.family,
          static_cast<std::uint64_t>(process.rank) + 1,
          {},
          false};
}

Process::Process(const Settings& its_settings)
    : settings(its_settings),
      rank(world_rank()),
      mail(its_settings.overhead),
      context(context_of(*this)) {}

void Process::look() {
  mail.look();
  engine.progress();
}

void Process::wait_for(MPI_Request& other, MPI_Status* status) {
  while (!mail.wait_also_for(other, status)) {
    while (engine.progress()) {
    }
  }
}

Communicator::Communicator(Process& process, MPI_Comm comm)
    : process_(process), comm_(comm), team(process.context, *this) {
  PMPI_Comm_rank(comm, &team.rank);
  PMPI_Comm_size(comm, &team.size);
  process.engine.watch(team.queue, true);
  if (team.size == 1) {
    team.state = Team::State::alone;
    return;
  }
  set_up_team(team, hello(), false);
  team.wait_policy.late = nullptr;
  team.wait_policy.spins = 0;
  team.wait_policy.drive_waits = true;
}

Communicator::~Communicator() {
  process_.engine.forget(team.queue);
  team.reset();
  if (comm_ != MPI_COMM_WORLD) PMPI_Comm_free(&comm_);
}

// As on a machine of its own for each simulated node, with a processor for each rank.
Hello Communicator::hello() const {
  Hello own = own_hello(process_.context, team.hierarchy);
  own.place = process_.settings.places[static_cast<std::size_t>(process_.rank)];
  own.machine = own.place.node;
  own.job_ranks_on_node = own.cpu_quota = 0;
  const auto& places = process_.settings.places;
  const auto ranks = std::count_if(places.begin(), places.end(), [&](const Place& place) {
    return place.node == own.place.node;
  });
  own.cpus = CpuMask();
  for (long i = 0; i < std::min<long>(ranks, kMaskWords * 64); ++i) {
    own.cpus.words[i / 64] |= std::uint64_t{1} << i % 64;
  }
  PMPI_Comm_size(MPI_COMM_WORLD, &own.world);
  own.progresses_messages = 1;
  return own;
}

// To one rank and from there to all: SMPI's all-gathers send a message for each pair of ranks.
void Communicator::all_gather(const void* own, void* all, std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  PMPI_Gather(own, count, MPI_BYTE, all, count, MPI_BYTE, 0, comm_);
  PMPI_Bcast(all, count * team.size, MPI_BYTE, 0, comm_);
}

void Communicator::gather(const void* own, void* all, std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  PMPI_Gather(own, count, MPI_BYTE, all, count, MPI_BYTE, 0, comm_);
}

// The first member gathers, and sends to all.
bool Communicator::all_gather_among(const RankList& members, const void* own, void* all,
                                    std::size_t bytes) {
  constexpr int kTag = 1;
  static_assert(kTag < SmpiMessages::kFirstTag);
  const int count = static_cast<int>(bytes), whole = count * members.size();
  if (team.rank != members[0]) {
    PMPI_Send(own, count, MPI_BYTE, members[0], kTag, comm_);
    PMPI_Recv(all, whole, MPI_BYTE, members[0], kTag, comm_, MPI_STATUS_IGNORE);
    return true;
  }
  auto* to = static_cast<std::byte*>(all);
  std::memcpy(to, own, bytes);
  for (int i = 1; i < members.size(); ++i) {
    PMPI_Recv(to + i * count, count, MPI_BYTE, members[i], kTag, comm_, MPI_STATUS_IGNORE);
  }
  for (int i = 1; i < members.size(); ++i) {
    PMPI_Send(all, whole, MPI_BYTE, members[i], kTag, comm_);
  }
  return true;
}

void Communicator::all_and(std::uint64_t* words, std::size_t count) {
  PMPI_Allreduce(MPI_IN_PLACE, words, static_cast<int>(count), MPI_UINT64_T, MPI_BAND, comm_);
}

void Communicator::all_max(std::uint64_t* words, std::size_t count) {
  PMPI_Allreduce(MPI_IN_PLACE, words, static_cast<int>(count), MPI_UINT64_T, MPI_MAX, comm_);
}

void Communicator::broadcast(void* data, std::size_t bytes) {
  PMPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, comm_);
}

bool Communicator::make_messages(std::shared_ptr<Messages>& made) {
  made = std::make_shared<SmpiMessages>(process_.mail, comm_);
  return true;
}

void Communicator::drive() {
  process_.mail.wait();
  process_.engine.progress();
}

void Communicator::end_job() { PMPI_Abort(comm_, 1); }

void Communicator::run(const ChosenCall& call) {
  const Ranks ranks = team.ranks(call.collective);
  if (team.queue.empty()) return team.work.run(call, {}, ranks, team.wait_policy);
  team.queue.add(team.work, call, {}, ranks, false);
  team.queue.wait_for(team.work, team.wait_policy);
}

void Communicator::start(Work& work, const ChosenCall& call) {
  team.queue.add(work, call, {}, team.ranks(call.collective), true);
}

void Communicator::wait_for(const Work& work) { team.queue.wait_for(work, team.wait_policy); }

std::string Communicator::plan_text(const CallShape& shape, const Choice& choice) const {
  const LevelsRun* run = team.levels_for[static_cast<int>(shape.collective)];
  if (!run || choice.algorithm == Algorithm::native) return "native";
  CallPlan plan;
  plan_call(run->agreed(), choice, shape, plan);
  std::string text;
  for (const StagePlan& stage : plan.stages) {
    const LevelGroup& group = group_of(run->agreed(), stage);
    if (!text.empty()) text += ", ";
    text += std::string(group.name) + " x" + std::to_string(group.size) + " " +
            operation_of(stage.kind, shape.collective) + " " + name_of(stage.algorithm);
    const bool works = stage.algorithm != Algorithm::native;  // the group has more than one rank
    if (works && info_of(stage.algorithm).tuned == Tuned::radix) {
      text.append(":").append(std::to_string(stage.radix));
    }
  }
  if (plan.num_chunks() > 1) {
    text.append("; ").append(std::to_string(plan.num_chunks())).append(" chunks");
  }
  return text;
}

}  // namespace sumac::simulated

namespace sumac {
namespace {

// The constants that calls need in a simulation. SMPI's handles are pointers that belong to a
// simulated process, so that none of them may be read when the program is loaded: the handles that
// a call does not have are zero here.
constexpr MpiConstants of_smpi() {
  MpiConstants made{};
  made.handle_bytes = sizeof(MPI_Comm);
  made.status_bytes = sizeof(MPI_Status);
  return made;
}

}  // namespace

constinit const MpiConstants kMpi = of_smpi();

}  // namespace sumac
