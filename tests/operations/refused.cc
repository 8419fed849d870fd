// SPDX-License-Identifier: BSD-3-Clause
// refused undefined|struct|create [--linked]: reduces with an operation on a type that it cannot
// reduce, which must not return; or prints whether an operation can be created at all.
#include "mpi/check.h"
#include "sumac/sumac.h"

namespace {

using namespace test;

void reduce(int kind, MPI_Datatype type) {
  MPI_Op op;
  char in[64] = {}, out[64] = {};
  sumac_op_create(kind, 0, &op);
  MPI_Allreduce(in, out, 1, type, op, MPI_COMM_WORLD);
  MPI_Reduce_local(in, out, 1, type, op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "create") == 0) {
    MPI_Op op = MPI_OP_NULL;
    const int error = sumac_op_create(SUMAC_SUM, 0, &op);
    std::printf("%s, %s\n", error == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another error",
                op == MPI_OP_NULL ? "no operation" : "an operation");
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
  }
  if (std::strcmp(what, "struct") == 0) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 4};
    const MPI_Datatype parts[] = {MPI_INT, MPI_FLOAT};
    MPI_Datatype mixed;
    MPI_Type_create_struct(2, lengths, places, parts, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_set_name(mixed, "a mixture");
    reduce(SUMAC_SUM, mixed);
  } else {
    reduce(SUMAC_BAND, MPI_FLOAT);
  }
  std::puts("came back");
  MPI_Finalize();
  return 0;
}
