// SPDX-License-Identifier: BSD-3-Clause
// Tests without an MPI job have this in the place of process.cc and mpi_oob.cc: a process that has
// initialised its MPI, whose functions are null until a test sets them.
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/communicator.h"
#include "interpose/process/entry.h"

namespace sumac {

MpiFunctions mpi, in_front;
sumac_options options;
std::atomic<bool> mpi_is_known_to_be_up{true}, device_runtime_is_there{false};
std::atomic<int> paused_threads{0};

void put_in_front(const sumac_stub&, sumac_call) {}
void* entry_of(sumac_call) { return nullptr; }
bool learn_whether_mpi_is_up() { return false; }
void note_mpi_up(int) {}
ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}
Engine& engine() {
  static auto* the_engine = new Engine;
  return *the_engine;
}
const Context& team_context() {
  static auto* rules = new RuleSet;
  static auto* arena = new Arena;
  static auto* idle = new IdleMessages;
  static auto* measures = new KnownMeasures;
  static auto* groups = new KnownGroups;
  static auto* context =
      new Context{options, *rules, *arena, *idle, *measures, *groups, Family::openmpi, 1};
  return *context;
}

void MpiOob::all_gather(const void*, void*, std::size_t) {}
void MpiOob::gather(const void*, void*, std::size_t) {}
bool MpiOob::all_gather_among(const RankList&, const void*, void*, std::size_t) { return false; }
void MpiOob::all_and(std::uint64_t*, std::size_t) {}
// A test of agreements has its own.
[[gnu::weak]] void MpiOob::all_max(std::uint64_t*, std::size_t) {}
void MpiOob::broadcast(void*, std::size_t) {}
bool MpiOob::make_messages(std::shared_ptr<Messages>&) { return false; }
void MpiOob::drive() {}
std::string MpiOob::name() { return ""; }
void MpiOob::end_job() {}

void MpiFold::fold(std::byte*, int, std::size_t, Source, const void*) {}
void MpiFold::forget() {}
void GrowingMemory::free() {}

}  // namespace sumac
