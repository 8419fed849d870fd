// SPDX-License-Identifier: BSD-3-Clause
// What a simulated rank has where a process has Sumac's back end: options, rules, messages, and the
// teams of its communicators. Set-up, plans, levels and algorithms are those of every back end. The
// ranks of a simulated node share no memory: their groups send messages too, over the links that
// the platform has for its memory.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "config/options.h"
#include "progress/engine.h"
#include "rules/rules.h"
#include "simulate/mail.h"
#include "team/context.h"
#include "team/hello.h"
#include "team/oob.h"
#include "team/team.h"

namespace sumac::simulated {

// What all simulated ranks have alike.
struct Settings {
  std::vector<Place> places;           // by rank of MPI_COMM_WORLD
  std::vector<std::string> variables;  // as in an environment; `options` point into them
  sumac_options options = {};
  RuleSet rules;
  Family family = Family::any;
  double overhead = 0;  // seconds that a message takes of its receiver
};

// Of one rank.
class Process {
 public:
  explicit Process(const Settings& its_settings);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Advances what has been begun, by what has arrived.
  void look();
  // Advances what has been begun while it waits for a request of the program's.
  void wait_for(MPI_Request& other, MPI_Status* status);

  const Settings& settings;
  int rank = 0;  // of MPI_COMM_WORLD
  Mail mail;
  Engine engine;

 private:
  Arena arena_;  // never asked for memory
  IdleMessages idle_;
  KnownMeasures measures_;
  KnownGroups groups_;

 public:
  const Context context;

 private:
  static Context context_of(Process& process);
};

// One communicator of a rank: its team.
class Communicator final : private Oob {
 public:
  // Collective: sets the team up. No other messages go through `comm`, which is freed with this
  // unless it is MPI_COMM_WORLD.
  Communicator(Process& process, MPI_Comm comm);
  // Collective. Nothing may be under way.
  ~Communicator() override;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  bool is_served() const { return team.state == Team::State::together; }
  // How `collective` of so many bytes is done.
  Choice choose(Collective collective, std::size_t bytes) const {
    return team.choose(collective, bytes);
  }
  // The stages of such a call as rank 0 takes part in them, in words.
  std::string plan_text(const CallShape& shape, const Choice& choice) const;

  Process& process() { return process_; }

  // Runs a call to its end.
  void run(const ChosenCall& call);
  // Begins a call, which advances whenever the rank waits, or looks.
  void start(Work& work, const ChosenCall& call);
  void wait_for(const Work& work);

 private:
  void all_gather(const void* own, void* all, std::size_t bytes) override;
  void gather(const void* own, void* all, std::size_t bytes) override;
  bool all_gather_among(const RankList& members, const void* own, void* all,
                        std::size_t bytes) override;
  void all_and(std::uint64_t* words, std::size_t count) override;
  void all_max(std::uint64_t* words, std::size_t count) override;
  void broadcast(void* data, std::size_t bytes) override;
  bool make_messages(std::shared_ptr<Messages>& made) override;
  void drive() override;
  void end_job() override;
  Hello hello() const;

  Process& process_;
  MPI_Comm comm_;

 public:
  Team team;
};

}  // namespace sumac::simulated
