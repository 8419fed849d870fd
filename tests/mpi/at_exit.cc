// SPDX-License-Identifier: BSD-3-Clause
// MPI calls while the process ends, MPI_Finalize last: by a handler of atexit() and by a global
// object's destructor, both registered before MPI_Init, and by the destructor of a library. What
// was registered first is called last, so the static objects of whatever MPI_Init has loaded might
// have been destroyed by then.
// at_exit (handler|object|library)
#include "exercise.h"
#include "persistent.h"

// The library calls `end` when it is unloaded, unless MPI has been finalised by then.
extern "C" void at_exit_library_calls(void (*end)());

namespace {

using namespace test;

enum class Way { handler, object, library };

constexpr int kLarge = 400'000;

// What is alive when the process ends.
MPI_Comm comm = MPI_COMM_NULL;
MPI_Datatype every_other = MPI_DATATYPE_NULL;
MPI_Request persistent = MPI_REQUEST_NULL, started = MPI_REQUEST_NULL, message = MPI_REQUEST_NULL;
double *input = nullptr, *output = nullptr, *received = nullptr;
double small_input = 0, small_output = 0, started_output = 0;

double sum_of_ranks() { return ranks * (ranks - 1) / 2.0; }

void large_sum() {
  for (int i = 0; i < kLarge; ++i) input[i] = rank + i;
  MPI_Allreduce(input, output, kLarge, MPI_DOUBLE, MPI_SUM, comm);
  const double last = sum_of_ranks() + static_cast<double>(ranks) * (kLarge - 1);
  CHECK(output[kLarge - 1] == last, "%g, not %g", output[kLarge - 1], last);
}

void run_persistent() {
  small_input = rank;
  MPI_Start(&persistent);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  CHECK(small_output == sum_of_ranks(), "%g", small_output);
}

void make_all() {
  warm_up(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  for (int i = 0; i < 10; ++i) use(comm, i);
  input = static_cast<double*>(std::malloc(kLarge * sizeof(double)));
  output = static_cast<double*>(std::malloc(kLarge * sizeof(double)));
  received = static_cast<double*>(std::calloc(2 * 100, sizeof(double)));
  for (int i = 0; i < 20; ++i) large_sum();
  MPI_Type_vector(100, 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < 10; ++i) MPI_Bcast(input, 1, every_other, i % ranks, comm);
  inits().Allreduce(&small_input, &small_output, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL,
                    &persistent);
  for (int i = 0; i < 10; ++i) run_persistent();
  for (int i = 0; i < 10; ++i) {
    MPI_Iallreduce(&small_input, &started_output, 1, MPI_DOUBLE, MPI_SUM, comm, &started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
  }
  // These two stay under way.
  MPI_Iallreduce(&small_input, &started_output, 1, MPI_DOUBLE, MPI_SUM, comm, &started);
  MPI_Irecv(received, 1, every_other, (rank + ranks - 1) % ranks, 5, comm, &message);
}

// While the process ends.
void end_all() {
  step("calls while the process ends");
  MPI_Wait(&started, MPI_STATUS_IGNORE);
  CHECK(started_output == sum_of_ranks(), "%g", started_output);
  for (int i = 0; i < kLarge; ++i) input[i] = i;
  MPI_Send(input, 1, every_other, (rank + 1) % ranks, 5, comm);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  for (int i = 0; i < 100; ++i) CHECK(received[2 * i] == 2 * i, "%d: %g", i, received[2 * i]);
  for (int i = 0; i < 10; ++i) use(comm, i);
  large_sum();
  run_persistent();
  MPI_Request_free(&persistent);
  MPI_Comm another;
  MPI_Comm_dup(comm, &another);
  for (int i = 0; i < 5; ++i) use(another, i);
  MPI_Comm_free(&another);
  MPI_Type_free(&every_other);
  MPI_Comm_free(&comm);
  if (finish() != 0) _exit(1);
}

Way way_of(const char* word) {
  if (std::strcmp(word, "object") == 0) return Way::object;
  return std::strcmp(word, "library") == 0 ? Way::library : Way::handler;
}

Way way = Way::handler;

struct Object {
  ~Object() {
    if (way == Way::object) end_all();
  }
} object;

}  // namespace

int main(int argc, char** argv) {
  way = way_of(argc > 1 ? argv[1] : "handler");
  if (way == Way::handler) std::atexit(end_all);
  if (way == Way::library) at_exit_library_calls(end_all);
  start(argc, argv);
  make_all();
  return 0;
}
