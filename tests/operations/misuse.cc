// SPDX-License-Identifier: BSD-3-Clause
// Arguments that sumac_op_create and the hints must refuse with an error, without ending the job;
// and derived types of one element type, which operations must accept.
// misuse undefined|struct [--linked]   reduces with an operation on a type that it cannot reduce,
//                                      which must not return
// misuse create [--linked]             prints whether an operation can be created at all
#include <string>
#include <vector>

#include "mpi/check.h"
#include "sumac/sumac.h"

namespace {

using namespace test;

void nothing(void*, void*, int*, MPI_Datatype*) {}

void refused_kinds() {
  MPI_Op op = MPI_SUM;
  for (int kind : {-1, 0, SUMAC_MAXLOC + 1, 1 << 30}) {
    CHECK(sumac_op_create(kind, 0, &op) == MPI_ERR_ARG, "%d", kind);
  }
  for (int flags : {-1, 2, 3, 1 << 30}) {
    CHECK(sumac_op_create(SUMAC_SUM, flags, &op) == MPI_ERR_ARG, "%d", flags);
  }
  CHECK(sumac_op_create(SUMAC_SUM, 0, nullptr) == MPI_ERR_ARG, "null");
  CHECK(op == MPI_SUM, "changed on an error");
}

void refused_operations() {
  CHECK(sumac_hint_op(MPI_SUM, SUMAC_SUM) == MPI_ERR_OP, "predefined");
  CHECK(sumac_hint_op(MPI_REPLACE, SUMAC_SUM) == MPI_ERR_OP, "predefined");
  CHECK(sumac_hint_op(MPI_OP_NULL, SUMAC_SUM) == MPI_ERR_OP, "null");
  MPI_Op op;
  MPI_Op_create(nothing, 1, &op);
  for (int kind : {-1, 0, SUMAC_MAXLOC + 1}) {
    CHECK(sumac_hint_op(op, kind) == MPI_ERR_ARG, "%d", kind);
  }
  CHECK(sumac_hint_op(op, SUMAC_MIN) == MPI_SUCCESS, "good");
  CHECK(sumac_hint_op(op, SUMAC_MIN) == MPI_SUCCESS, "again");
  if (!only_linked) CHECK(sumac_hint_op(op, SUMAC_MAX) == MPI_ERR_OP, "known as another kind");
  MPI_Op_free(&op);
}

void refused_type(MPI_Datatype type, const char* what) {
  CHECK(sumac_hint_type(type, SUMAC_FLOAT16) == MPI_ERR_TYPE, "%s", what);
}

void refused_types() {
  MPI_Datatype two, four, apart, padded;
  refused_type(MPI_DATATYPE_NULL, "null");
  refused_type(MPI_SHORT, "predefined");
  refused_type(MPI_BYTE, "predefined");
  MPI_Type_contiguous(2, MPI_BYTE, &two);
  for (int element : {-1, 0, SUMAC_BFLOAT16 + 1}) {
    CHECK(sumac_hint_type(two, element) == MPI_ERR_ARG, "%d", element);
  }
  CHECK(sumac_hint_type(two, SUMAC_BFLOAT16) == MPI_SUCCESS, "not committed yet");
  MPI_Type_contiguous(2, two, &four);
  refused_type(four, "four bytes");
  MPI_Type_vector(2, 1, 2, MPI_BYTE, &apart);
  refused_type(apart, "a byte between");
  MPI_Type_create_resized(two, 0, 4, &padded);
  refused_type(padded, "bytes behind");
  MPI_Datatype all[] = {two, four, apart, padded};
  for (MPI_Datatype& type : all) MPI_Type_free(&type);
}

// A type of six integers, made by duplicating types and nesting contiguous ones.
void derived() {
  MPI_Datatype three, copy, six;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_dup(three, &copy);
  MPI_Type_contiguous(2, copy, &six);
  MPI_Type_commit(&six);
  MPI_Type_commit(&three);
  MPI_Op op = MPI_OP_NULL;
  CHECK(sumac_op_create(SUMAC_SUM, SUMAC_OP_THREADED, &op) == MPI_SUCCESS, "good");
  std::vector<int> in(601, rank + 1), out(in.size(), -1);
  MPI_Allreduce(in.data(), out.data(), 100, six, op, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < 600; ++i) CHECK(out[i] == ranks * (ranks + 1) / 2, "%d", out[i]);
  CHECK(out[600] == -1, "%d", out[600]);
  MPI_Allreduce(in.data(), out.data(), 200, three, op, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < 600; ++i) CHECK(out[i] == ranks * (ranks + 1) / 2, "%d", out[i]);
  MPI_Op_free(&op);
  MPI_Datatype all[] = {three, copy, six};
  for (MPI_Datatype& type : all) MPI_Type_free(&type);
}

void reduce_wrongly(int kind, MPI_Datatype type) {
  MPI_Op op;
  char in[64] = {}, out[64] = {};
  sumac_op_create(kind, 0, &op);
  MPI_Allreduce(in, out, 1, type, op, MPI_COMM_WORLD);
  MPI_Reduce_local(in, out, 1, type, op);
}

int create() {
  MPI_Op op = MPI_OP_NULL;
  const int error = sumac_op_create(SUMAC_SUM, 0, &op);
  std::printf("%s, %s\n", error == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another error",
              op == MPI_OP_NULL ? "no operation" : "an operation");
  if (op != MPI_OP_NULL) MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}

int be_refused(bool is_struct) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  const MPI_Datatype parts[] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype mixed;
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  MPI_Type_commit(&mixed);
  MPI_Type_set_name(mixed, "a mixture");
  reduce_wrongly(is_struct ? SUMAC_SUM : SUMAC_BAND, is_struct ? mixed : MPI_FLOAT);
  std::puts("came back");
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "undefined" || what == "struct" || what == "create") {
    start_unaided(argc, argv);
    return what == "create" ? create() : be_refused(what == "struct");
  }
  MPI_Op op = MPI_OP_NULL;
  const int before = sumac_op_create(SUMAC_SUM, 0, &op);
  CHECK(before == MPI_ERR_OTHER && op == MPI_OP_NULL, "%d", before);
  CHECK(sumac_hint_op(MPI_SUM, SUMAC_SUM) == MPI_ERR_OTHER, "before MPI_Init");
  CHECK(sumac_hint_type(MPI_BYTE, SUMAC_FLOAT16) == MPI_ERR_OTHER, "before MPI_Init");
  start(argc, argv);
  refused_kinds();
  refused_operations();
  refused_types();
  derived();
  const int status = finish();
  return sumac_op_create(SUMAC_SUM, 0, &op) == MPI_ERR_OTHER ? status : 1;
}
