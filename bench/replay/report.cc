// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <tuple>

#include "presence.h"

namespace sumac::replay {
namespace {

using Json = nlohmann::ordered_json;

void print(const Json& json) {
  std::puts(json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

std::string text_of(const std::vector<Row>& rows) {
  std::ostringstream text;
  text.precision(17);
  for (const Row& row : rows) {
    text << row.name << '\n'
         << row.ranks << ' ' << row.bytes << ' ' << row.calls << ' ' << row.mpi_us << ' '
         << row.sumac_us << ' ' << row.wrong << '\n';
  }
  return text.str();
}

std::string gather_text(const std::string& own, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int size = static_cast<int>(own.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), places(sizes.size());
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
  std::string all(rank == 0 ? static_cast<std::size_t>(places.back() + sizes.back()) : 0, ' ');
  MPI_Gatherv(own.data(), size, MPI_CHAR, all.data(), sizes.data(), places.data(), MPI_CHAR, 0,
              comm);
  return all;
}

Json number_or_null(bool has, double value) { return has ? Json(value) : Json(nullptr); }

}  // namespace

std::vector<Row> gather(const std::vector<Row>& own, MPI_Comm comm) {
  std::istringstream all(gather_text(text_of(own), comm));
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Row> merged;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  Row row;
  while (std::getline(all, row.name)) {
    all >> row.ranks >> row.bytes >> row.calls >> row.mpi_us >> row.sumac_us >> row.wrong;
    all.ignore();
    Row& sum = merged[{row.name, row.ranks, row.bytes}];
    sum.name = row.name;
    sum.ranks = row.ranks;
    sum.bytes = row.bytes;
    sum.calls += row.calls;
    sum.mpi_us += row.mpi_us / ranks;
    sum.sumac_us += row.sumac_us / ranks;
    sum.wrong += row.wrong;
  }
  std::vector<Row> rows;
  for (const auto& [key, sum] : merged) rows.push_back(sum);
  return rows;
}

void print_header(const char* family, int ranks, const Counts& counts, int passes) {
  const bench::Presence sumac = bench::presence();
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string version(library);
  print({{"kind", "header"},
         {"family", family},
         {"mpi", version.substr(0, version.find('\n'))},
         {"ranks", ranks},
         {"sumac", {{"active", sumac.active}, {"description", sumac.description}}},
         {"calls", counts.calls},
         {"left_out", counts.left_out},
         {"cut", counts.cut},
         {"passes", passes}});
}

void print_progress(const char* what) { print({{"kind", "progress"}, {"pass", what}}); }

void print_rows(std::vector<Row> rows, const Totals& totals) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::max(a.mpi_us, a.sumac_us) > std::max(b.mpi_us, b.sumac_us);
  });
  for (const Row& row : rows) {
    const std::size_t space = row.name.find(' ');
    print({{"kind", "class"},
           {"function", row.name.substr(0, space)},
           {"form", row.name.substr(space + 1)},
           {"ranks", row.ranks},
           {"bytes", row.bytes},
           {"calls", static_cast<long>(row.calls)},
           {"mpi_us", number_or_null(totals.has_mpi, row.mpi_us)},
           {"sumac_us", number_or_null(totals.has_sumac, row.sumac_us)},
           {"wrong", static_cast<long>(row.wrong)}});
  }
  print({{"kind", "summary"},
         {"rounds", totals.rounds},
         {"mpi_us", number_or_null(totals.has_mpi, totals.mpi_us)},
         {"sumac_us", number_or_null(totals.has_sumac, totals.sumac_us)},
         {"wrong", totals.wrong}});
}

}  // namespace sumac::replay
