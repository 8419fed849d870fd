// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: started again and again with new data; inactive ones, those of a type
// that was freed, very many at the same time, and those whose communicator is freed before them,
// again and again: tags, contexts and memory must not run out. Several that are active together are
// in persistent_order.cc and in the random programs.
// persistent [OPERATIONS CYCLES]
#include "persistent.h"

#include "completion.h"
#include "exercise.h"

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

void many_at_a_time(std::size_t count) {
  step("%zu at a time", count);
  std::vector<int> in(count), out(count, -1);
  std::vector<MPI_Request> requests(count);
  for (std::size_t i = 0; i < count; ++i) {
    in[i] = static_cast<int>(i) + rank;
    inits().Allreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[i]);
  }
  const std::size_t stride = count / 50 + 1;
  for (std::size_t i = 0; i < count; i += stride) MPI_Start(&requests[i]);
  for (std::size_t i = 0; i < count; i += stride) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < count; i += stride) {
    const int sum = ranks * static_cast<int>(i) + ranks * (ranks - 1) / 2;
    CHECK(out[i] == sum, "%d", out[i]);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void freed_before_requests(int cycles) {
  for (int i = 0; i < cycles; ++i) {
    step("communicator freed first, cycle %d", i);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int in = rank, out = -1;
    MPI_Request request;
    forget_path();
    inits().Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    expect_taken_nonblocking("init");
    for (int start = 0; start <= i % 3; ++start) {
      out = -1;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(out == ranks * (ranks - 1) / 2, "%d in cycle %d", out, i);
    }
    MPI_Comm_free(&comm);
    if (i % 3 == rank % 3) use(MPI_COMM_SELF, i);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  use(MPI_COMM_WORLD, 3);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const auto operations = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 100);
  const int cycles_of_communicators = argc > 2 ? std::atoi(argv[2]) : 20;
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
  freed_before_requests(cycles_of_communicators);
  many_at_a_time(operations);
  // There must be memory left for other communicators.
  MPI_Comm_free(&dup);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  CHECK(warm_up(dup), "path '%s'", path());
  use(dup, 5);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&reversed);
  return finish();
}
