// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of nonblocking and persistent collectives, on all ranks or on one, must give the
// MPI's own error class, after which the program can go on.
#include <functional>
#include <vector>

#include "exercise.h"
#include "mpi_faults.h"
#include "persistent.h"

namespace {

using namespace test;

struct Functions {
  decltype(&MPI_Iallreduce) Iallreduce;
  decltype(&MPI_Ireduce) Ireduce;
  decltype(&MPI_Ibcast) Ibcast;
  decltype(&MPI_Ibarrier) Ibarrier;
  Inits init;
};

template <class Find>
Functions functions_of(Find find) {
  Functions f{};
  f.Iallreduce = reinterpret_cast<decltype(f.Iallreduce)>(find("MPI_Iallreduce"));
  f.Ireduce = reinterpret_cast<decltype(f.Ireduce)>(find("MPI_Ireduce"));
  f.Ibcast = reinterpret_cast<decltype(f.Ibcast)>(find("MPI_Ibcast"));
  f.Ibarrier = reinterpret_cast<decltype(f.Ibarrier)>(find("MPI_Ibarrier"));
  f.init.Allreduce = reinterpret_cast<decltype(Inits::Allreduce)>(find("MPI_Allreduce_init"));
  f.init.Reduce = reinterpret_cast<decltype(Inits::Reduce)>(find("MPI_Reduce_init"));
  f.init.Bcast = reinterpret_cast<decltype(Inits::Bcast)>(find("MPI_Bcast_init"));
  f.init.Barrier = reinterpret_cast<decltype(Inits::Barrier)>(find("MPI_Barrier_init"));
  return f;
}

// Functions as the program calls them, through Sumac where it is loaded, and the MPI's own.
const Functions& ours() {
  static const Functions f =
      functions_of([](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  return f;
}
const Functions& mpis() {
  static const Functions f = functions_of(in_sumac<void* (*)(const char*)>("sumac_native"));
  return f;
}

struct WrongCall {
  const char* name;
  std::function<int(const Functions&, MPI_Comm, MPI_Request*)> call;
};

int in[8], out[8];

#define WRONG(what, call)                                                                        \
  {                                                                                              \
    what, [](const Functions& f, [[maybe_unused]] MPI_Comm c, MPI_Request* r) { return f.call; } \
  }

std::vector<WrongCall> wrong_calls() {
  return {
      WRONG("iallreduce, null type", Iallreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, c, r)),
      WRONG("iallreduce, null operation", Iallreduce(in, out, 1, MPI_INT, MPI_OP_NULL, c, r)),
      WRONG("iallreduce, xor of doubles", Iallreduce(in, out, 1, MPI_DOUBLE, MPI_BXOR, c, r)),
      WRONG("ireduce, root -9", Ireduce(in, out, 1, MPI_INT, MPI_SUM, -9, c, r)),
      WRONG("ireduce, root beyond", Ireduce(in, out, 1, MPI_INT, MPI_SUM, 1000, c, r)),
      WRONG("ireduce, null operation", Ireduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, c, r)),
      WRONG("ibcast, count -1", Ibcast(in, -1, MPI_INT, 0, c, r)),
      WRONG("ibcast, null type", Ibcast(in, 1, MPI_DATATYPE_NULL, 0, c, r)),
      WRONG("ibcast, root beyond", Ibcast(in, 1, MPI_INT, 1000, c, r)),
      WRONG("allreduce_init, null operation",
            init.Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, c, MPI_INFO_NULL, r)),
      WRONG("reduce_init, root beyond",
            init.Reduce(in, out, 1, MPI_INT, MPI_SUM, 1000, c, MPI_INFO_NULL, r)),
      WRONG("bcast_init, count -1", init.Bcast(in, -1, MPI_INT, 0, c, MPI_INFO_NULL, r)),
      WRONG("bcast_init, root -1", init.Bcast(in, 1, MPI_INT, -1, c, MPI_INFO_NULL, r)),
#ifdef OPEN_MPI  // MPICH 4.0 does not check the counts of reductions
      WRONG("iallreduce, count -1", Iallreduce(in, out, -1, MPI_INT, MPI_SUM, c, r)),
      WRONG("ireduce, count -7", Ireduce(in, out, -7, MPI_INT, MPI_SUM, 0, c, r)),
      WRONG("allreduce_init, count -1",
            init.Allreduce(in, out, -1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, r)),
#endif
  };
}

std::vector<WrongCall> null_communicators() {
  return {
      WRONG("iallreduce", Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, r)),
      WRONG("ireduce", Ireduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL, r)),
      WRONG("ibcast", Ibcast(in, 1, MPI_INT, 0, MPI_COMM_NULL, r)),
      WRONG("ibarrier", Ibarrier(MPI_COMM_NULL, r)),
      WRONG("allreduce_init",
            init.Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, MPI_INFO_NULL, r)),
      WRONG("barrier_init", init.Barrier(MPI_COMM_NULL, MPI_INFO_NULL, r)),
  };
}

int class_of(const WrongCall& wrong, const Functions& functions, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error_class = MPI_SUCCESS;
  const int error = wrong.call(functions, comm, &request);
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  CHECK(error != MPI_SUCCESS && request == MPI_REQUEST_NULL, "%s", wrong.name);
  return error_class;
}

void make_wrong_call(const WrongCall& wrong, MPI_Comm comm) {
  const int expected = class_of(wrong, mpis(), comm), found = class_of(wrong, ours(), comm);
  CHECK(found == expected, "%s: class %d, the MPI's %d", wrong.name, found, expected);
}

#ifdef OPEN_MPI
// Counts beyond this MPI's int, in calls that Sumac does not serve: both forms must return the same
// error and call the communicator's error handler.
int errors_told = 0;
void count_error(MPI_Comm*, int*, ...) { ++errors_told; }

void refuse_large_counts(MPI_Comm comm) {
  step("counts beyond an int");
  const MPI_Count count = (MPI_Count{1} << 31) + 1;
  const auto iallreduce = in_sumac<int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op,
                                           MPI_Comm, MPI_Request*)>("MPI_Iallreduce_c");
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Request r = MPI_REQUEST_NULL;
  const int errors[] = {
      iallreduce(in, out, count, MPI_INT, MPI_OP_NULL, comm, &r),
      inits().Allreduce_c(in, out, count, MPI_INT, MPI_OP_NULL, comm, MPI_INFO_NULL, &r)};
  for (int error : errors) CHECK(error == MPI_ERR_COUNT, "error %d", error);
  CHECK(errors_told == 2, "%d", errors_told);
  MPI_Comm_set_errhandler(comm, errors_return());
  MPI_Errhandler_free(&handler);
}
#else
// Without a place for the request the MPI returns an error, and Sumac counts the call as handed
// down.
void refuse_null_request(MPI_Comm comm) {
  step("no place for a request");
  const auto refused = [](int error) {
    CHECK(error != MPI_SUCCESS);
    CHECK_HANDED_DOWN("arguments the MPI should judge");
  };
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_TAKEN();
  refused(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, nullptr));
  MPI_Barrier(comm);
  CHECK_TAKEN();
  refused(MPI_Ibarrier(comm, nullptr));
  MPI_Barrier(comm);
  refused(ours().init.Bcast(in, 1, MPI_INT, 0, comm, MPI_INFO_NULL, nullptr));
}
#endif

// Correct nonblocking and persistent operations still work, at the same time.
void use_nonblocking(MPI_Comm comm) {
  int mine = rank + 1, sums[2] = {-1, -1};
  MPI_Request requests[2];
  forget_path();
  MPI_Iallreduce(&mine, &sums[0], 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  expect_taken_nonblocking(step_text);
  ours().init.Allreduce(&mine, &sums[1], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[1]);
  for (int sum : sums) CHECK(sum == ranks * (ranks + 1) / 2, "%d; %s", sum, step_text);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, errors_return());
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  for (bool on_one_rank : {false, true}) {
    for (const WrongCall& wrong : wrong_calls()) {
      step("%s on %s", wrong.name, on_one_rank ? "one rank" : "all ranks");
      if (!on_one_rank || rank == ranks - 1) make_wrong_call(wrong, comm);
      use(comm, 1);
      use_nonblocking(comm);
    }
  }
  for (const WrongCall& wrong : null_communicators()) {
    step("%s on the null communicator", wrong.name);
    make_wrong_call(wrong, MPI_COMM_NULL);
  }
#ifdef OPEN_MPI
  refuse_large_counts(comm);
#else
  refuse_null_request(comm);
#endif
  use(comm, 2);
  CHECK_TAKEN();
  MPI_Comm_free(&comm);
  return finish();
}
