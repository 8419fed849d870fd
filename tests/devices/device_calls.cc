// SPDX-License-Identifier: BSD-3-Clause
// Calls with buffers in a GPU's memory that the random programs do not make (tests/random), by the
// stand-ins for run-times; where there are several, buffers are in the memory of each in turn. With
// an argument, what ends the job: `changes` has a buffer of a persistent operation become a
// device's, `fails` has a copy fail on rank 0. `off` and `host` are for SUMAC_DEVICE with that
// value, and look how calls with host buffers are served.
#include "devices/device_memory.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/forms.h"

namespace {

using namespace test;

const StandIn& next_stand_in() {
  static std::atomic<std::size_t> next{0};
  return stand_ins()[next++ % stand_ins().count()];
}

// The sums over all stand-ins.
StandInCounts counts() {
  StandInCounts sum{};
  stand_ins().each([&sum](const StandIn& each) {
    const StandInCounts one = STAND_IN(each, stand_in_counts)();
    sum.queries += one.queries;
    sum.to_device += one.to_device;
    sum.mistakes += one.mistakes;
  });
  return sum;
}

// Numbers in a device's memory.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count, bool managed = false)
      : in_(next_stand_in()),
        memory_(STAND_IN(in_, stand_in_allocate)(count * sizeof(T), managed)) {
    CHECK(memory_ != nullptr);
  }
  ~OnDevice() { STAND_IN(in_, stand_in_free)(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* given() const { return static_cast<T*>(memory_); }
  T& operator[](std::size_t i) const {
    return static_cast<T*>(STAND_IN(in_, stand_in_view)(memory_))[i];
  }
  void become_host(bool host) const { STAND_IN(in_, stand_in_set_host)(memory_, host); }

 private:
  const StandIn& in_;
  void* memory_;
};

// The first calls on a communicator are the MPI's, which cannot touch the memory.
void call_at_once(MPI_Comm comm) {
  const OnDevice<double> in(1000), out(1000);
  for (int i = 0; i < 1000; ++i) in[i] = i + rank, out[i] = -1;
  MPI_Allreduce(in.given(), out.given(), 1000, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < 1000; ++i) CHECK(out[i] == ranks * i + ranks * (ranks - 1) / 2, "at %d", i);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, out.given(), 1000, MPI_DOUBLE, MPI_MAX, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out[999] == ranks * 999 + ranks * (ranks - 1) / 2);
}

void reduce_locally() {
  const OnDevice<int> a(300), b(300);
  std::vector<int> host(300, 7);
  for (int i = 0; i < 300; ++i) a[i] = i, b[i] = 1000;
  MPI_Reduce_local(a.given(), b.given(), 300, MPI_INT, MPI_SUM);
  for (int i = 0; i < 300; ++i) CHECK(b[i] == 1000 + i);
  MPI_Reduce_local(host.data(), b.given(), 300, MPI_INT, MPI_SUM);
  MPI_Reduce_local(b.given(), host.data(), 300, MPI_INT, MPI_MAX);
  for (int i = 0; i < 300; ++i) CHECK(b[i] == 1007 + i && host[i] == b[i]);
  CHECK_TAKEN();
}

// Every third of some numbers, which lie on the device or are packed there, or both.
void pack(bool from_device, bool to_device) {
  constexpr int kCount = 5000;
  MPI_Datatype third;
  MPI_Type_vector(kCount, 1, 3, MPI_INT, &third);
  MPI_Type_commit(&third);
  const OnDevice<int> in(3 * kCount), packed(kCount);
  std::vector<int> host_in(3 * kCount), host_packed(kCount);
  for (int i = 0; i < 3 * kCount; ++i) host_in[i] = in[i] = i;
  int position = 0;
  const int size = kCount * 4;
  void* const bytes = to_device ? packed.given() : host_packed.data();
  void* const numbers = from_device ? in.given() : host_in.data();
  MPI_Pack(numbers, 1, third, bytes, size, &position, MPI_COMM_WORLD);
  CHECK(position == size);
  for (int i = 0; i < kCount; ++i) CHECK((to_device ? packed[i] : host_packed[i]) == 3 * i);
  for (int i = 0; i < 3 * kCount; ++i) host_in[i] = in[i] = -i;
  position = 0;
  MPI_Unpack(bytes, size, &position, numbers, 1, third, MPI_COMM_WORLD);
  for (int i = 0; i < 3 * kCount; ++i) {
    const int expected = i % 3 == 0 ? i : -i;
    CHECK((from_device ? in[i] : host_in[i]) == expected, "number %d", i);
  }
  MPI_Type_free(&third);
}

// Numbers at absolute addresses, of which every second one is in host memory.
class Scattered {
 public:
  Scattered() {
    for (int r = 0; r < ranks; ++r) {
      numbers_.push_back(std::make_unique<OnDevice<int>>(1));
      if (r % 2 == 1) numbers_.back()->become_host(true);
      const auto at = reinterpret_cast<MPI_Aint>(numbers_.back()->given());
      const int one = 1;
      types_.push_back(MPI_DATATYPE_NULL);
      MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &types_.back());
      MPI_Type_commit(&types_.back());
    }
  }
  ~Scattered() {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }
  int& operator[](int r) const { return (*numbers_[static_cast<std::size_t>(r)])[0]; }
  const MPI_Datatype* types() const { return types_.data(); }

 private:
  std::vector<std::unique_ptr<OnDevice<int>>> numbers_;
  std::vector<MPI_Datatype> types_;
};

void exchange_scattered() {
  const Scattered out, in;
  const std::vector<int> places(static_cast<std::size_t>(ranks));
  const std::vector<int> counts(static_cast<std::size_t>(ranks), 1);
  for (int r = 0; r < ranks; ++r) out[r] = 100 * rank + r;
  MPI_Alltoallw(MPI_BOTTOM, counts.data(), places.data(), out.types(), MPI_BOTTOM, counts.data(),
                places.data(), in.types(), MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) CHECK(in[r] == 100 * r + rank, "from %d", r);
}

// Driver and program both use managed memory: large messages may reach it in ways of their own.
void use_managed() {
  for (const std::size_t count : {1u, 1000u, 300000u}) {
    const OnDevice<float> in(count, true), out(count, true);
    std::fill(in.given(), in.given() + count, 1.5f);
    MPI_Allreduce(in.given(), out.given(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK(out[count - 1] == 1.5f * static_cast<float>(ranks), "%zu numbers", count);
  }
}

// Only the data of a result are written, not what is between them.
void keep_gaps() {
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_INT, 0, 12, &spaced);
  MPI_Type_commit(&spaced);
  const OnDevice<int> all(300);
  for (int i = 0; i < 300; ++i) all[i] = i % 3 == 0 && rank == 0 ? i : -5;
  MPI_Request request;
  MPI_Ibcast(all.given(), 100, spaced, 0, MPI_COMM_WORLD, &request);
  if (rank != 0) all[1] = 77;  // the program's, also while the call is under way
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 300; ++i) {
    const int gap = i == 1 && rank != 0 ? 77 : -5;
    CHECK(all[i] == (i % 3 == 0 ? i : gap), "number %d", i);
  }
  MPI_Type_free(&spaced);
}

// Initialised before and after a communicator is set up, started several times.
void start_again(MPI_Comm comm) {
  if (!in_sumac<void*>("MPI_Allreduce_init")) return;
  const OnDevice<long> in(500), out(500);
  MPI_Request request;
  const void* from = in.given();
  void* to = out.given();
  call("Allreduce", Form::persistent, comm, &request, from, to, 500, MPI_LONG, MPI_SUM);
  for (long round = 0; round < 3; ++round) {
    for (long i = 0; i < 500; ++i) in[static_cast<std::size_t>(i)] = round * i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out[499] == round * 499 * ranks, "round %ld", round);
  }
  MPI_Request_free(&request);
}

void end_by_change() {
  OnDevice<long> data(100);
  data.become_host(true);
  MPI_Request request;
  void* given = data.given();
  call("Bcast", Form::persistent, MPI_COMM_WORLD, &request, given, 100, MPI_LONG, 0);
  data.become_host(rank != 0);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void end_by_failure() {
  const OnDevice<int> data(1000);
  if (rank == 0) STAND_IN(stand_ins()[0], stand_in_fail_copy)(3);
  for (int round = 0; round < 100; ++round) {
    MPI_Allreduce(MPI_IN_PLACE, data.given(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

// The memory is not where Sumac knows without the driver that it is the host's.
void use_host_memory(bool is_left_alone) {
  OnDevice<int> data(1000);
  data.become_host(true);
  warm_up(MPI_COMM_WORLD);
  const auto before = counts().queries;
  MPI_Allreduce(MPI_IN_PLACE, data.given(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (is_left_alone) {
    CHECK_HANDED_DOWN("a GPU runtime is in the process (SUMAC_DEVICE=host promises host buffers)");
  } else {
    CHECK_TAKEN();
  }
  CHECK(counts().queries == before);
}

// Large calls are cut into slices, while which the next one and the last one are copied. Buffers of
// rank 0 are in host memory, so not all ranks copy.
void use_slices() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  constexpr int kCount = 2'500'003;
  const OnDevice<float> in(kCount), out(kCount);
  float *const given = &in[0], *const result = &out[0];
  for (const bool host : {false, true}) {
    in.become_host(host && rank == 0);
    out.become_host(host && rank == 0);
    const auto fill = [&](float by) {
      for (int i = 0; i < kCount; ++i)
        given[i] = result[i] = by * static_cast<float>(i % 1000 + rank);
    };
    const auto all_are = [&](float by, const char* what) {
      const float sum = static_cast<float>(ranks * (ranks - 1) / 2);
      bool same = true;
      for (int i = 0; i < kCount; ++i) {
        same &= result[i] == by * (static_cast<float>(ranks * (i % 1000)) + sum);
      }
      CHECK(same, "%s, host %d", what, host);
    };
    const unsigned long before = counts().to_device;
    fill(1);
    // Some of the first calls try to go direct, which are not cut.
    constexpr unsigned long kCalls = 4;
    for (unsigned long i = 0; i < kCalls; ++i) {
      MPI_Allreduce(in.given(), out.given(), kCount, MPI_FLOAT, MPI_SUM, comm);
      all_are(1, "allreduce");
    }
    const bool is_cut = ranks > 1 && !(host && rank == 0);
    const unsigned long copies = counts().to_device - before;
    CHECK(!is_cut || copies > kCalls, "%lu copies", copies);
    // The small call may still be under way when the large one begins.
    MPI_Request small;
    int one = 1, sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &small);
    MPI_Allreduce(in.given(), out.given(), kCount, MPI_FLOAT, MPI_SUM, comm);
    MPI_Wait(&small, MPI_STATUS_IGNORE);
    all_are(1, "behind another call");
    CHECK(sum == ranks);
    fill(2);
    MPI_Allreduce(MPI_IN_PLACE, out.given(), kCount, MPI_FLOAT, MPI_SUM, comm);
    all_are(2, "in place");
    fill(3);
    MPI_Reduce(in.given(), out.given(), kCount, MPI_FLOAT, MPI_SUM, ranks - 1, comm);
    if (rank == ranks - 1) all_are(3, "reduce");
    MPI_Bcast(out.given(), kCount, MPI_FLOAT, ranks - 1, comm);
    all_are(3, "bcast");
    fill(4);
    MPI_Request request;
    MPI_Iallreduce(in.given(), out.given(), kCount, MPI_FLOAT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    all_are(4, "nonblocking");
    if (!in_sumac<void*>("MPI_Allreduce_init")) continue;
    const void* from = in.given();
    void* to = out.given();
    call("Allreduce", Form::persistent, comm, &request, from, to, kCount, MPI_FLOAT, MPI_SUM);
    for (float by : {5.0f, 6.0f}) {
      fill(by);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      all_are(by, "persistent");
    }
    MPI_Request_free(&request);
  }
  MPI_Comm_free(&comm);
}

// Returns how many addresses one call of these asks a run-time about.
template <class Run>
unsigned long queries_of(Run run) {
  const unsigned long before = counts().queries;
  run();
  return counts().queries - before;
}

// A run-time that answers for a buffer is the last that is asked about it.
void count_queries() {
  const auto each = static_cast<unsigned long>(stand_ins().count());
  if (each > 1) return;
  const OnDevice<double> in(100), out(100), host_in(100), host_out(100);
  host_in.become_host(true);
  host_out.become_host(true);
  const auto reduce = [](const void* from, const OnDevice<double>& to) {
    return queries_of(
        [&] { MPI_Allreduce(from, to.given(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  };
  CHECK(reduce(in.given(), out) == 2);
  CHECK(reduce(MPI_IN_PLACE, out) == 1);
  CHECK(reduce(host_in.given(), host_out) == 2);
  CHECK(reduce(MPI_IN_PLACE, host_out) == 1);
  std::vector<double> heap(100);
  CHECK(reduce(heap.data(), host_out) == 1);
  const auto begin = [](const OnDevice<double>& from, const OnDevice<double>& to) {
    return queries_of([&] {
      MPI_Request request;
      MPI_Iallreduce(from.given(), to.given(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  };
  CHECK(begin(in, out) == 2 && begin(host_in, host_out) == 2);
}

// A persistent operation asks again when it is started: its buffers may have changed. One with host
// buffers that is left to the MPI asks nobody.
void count_queries_of_starts() {
  if (stand_ins().count() > 1 || !in_sumac<void*>("MPI_Allreduce_init")) return;
  const char* const progress = std::getenv("SUMAC_PROGRESS");
  const bool progress_is_off = progress && std::string(progress) == "off";
  for (const bool host : {false, true}) {
    const OnDevice<long> in(100), out(100);
    in.become_host(host);
    out.become_host(host);
    MPI_Request request;
    const void* from = in.given();
    void* to = out.given();
    call("Allreduce", Form::persistent, MPI_COMM_WORLD, &request, from, to, 100, MPI_LONG, MPI_SUM);
    for (int round = 0; round < 3; ++round) {
      const unsigned long asked = queries_of([&] {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      });
      CHECK(asked == 2 || (host && asked == 0 && progress_is_off), "%lu queries, host %d", asked,
            host);
    }
    MPI_Request_free(&request);
  }
}

// What Sumac has mapped is the host's: nobody is asked.
void use_allocated_memory() {
  double* memory = nullptr;
  MPI_Alloc_mem(800, MPI_INFO_NULL, &memory);
  std::fill(memory, memory + 100, 1.0);
  const unsigned long asked = queries_of(
      [&] { MPI_Allreduce(MPI_IN_PLACE, memory, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  CHECK(memory[99] == ranks && (ranks == 1 || asked == 0), "%lu queries", asked);
  MPI_Free_mem(memory);
}

void call_all() {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  start_again(other);
  call_at_once(MPI_COMM_WORLD);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  reduce_locally();
  for (const int where : {0, 1, 2, 3}) pack(where & 1, where & 2);
  exchange_scattered();
  use_managed();
  keep_gaps();
  count_queries();
  count_queries_of_starts();
  use_allocated_memory();
  use_slices();
  start_again(MPI_COMM_WORLD);
  call_at_once(MPI_COMM_WORLD);
  std::thread(reduce_locally).join();  // which has no current context
  stand_ins().each([](const StandIn& each) { STAND_IN(each, stand_in_delay)(2000); });
  call_at_once(MPI_COMM_WORLD);
  CHECK(counts().to_device > 0 && counts().mistakes == 0);
  MPI_Comm_free(&other);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "off" || what == "host") counts();  // loads all
  start(argc, argv);
  if (what == "off" || what == "host") {
    use_host_memory(what == "off");
  } else if (what == "changes") {
    end_by_change();
  } else if (what == "fails") {
    end_by_failure();
  } else {
    call_all();
  }
  return finish();
}
