// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/job.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sumac::simulated {
namespace {

using Json = nlohmann::json;

Place place_of(const Json& row) {
  Place place;
  const int attached = row.at(2);
  place.node = place.host = row.at(0).get<std::uint64_t>() + 1;
  place.at.package = place.at.numa = row.at(1);
  place.slow = attached >= 0;
  if (place.slow) place.attached = static_cast<std::uint64_t>(attached) + 1;
  return place;
}

Case case_of(const Json& row) {
  Case one;
  const std::string name = row.at("collective");
  const CollectiveInfo* const info = find_collective(name);
  if (!info) throw std::runtime_error("no collective is called " + name);
  one.collective = info->collective;
  one.bytes = row.at("bytes");
  one.root = row.value("root", 0);
  one.native = row.at("native");
  one.nonblocking = row.value("nonblocking", false);
  one.compute = row.value("compute", 0.0);
  one.tests = row.value("tests", 0);
  return one;
}

void read_options(Settings& settings) {
  std::vector<char*> pointers;
  for (std::string& variable : settings.variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  std::string wrong;
  const auto note = [](void* to, const sumac_problem* problem) {
    *static_cast<std::string*>(to) = problem->what;
  };
  sumac_options_read(&settings.options, pointers.data(), nullptr, note, &wrong);
  if (!wrong.empty()) throw std::runtime_error(wrong);
  const std::string rules = settings.options.rules;
  if (!rules.empty() && !read_rules(rules.c_str(), settings.rules, wrong)) {
    throw std::runtime_error(wrong);
  }
}

}  // namespace

Job read_job(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const Json json = Json::parse(file);
  Job job;
  for (const Json& row : json.at("places")) job.settings.places.push_back(place_of(row));
  for (const Json& row : json.at("cases")) job.cases.push_back(case_of(row));
  job.settings.variables = json.at("variables").get<std::vector<std::string>>();
  job.settings.variables.push_back("SUMAC_CMA=off");
  const std::string mpi = json.at("mpi");
  job.settings.family = mpi == "openmpi" ? Family::openmpi
                        : mpi == "mpich" ? Family::mpich
                                         : Family::any;
  job.settings.overhead = json.at("overhead");
  read_options(job.settings);
  return job;
}

}  // namespace sumac::simulated
