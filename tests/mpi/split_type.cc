// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type: by shared memory, by the hardware (MPI-4, Open MPI's own types) where the
// MPI has that, and MPI_UNDEFINED.
#include <string>
#include <vector>

#include "exercise.h"
#include "mpi_faults.h"

namespace {

using namespace test;

// The parts that the ranks are in together cover all, each once.
void expect_partition(MPI_Comm part) {
  int size = 0, first = -1;
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &size);
    int own = 0;
    MPI_Comm_rank(part, &own);
    first = own == 0;
  }
  int heads = first == 1, out[2] = {}, in[2] = {heads, heads ? size : 0};
  MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int members = part != MPI_COMM_NULL, all = 0;
  MPI_Allreduce(&members, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(out[1] == all, "%d of %d in %d parts", out[1], all, out[0]);
}

void split(const char* what, int type, MPI_Info info) {
  step("%s", what);
  MPI_Comm part = MPI_COMM_NULL;
  const int error = MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &part);
  if (!on_all(error == MPI_SUCCESS)) return;  // the MPI lacks this
  expect_partition(part);
  if (part == MPI_COMM_NULL) return;
  for (int i = 0; i < 5; ++i) use(part, i);
  CHECK(was_taken(), "%s: path '%s'", what, path());
  MPI_Comm half;
  const int kind = rank % 2 ? int{MPI_UNDEFINED} : int{MPI_COMM_TYPE_SHARED};
  MPI_Comm_split_type(part, kind, rank, info, &half);
  CHECK((half == MPI_COMM_NULL) == (rank % 2 == 1));
  if (half != MPI_COMM_NULL) {
    for (int i = 0; i < 5; ++i) use(half, i);
    CHECK(was_taken(), "%s: path '%s'", what, path());
    MPI_Comm_free(&half);
  }
  use(part, 6);
  MPI_Comm_free(&part);
}

void split_by_hardware() {
#ifdef MPI_COMM_TYPE_HW_GUIDED
  const int guided = MPI_COMM_TYPE_HW_GUIDED, unguided = MPI_COMM_TYPE_HW_UNGUIDED;
#elif defined(OPEN_MPI)
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (std::strstr(version, "Open MPI v4")) return;
  const int unguided = 12, guided = 13;  // as in the header of Open MPI 5
#else
  return;
#endif
#if defined(MPI_COMM_TYPE_HW_GUIDED) || defined(OPEN_MPI)
  split("unguided", unguided, MPI_INFO_NULL);
  for (const char* resource : {"mpi_shared_memory", "machine", "numanode", "core", "hwthread"}) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", resource);
    split(("guided by " + std::string(resource)).c_str(), guided, info);
    MPI_Info_free(&info);
  }
#endif
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  split("shared", MPI_COMM_TYPE_SHARED, MPI_INFO_NULL);
#ifdef OPEN_MPI
  for (const int type : {OMPI_COMM_TYPE_HOST, OMPI_COMM_TYPE_NUMA, OMPI_COMM_TYPE_CORE}) {
    split("by Open MPI's types", type, MPI_INFO_NULL);
  }
#endif
  split_by_hardware();
  return finish();
}
