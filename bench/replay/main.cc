// SPDX-License-Identifier: BSD-3-Clause
// sumac-replay-<family>: makes the calls of a record (docs/replay.md) again, by the MPI's own
// functions and by Sumac's in turns, and compares their results. 'sumac replay' starts it as
// `mpiexec -n N sumac exec sumac-replay-<family> FOLDER ...`, one rank for each file. Exit status:
// 0 done, 1 failed, 2 usage, 4 wrong results.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan.h"
#include "player.h"
#include "presence.h"
#include "report.h"
#include "timing.h"

namespace sumac::replay {
namespace {

constexpr int kFailed = 1, kUsage = 2, kWrong = 4;

struct Options {
  std::string folder;
  int rounds = 5;
  std::int64_t memory = std::int64_t{4} << 30;
  std::size_t events = SIZE_MAX;
  bool gaps = false, only_mpi = false, only_sumac = false;
};

// Returns -1 when the run can go on, else the exit status.
int parse(int argc, char** argv, bool tells, Options& options) {
  CLI::App app{"Makes the calls of a record again"};
  app.add_option("folder", options.folder)->required();
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  app.add_option("--memory", options.memory);
  app.add_option("--events", options.events);
  app.add_flag("--gaps", options.gaps);
  app.add_flag("--only-mpi", options.only_mpi);
  app.add_flag("--only-sumac", options.only_sumac);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!tells) return error.get_exit_code() == 0 ? 0 : kUsage;
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return -1;
}

struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 1;

  World() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  ~World() { MPI_Comm_free(&comm); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  long sum(long value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, comm);
    return value;
  }
  double most(double value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
    return value;
  }

  // Collective. Does what may fail on single ranks. If it does, the first of them says so, and all
  // throw.
  template <class Do>
  auto together(Do act) const {
    decltype(act()) result{};
    std::string line;
    try {
      result = act();
    } catch (const Failure& failure) {
      line = std::string("sumac: error[") + failure.slug + "]: " + failure.what();
    }
    int first = line.empty() ? ranks : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == rank) std::fprintf(stderr, "%s\n", line.c_str());
    if (first < ranks) throw Told();
    return result;
  }
  struct Told {};
};

Record read(const Options& options, const World& world) {
  const std::string path = options.folder + "/rank-" + std::to_string(world.rank) + ".calls";
  Record record = read_record(path);
  if (record.rank != world.rank || record.ranks != world.ranks) {
    throw Failure("replay-ranks", path + " is of rank " + std::to_string(record.rank) + " of " +
                                      std::to_string(record.ranks) + ", and this job has " +
                                      std::to_string(world.ranks) + " ranks");
  }
  if (record.overlaps) {
    throw Failure("replay-threads", "threads of rank " + std::to_string(record.rank) +
                                        " made calls at the same time");
  }
  return record;
}

// One contender: its functions, and what its passes took.
struct Contender {
  const char* name;
  Functions functions;
  std::vector<std::vector<Spent>> spent;  // by pass and shape
  std::vector<double> us;                 // by pass
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

class Run {
 public:
  Run(const Options& options, const World& world, const Record& record, Player& player,
      std::vector<Contender>& contenders)
      : options_(options),
        world_(world),
        record_(record),
        player_(player),
        contenders_(contenders),
        wrong_(record.shapes.size(), 0) {}

  // Returns the exit status.
  int run() {
    compare();
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t turn = 0; turn < contenders_.size(); ++turn) {
        time(contenders_[round % 2 == 0 ? turn : contenders_.size() - 1 - turn]);
      }
    }
    return tell();
  }

 private:
  void progress(const Contender& contender) const {
    if (world_.rank == 0) print_progress(contender.name);
  }

  // The results of all contenders, which also warms them up.
  void compare() {
    std::vector<std::vector<Player::Result>> results;
    for (Contender& contender : contenders_) {
      results.push_back(player_.results(contender.functions));
      MPI_Barrier(world_.comm);
      progress(contender);
    }
    if (results.size() < 2) return;
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      const bool same = results[0][i].hash == results[1][i].hash;
      if (!same) ++wrong_[static_cast<std::size_t>(results[0][i].shape)];
    }
  }

  void time(Contender& contender) {
    MPI_Barrier(world_.comm);
    const std::int64_t begin = bench::now_ns();
    contender.spent.push_back(player_.time(contender.functions, options_.gaps));
    const auto ns = static_cast<double>(bench::now_ns() - begin);
    contender.us.push_back(world_.most(ns / 1000));
    progress(contender);
  }

  double us_of(const Contender& contender, std::size_t shape) const {
    std::vector<double> passes;
    for (const auto& pass : contender.spent) {
      passes.push_back(static_cast<double>(pass[shape].ns) / 1000);
    }
    return median(passes);
  }

  int tell() const {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Row> rows;
    for (std::size_t s = 0; s < record_.shapes.size(); ++s) {
      const double calls = static_cast<double>(contenders_[0].spent[0][s].calls);
      if (calls == 0 && wrong_[s] == 0) continue;
      static constexpr const char* kForms[] = {" blocking", " nonblocking", " persistent"};
      const Shape& shape = record_.shapes[s];
      const std::string name =
          std::string(name_of(shape.function)) + kForms[static_cast<int>(shape.form)];
      const auto ranks = static_cast<std::int64_t>(
          record_.comms[static_cast<std::size_t>(shape.comm)].members.size());
      const std::int64_t bytes = player_.bytes_of(static_cast<int>(s));
      Row& row = rows[{name, ranks, bytes}];
      row.name = name;
      row.ranks = ranks;
      row.bytes = bytes;
      row.calls += calls;
      row.wrong += static_cast<double>(wrong_[s]);
      for (const Contender& contender : contenders_) {
        (is_mpi(contender) ? row.mpi_us : row.sumac_us) += us_of(contender, s);
      }
    }
    std::vector<Row> own;
    Totals totals;
    for (auto& [key, row] : rows) {
      totals.wrong += static_cast<long>(row.wrong);
      own.push_back(row);
    }
    totals.wrong = world_.sum(totals.wrong);
    totals.rounds = options_.rounds;
    for (const Contender& contender : contenders_) {
      (is_mpi(contender) ? totals.mpi_us : totals.sumac_us) = median(contender.us);
      (is_mpi(contender) ? totals.has_mpi : totals.has_sumac) = true;
    }
    const std::vector<Row> all = gather(own, world_.comm);
    if (world_.rank == 0) print_rows(all, totals);
    return totals.wrong > 0 ? kWrong : 0;
  }

  static bool is_mpi(const Contender& contender) { return contender.name == kMpi; }

  const Options& options_;
  const World& world_;
  const Record& record_;
  Player& player_;
  std::vector<Contender>& contenders_;
  std::vector<long> wrong_;  // by shape

 public:
  static constexpr const char* kMpi = "mpi";
};

int start(int argc, char** argv) {
  const World world;
  Options options;
  if (const int status = parse(argc, argv, world.rank == 0, options); status >= 0) return status;
  const auto record =
      world.together([&] { return std::make_unique<Record>(read(options, world)); });
  Plan plan = world.together([&] { return make_plan(*record, options.events, world.comm); });
  std::vector<Contender> contenders;
  const bool active = world.sum(bench::presence().active) == world.ranks;
  if (!options.only_sumac) contenders.push_back({Run::kMpi, of_the_mpi(), {}, {}});
  if (!options.only_mpi && active) contenders.push_back({"sumac", as_called(), {}, {}});
  auto player = world.together([&] {
    if (contenders.empty()) throw Failure("not-active", "Sumac is not active in this job");
    return std::make_unique<Player>(*record, plan, options.memory, of_the_mpi());
  });
  long calls = 0;
  for (std::size_t e = 0; e < plan.events; ++e) {
    const Event& event = record->events[e];
    if (event.kind == 'b' || event.kind == 'i') ++calls;
    if (event.kind == 'g') calls += event.requests;
  }
  const Counts counts{world.sum(calls), world.sum(static_cast<long>(plan.left_out)),
                      world.sum(static_cast<long>(plan.cut))};
  const int passes = static_cast<int>(contenders.size()) * (options.rounds + 1);
  if (world.rank == 0) print_header(SUMAC_REPLAY_FAMILY, world.ranks, counts, passes);
  const int status = Run(options, world, *record, *player, contenders).run();
  player.reset();
  free_communicators(plan);
  return status;
}

}  // namespace
}  // namespace sumac::replay

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = sumac::replay::kFailed;
  try {
    status = sumac::replay::start(argc, argv);
  } catch (const sumac::replay::World::Told&) {
  } catch (const sumac::replay::Failure& failure) {
    std::fprintf(stderr, "sumac: error[%s]: %s\n", failure.slug, failure.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sumac: error[replay-failed]: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
