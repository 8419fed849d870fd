// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: started again and again with new data, several at once, together with
// blocking and nonblocking ones; inactive ones, freed ones, and kinds that Sumac does not serve.
// persistent [SEEDS]
#include "persistent.h"

#include "completion.h"
#include "random_cases.h"

namespace {

using namespace test;

class Persistent : public Begun {
 public:
  using Begun::Begun;
  void cycle(std::uint64_t seed) {
    call().fill(seed);
    forget_path();
    MPI_Start(&request);
    expect_taken_nonblocking(step_text);
    const MPI_Request before = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == before, "%s", step_text);
    ended(step_text);
  }
};

// Rules of the standard that Sumac's own requests must obey and some MPIs break. MPICH's requests
// hang in MPI_Wait before their first start, and after it every MPI_Waitany counts them as ended.
// Open MPI's use a derived type after it has been freed.
#ifdef OPEN_MPI
constexpr bool kInactiveIsRight = true, kTypesAreKept = false;
#else
constexpr bool kInactiveIsRight = false, kTypesAreKept = true;
#endif

void cycles(const Group& group) {
  const Sweep all{.whats = {What::allreduce, What::reduce, What::bcast, What::barrier},
                  .counts = {0, 1, 14, 512, 514, 10000, 75000},
                  .forms = {Form::persistent}};
  all.for_each([&](Case& c, std::uint64_t number) {
    c.root = static_cast<int>(number) % group.size();
    c.in_place = number % 3 == 0;
    c.large = number % 5 == 0 && c.what != What::barrier;
    Persistent persistent(c, group);
    step("%s in cycles", persistent.call().text().c_str());
    for (std::uint64_t seed = 1; seed < 6; ++seed) persistent.cycle(seed);
  });
}

// Other collectives and messages while persistent operations are active.
void something_else(Random& shared, const Group& group) {
  const Form form = shared.below(2) ? Form::blocking : Form::nonblocking;
  Case c = random_case(shared, form, group.size());
  c.in_place = false;
  run(c, group, Served::anyhow);
  int got = -1;
  const int next = (group.rank + 1) % group.size();
  const int previous = (group.rank + group.size() - 1) % group.size();
  MPI_Sendrecv(&group.rank, 1, MPI_INT, next, 5, &got, 1, MPI_INT, previous, 5, group.comm,
               MPI_STATUS_IGNORE);
  CHECK(got == previous, "%d", got);
}

// Starts the requests in the same random order on all ranks: MPI_Startall starts them in the order
// of the array.
void start_together(std::vector<Work*>& works, Random& shared) {
  for (std::size_t i = works.size(); i > 1; --i) {
    std::swap(works[i - 1], works[shared.below(i)]);
  }
  std::vector<MPI_Request> requests;
  for (const Work* work : works) requests.push_back(work->request);
  if (shared.below(2)) {
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
  } else {
    for (MPI_Request& request : requests) MPI_Start(&request);
  }
  for (std::size_t i = 0; i < works.size(); ++i) CHECK(requests[i] == works[i]->request);
}

void active_together(const std::vector<Group>& groups, std::uint64_t seed) {
  Random shared(seed), own(seed * 1000 + static_cast<std::uint64_t>(rank));
  std::vector<std::unique_ptr<Persistent>> all;
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < 12; ++i) {
    const Group& group = groups[shared.below(groups.size())];
    const Case c = random_case(shared, Form::persistent, group.size());
    all.push_back(std::make_unique<Persistent>(c, group));
    seeds.push_back(c.seed);
  }
  for (std::uint64_t round = 0; round < 15; ++round) {
    step("seed %llu, round %llu", static_cast<unsigned long long>(seed),
         static_cast<unsigned long long>(round));
    std::vector<Work*> works;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (shared.below(3) == 0) continue;
      all[i]->call().fill(seeds[i] + round);
      works.push_back(all[i].get());
    }
    start_together(works, shared);
    something_else(shared, groups[round % groups.size()]);
    while (!works.empty()) {
      Batch batch(works, own, own.below(2) == 0);
      for (const Work* ended : batch.complete()) std::erase(works, ended);
    }
  }
}

// Among active requests an inactive one counts as null, but keeps its handle.
void inactive_beside(MPI_Request inactive, const Group& group) {
  MPI_Request requests[3] = {inactive, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int in = 1, out = 0, index = -1, count = -1, indices[3];
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, group.comm, &requests[2]);
  MPI_Waitany(3, requests, &index, statuses);
  CHECK(index == 2 && out == group.size(), "%d %d", index, out);
  MPI_Ibarrier(group.comm, &requests[2]);
  MPI_Waitsome(3, requests, &count, indices, statuses);
  CHECK(count == 1 && indices[0] == 2, "%d", count);
  MPI_Ibarrier(group.comm, &requests[2]);
  MPI_Waitall(3, requests, statuses);
  check_empty(statuses[0], "MPI_Waitall");
  MPI_Ibarrier(group.comm, &requests[2]);
  for (int flag = 0; !flag;) MPI_Testall(3, requests, &flag, statuses);
  check_empty(statuses[0], "MPI_Testall");
  CHECK(requests[0] == inactive);
}

void inactive(MPI_Request request) {
  const MPI_Request before = request;
  MPI_Status status;
  int flag = 0, index = 0, count = 0, indices[1];
  MPI_Wait(&request, &status);
  check_empty(status, "MPI_Wait");
  MPI_Test(&request, &flag, &status);
  CHECK(flag);
  check_empty(status, "MPI_Test");
  flag = 0;
  MPI_Request_get_status(request, &flag, &status);
  CHECK(flag);
  check_empty(status, "MPI_Request_get_status");
  MPI_Waitany(1, &request, &index, &status);
  CHECK(index == MPI_UNDEFINED, "%d", index);
  check_empty(status, "MPI_Waitany");
  flag = 0;
  MPI_Testany(1, &request, &index, &flag, &status);
  CHECK(flag && index == MPI_UNDEFINED, "%d %d", flag, index);
  MPI_Waitall(1, &request, &status);
  check_empty(status, "MPI_Waitall");
  flag = 0;
  MPI_Testall(1, &request, &flag, &status);
  CHECK(flag);
  MPI_Waitsome(1, &request, &count, indices, &status);
  CHECK(count == MPI_UNDEFINED, "%d", count);
  MPI_Testsome(1, &request, &count, indices, &status);
  CHECK(count == MPI_UNDEFINED, "%d", count);
  CHECK(request == before);
}

void inactive_ones(const Group& group) {
  if (!kInactiveIsRight && !require_taken) return;
  Persistent persistent({.what = What::allreduce, .counts = {10}, .form = Form::persistent}, group);
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    step("inactive after %d starts", static_cast<int>(seed) - 1);
    inactive(persistent.request);
    inactive_beside(persistent.request, group);
    persistent.cycle(seed);
  }
}

void type_freed(const Group& group) {
  if (!kTypesAreKept && !require_taken) return;
  step("a type freed");
  Persistent persistent({.what = What::bcast,
                         .counts = {300},
                         .form = Form::persistent,
                         .gets = {blocks("blocks of ", ints(), 100, 3, 5)},
                         .frees_types = true},
                        group);
  for (std::uint64_t seed = 1; seed < 4; ++seed) persistent.cycle(seed);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 5;
  if (!has_persistent()) return finish();
  MPI_Comm dup, reversed;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  std::vector<Group> groups;
  for (MPI_Comm comm : {MPI_COMM_WORLD, dup, reversed}) {
    CHECK(warm_up(comm), "path '%s'", path());
    groups.push_back(group_of(comm));
  }
  for (const Group& group : groups) cycles(group);
  inactive_ones(groups[0]);
  type_freed(groups[0]);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) active_together(groups, seed);
  for (std::size_t i = 1; i < groups.size(); ++i) MPI_Comm_free(&groups[i].comm);
  return finish();
}
