// SPDX-License-Identifier: BSD-3-Clause
// The info key sumac_hierarchy sets the hierarchy of one communicator. For 4 ranks or more on one
// node.
#include "exercise.h"

namespace {

using namespace test;

MPI_Info with(const char* hierarchy) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sumac_hierarchy", hierarchy);
  return info;
}

void set(MPI_Comm comm, const char* hierarchy) {
  MPI_Info info = with(hierarchy);
  CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
}

MPI_Comm copy_of(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  return copy;
}

// Makes the first calls and checks their results. Returns true if calls go over levels.
bool begins_over_levels(MPI_Comm comm) {
  for (int i = 0; i < 3; ++i) use(comm, i);
  CHECK_TAKEN();
  return goes_over_levels(comm) && std::strcmp(path(), "levels") == 0;
}

void test_set() {
  step("set");
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm = copy_of(MPI_COMM_WORLD), same, plain;
    set(comm, "ranks:2");
    CHECK(begins_over_levels(comm), "'%s'", path());
    same = copy_of(comm);
    CHECK(!begins_over_levels(same), "a copy has no key");
    MPI_Comm_free(&comm);
    plain = copy_of(MPI_COMM_WORLD);  // may get the handle that was just freed
    CHECK(!begins_over_levels(plain), "nor has the next one");
    MPI_Comm_free(&plain);
    MPI_Comm_free(&same);
  }
}

void test_last_value_counts() {
  step("set twice, the last time after the first collective");
  MPI_Comm comm = copy_of(MPI_COMM_WORLD);
  set(comm, "flat");
  MPI_Barrier(comm);
  set(comm, "ranks:2");
  CHECK(begins_over_levels(comm), "'%s'", path());
  MPI_Comm_free(&comm);
}

void test_duplicate() {
  step("MPI_Comm_dup_with_info");
  MPI_Comm comm;
  MPI_Info info = with("allreduce=ranks:2;flat");
  CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(begins_over_levels(comm), "'%s'", path());
  MPI_Barrier(comm);
  CHECK_TAKEN();
  CHECK(std::strcmp(path(), "levels") != 0, "the barrier's is flat");
  MPI_Comm_free(&comm);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  CHECK(!begins_over_levels(comm));
  MPI_Comm_free(&comm);
}

void test_disagreement() {
  step("ranks that disagree");
  MPI_Comm comm = copy_of(MPI_COMM_WORLD);
  set(comm, rank == 1 ? "flat" : "ranks:2");
  for (int i = 0; i < 3; ++i) use(comm, i);
  CHECK_HANDED_DOWN("ranks have different SUMAC_ options");
  MPI_Comm_free(&comm);
}

void test_bad_value() {
  for (const char* value : {"numaa", "node,numa"}) {
    step("bad value %s", value);
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    set(comm, "ranks:2");
    set(comm, value);
    CHECK(begins_over_levels(comm), "a bad value changes nothing");
    MPI_Comm_free(&comm);
  }
}

void test_too_late() {
  step("too late");
  MPI_Comm comm = copy_of(MPI_COMM_WORLD);
  set(comm, "ranks:2");
  CHECK(begins_over_levels(comm), "'%s'", path());
  set(comm, "ranks:2");
  set(comm, "flat");
  CHECK(begins_over_levels(comm), "'%s'", path());
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  test_set();
  test_last_value_counts();
  test_duplicate();
  test_disagreement();
  test_bad_value();
  test_too_late();
  set(MPI_COMM_SELF, "ranks:2");
  use(MPI_COMM_SELF, 1);
  return finish();
}
