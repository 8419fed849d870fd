// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO: the MPI implements its collectives with its own all-reduces, broadcasts and barriers, so
// Sumac is called from inside the MPI.
// io DIRECTORY
#include <string>
#include <vector>

#include "exercise.h"

namespace {

using namespace test;

constexpr int kBlock = 5000;

void write_and_read(const std::string& name) {
  MPI_File file;
  std::vector<int> block(kBlock, rank), got(kBlock, -1);
  const MPI_Offset own = static_cast<MPI_Offset>(rank) * kBlock * 4;
  step("MPI_File_open");
  int error = MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &file);
  if (!CHECK(error == MPI_SUCCESS, "%s", name.c_str())) return;
  step("MPI_File_write_at_all");
  MPI_File_write_at_all(file, own, block.data(), kBlock, MPI_INT, MPI_STATUS_IGNORE);
  use(MPI_COMM_WORLD, 3);
  step("MPI_File_read_at_all");
  const int next = (rank + 1) % ranks;
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, static_cast<MPI_Offset>(next) * kBlock * 4, got.data(), kBlock,
                       MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got.front() == next && got.back() == next, "%d %d", got.front(), got.back());
  step("a strided view");
  MPI_Datatype column;
  MPI_Type_vector(kBlock, 1, ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  const auto rewind = [&] {  // MPI_SEEK_SET is another place in Intel MPI 2021.18's libmpi_abi.so
    MPI_File_set_view(file, static_cast<MPI_Offset>(rank) * 4, MPI_INT, column, "native",
                      MPI_INFO_NULL);
  };
  rewind();
  for (int i = 0; i < kBlock; ++i) block[static_cast<std::size_t>(i)] = rank * kBlock + i;
  MPI_File_write_all(file, block.data(), kBlock, MPI_INT, MPI_STATUS_IGNORE);
  rewind();
  MPI_File_read_all(file, got.data(), kBlock, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got == block, "%d", got[0]);
  MPI_Type_free(&column);
  MPI_Offset size = 0;
  MPI_File_get_size(file, &size);
  CHECK(size == static_cast<MPI_Offset>(ranks) * kBlock * 4, "%lld", static_cast<long long>(size));
  step("MPI_File_close");
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::string directory = argc > 1 ? argv[1] : ".";
  int process = getpid();
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = directory + "/sumac-io-test-" + std::to_string(process);
  for (int round = 0; round < 3; ++round) {
    write_and_read(name);
    use(MPI_COMM_WORLD, round);
    CHECK_TAKEN();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name.c_str());
  return finish();
}
