// SPDX-License-Identifier: BSD-3-Clause
// Counts and byte sizes beyond 2^31, through MPI_X_c. MPIs before version 4 lack these functions;
// Sumac exports them.
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <cstdint>

#include "persistent.h"

namespace {

using namespace test;

using AllreduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
using ReduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
using BcastLarge = int (*)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);

constexpr MPI_Count kCount = (1ll << 31) + 17;

signed char element(int r, MPI_Count i) {
  return static_cast<signed char>(i % 101 + 7 * r + (i >> 30));
}

class Bytes {
 public:
  Bytes()
      : data_(static_cast<signed char*>(
            mmap(nullptr, kCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (data_ == MAP_FAILED) std::abort();
  }
  ~Bytes() { munmap(data_, kCount); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  signed char* data() { return data_; }
  void fill() {
    for (MPI_Count i = 0; i < kCount; ++i) data_[i] = element(rank, i);
  }

 private:
  signed char* data_;
};

template <class Expected>
void verify(const char* what, const signed char* data, Expected expected) {
  MPI_Count wrong = 0, first = -1;
  for (MPI_Count i = 0; i < kCount; ++i) {
    if (data[i] == expected(i)) continue;
    if (wrong++ == 0) first = i;
  }
  CHECK(wrong == 0, "%s: %lld wrong, first %lld, '%s'", what, static_cast<long long>(wrong),
        static_cast<long long>(first), path());
}

signed char sum_of_all(MPI_Count i) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += element(r, i);
  return static_cast<signed char>(sum);
}

// On one rank the whole message is one element, whose size exceeds an int; on the others it
// consists of single bytes.
void broadcast_one_element(Bytes& bytes) {
  step("broadcast of one element");
  if (rank == 0) bytes.fill();
  MPI_Datatype row, whole;
  const int lengths[] = {2, static_cast<int>(kCount - (1ll << 31))};
  const MPI_Aint places[] = {0, 1ll << 31};
  MPI_Type_contiguous(1 << 30, MPI_SIGNED_CHAR, &row);
  const MPI_Datatype parts[] = {row, MPI_SIGNED_CHAR};
  MPI_Type_create_struct(2, lengths, places, parts, &whole);
  MPI_Type_commit(&whole);
  if (rank == 0) {
    MPI_Bcast(bytes.data(), 1, whole, 0, MPI_COMM_WORLD);
  } else {
    in_sumac<BcastLarge>("MPI_Bcast_c")(bytes.data(), kCount, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
  }
  verify("broadcast of one element", bytes.data(), [](MPI_Count i) { return element(0, i); });
  MPI_Type_free(&whole);
  MPI_Type_free(&row);
}

// Must be served like the blocking broadcast: at initialisation the ranks agree that all of them
// can pack the type.
void broadcast_persistent(Bytes& bytes) {
  step("persistent broadcast");
  if (!has_persistent()) return;
  if (rank == 0) bytes.fill();
  MPI_Request request;
  forget_path();
  inits().Bcast_c(bytes.data(), kCount, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                  &request);
  expect_taken_nonblocking("persistent broadcast");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  verify("persistent broadcast", bytes.data(), [](MPI_Count i) { return element(0, i); });
}

bool memory_suffices() {
  struct sysinfo info;
  sysinfo(&info);
  const double wanted = 2.3 * static_cast<double>(kCount) * ranks;
  const double available = static_cast<double>(info.freeram + info.bufferram) * info.mem_unit;
  return on_all(available > wanted);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  if (!memory_suffices()) return end_skipped("less than 5 GB of memory a rank");
  const auto allreduce = in_sumac<AllreduceLarge>("MPI_Allreduce_c");
  const auto reduce = in_sumac<ReduceLarge>("MPI_Reduce_c");
  const auto bcast = in_sumac<BcastLarge>("MPI_Bcast_c");
  if (!CHECK(allreduce && reduce && bcast)) return 1;
  Bytes in, out;
  in.fill();
  step("all-reduce");
  allreduce(in.data(), out.data(), kCount, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  CHECK_TAKEN();
  verify("all-reduce", out.data(), sum_of_all);
  step("reduce in place");
  const int root = ranks - 1;
  reduce(rank == root ? MPI_IN_PLACE : in.data(), rank == root ? in.data() : nullptr, kCount,
         MPI_SIGNED_CHAR, MPI_SUM, root, MPI_COMM_WORLD);
  CHECK_TAKEN();
  if (rank == root) verify("reduce", in.data(), sum_of_all);
  step("broadcast");
  if (rank == root) out.fill();
  bcast(out.data(), kCount, MPI_SIGNED_CHAR, root, MPI_COMM_WORLD);
  CHECK_TAKEN();
  verify("broadcast", out.data(), [root](MPI_Count i) { return element(root, i); });
  broadcast_one_element(out);
  broadcast_persistent(in);
  return finish();
}
