// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts of types made with large counts, for which MPI_Type_get_envelope returns an error.
// Skipped where the MPI has no such types.
#include <vector>

#include "data.h"
#include "exercise.h"

namespace {

using namespace test;

using Contiguous = int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*);
using Vector = int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);

template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Broadcasts two elements of a type of `blocks` blocks of two ints, `stride` ints apart.
void broadcast(MPI_Datatype type, int blocks, int stride, bool nonblocking) {
  const int span = blocks * stride, root = blocks % ranks;
  std::vector<int> data(static_cast<std::size_t>(2 * span), -1);
  const auto is_data = [&](int i) { return i % span % stride < 2; };
  for (int i = 0; i < 2 * span && rank == root; ++i) {
    if (is_data(i)) data[static_cast<std::size_t>(i)] = i + blocks;
  }
  if (nonblocking) {
    MPI_Request request;
    MPI_Ibcast(data.data(), 2, type, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Bcast(data.data(), 2, type, root, MPI_COMM_WORLD);
  }
  CHECK_TAKEN();
  for (int i = 0; i < 2 * span; ++i) {
    const int value = data[static_cast<std::size_t>(i)];
    CHECK(value == (is_data(i) ? i + blocks : -1), "%d of %d: %d", i, 2 * span, value);
  }
}

void sweep(Contiguous contiguous, Vector vector) {
  for (const int blocks : {1, 3, 200, 5000}) {
    for (const int stride : {2, 3}) {
      step("%d blocks, stride %d", blocks, stride);
      MPI_Datatype pair, row, twice, type;
      contiguous(2, MPI_INT, &pair);
      vector(blocks, 2, stride, MPI_INT, &row);
      MPI_Type_create_resized(row, 0, blocks * stride * static_cast<int>(sizeof(int)), &type);
      contiguous(blocks, pair, &twice);
      MPI_Type_commit(&type);
      MPI_Type_commit(&twice);
      for (const bool nonblocking : {false, true}) {
        broadcast(type, blocks, stride, nonblocking);
        broadcast(twice, blocks, 2, nonblocking);
      }
      for (MPI_Datatype* made : {&pair, &row, &twice, &type}) MPI_Type_free(made);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const auto contiguous = find<Contiguous>("MPI_Type_contiguous_c");
  const auto vector = find<Vector>("MPI_Type_vector_c");
  warm_up(MPI_COMM_WORLD);
  if (contiguous && vector) {
    sweep(contiguous, vector);
  } else {
    skip("this MPI has no types with large counts");
  }
  return finish();
}
