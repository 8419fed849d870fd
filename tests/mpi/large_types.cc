// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts of types made with large counts, for which MPI_Type_get_envelope returns an error.
// Skipped where the MPI has no such types.
#include "cases.h"

namespace {

using namespace test;

using Contiguous = int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*);
using Vector = int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);

// A type of `blocks` blocks of two ints, `stride` ints apart.
LayoutPointer pairs(const char* name, MPI_Datatype type, int blocks, int stride) {
  std::vector<MPI_Aint> offsets;
  for (int k = 0; k < 2 * blocks; ++k) offsets.push_back(4 * (k / 2 * stride + k % 2));
  return std::make_shared<Layout>(name, type, offsets, 4 * blocks * stride, true);
}

void sweep(Contiguous contiguous, Vector vector) {
  for (const int blocks : {1, 3, 200, 5000}) {
    for (const int stride : {2, 3}) {
      MPI_Datatype pair, row, twice, type;
      contiguous(2, MPI_INT, &pair);
      vector(blocks, 2, stride, MPI_INT, &row);
      MPI_Type_create_resized(row, 0, blocks * stride * static_cast<int>(sizeof(int)), &type);
      contiguous(blocks, pair, &twice);
      for (MPI_Datatype* made : {&pair, &row}) MPI_Type_free(made);
      for (const LayoutPointer& layout :
           {pairs("vectors ", type, blocks, stride), pairs("pairs ", twice, blocks, 2)}) {
        for (const Form form : {Form::blocking, Form::nonblocking}) {
          run({.what = What::bcast,
               .counts = {4 * static_cast<std::size_t>(blocks)},
               .root = blocks % ranks,
               .form = form,
               .gets = {layout}},
              world(), Served::by_sumac);
          CHECK_TAKEN();
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const auto contiguous = in_sumac<Contiguous>("MPI_Type_contiguous_c");
  const auto vector = in_sumac<Vector>("MPI_Type_vector_c");
  warm_up(MPI_COMM_WORLD);
  if (contiguous && vector) {
    sweep(contiguous, vector);
  } else {
    skip("this MPI has no types with large counts");
  }
  return finish();
}
