// SPDX-License-Identifier: BSD-3-Clause
// Every collective that Sumac serves, by name, on integers: as a blocking, nonblocking or
// persistent call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../mpi/check.h"

namespace test {

// `Numbers`: a vector of int.
template <class Numbers = std::vector<int>>
struct CallOn {
  std::string collective, kind;  // kind: blocking, nonblocking, persistent
  int count = 1;                 // of elements that a rank gives to each
  int root = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Op op = MPI_SUM;
  Numbers in{}, out{};
  std::vector<int> counts{}, places{};
  MPI_Request persistent = MPI_REQUEST_NULL;
  bool in_place = false;  // an all-reduce, or a reduce at its root

  // Takes the memory. Every rank gives 1, 2, 3, ... and its own rank.
  void open() {
    const auto all = static_cast<std::size_t>(count) * static_cast<std::size_t>(ranks);
    in.resize(all);
    out.assign(all, -1);
    counts.assign(static_cast<std::size_t>(ranks), count);
    places.clear();
    for (int r = 0; r < ranks; ++r) places.push_back(r * count);
  }

  // Makes one call and waits for its end. False where the MPI has no such function.
  bool run(int number) {
    fill(number);
    return run_filled();
  }
  void fill(int number) {
    Numbers& given = is_in_place() ? out : in;
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i] = number + static_cast<int>(i % 100) + rank;
    }
  }
  bool run_filled() {
    if (kind == "blocking") return block();
    MPI_Request request = MPI_REQUEST_NULL;
    if (kind == "nonblocking" ? !begin(&request) : !start(&request)) return false;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (kind == "persistent") persistent = request;
    return true;
  }

  // Whether what this rank has got from call `number` is right.
  bool is_right(int number) const {
    const auto given = [&](int from, int at) { return number + at % 100 + from; };
    const auto sum = [&](int at) { return ranks * given(0, at) + ranks * (ranks - 1) / 2; };
    const bool exchanges = is("alltoall") || is("alltoallv");
    const int own = rank * count;
    bool right = true;
    const auto expect = [&](const Numbers& got, int at, int value) {
      right &= got[static_cast<std::size_t>(at)] == value;
    };
    for (int i = 0; i < count; ++i) {
      if (is("allreduce") || (is("reduce") && rank == root)) expect(out, i, sum(i));
      if (is("reduce_scatter")) expect(out, i, sum(own + i));
      if (is("bcast")) expect(in, i, given(root, i));
      for (int r = 0; r < ranks && (exchanges || is("allgather")); ++r) {
        expect(out, r * count + i, given(r, exchanges ? own + i : i));
      }
    }
    return right;
  }

 private:
  bool is(const char* name) const { return collective == name; }
  bool is_in_place() const {
    return in_place && (is("allreduce") || (is("reduce") && rank == root));
  }
  const void* given() const { return is_in_place() ? MPI_IN_PLACE : in.data(); }

  bool block() {
    const void* from = given();
    int* to = out.data();
    const MPI_Datatype type = MPI_INT;
    if (is("allreduce")) return !MPI_Allreduce(from, to, count, type, op, comm);
    if (is("reduce")) return !MPI_Reduce(from, to, count, type, op, root, comm);
    if (is("bcast")) return !MPI_Bcast(in.data(), count, type, root, comm);
    if (is("barrier")) return !MPI_Barrier(comm);
    if (is("reduce_scatter")) return !MPI_Reduce_scatter_block(from, to, count, type, op, comm);
    if (is("allgather")) return !MPI_Allgather(from, count, type, to, count, type, comm);
    if (is("alltoall")) return !MPI_Alltoall(from, count, type, to, count, type, comm);
    return is("alltoallv") && !MPI_Alltoallv(from, counts.data(), places.data(), type, to,
                                             counts.data(), places.data(), type, comm);
  }

  bool begin(MPI_Request* r) {
    const void* from = given();
    int* to = out.data();
    const MPI_Datatype type = MPI_INT;
    if (is("allreduce")) return !MPI_Iallreduce(from, to, count, type, op, comm, r);
    if (is("reduce")) return !MPI_Ireduce(from, to, count, type, op, root, comm, r);
    if (is("bcast")) return !MPI_Ibcast(in.data(), count, type, root, comm, r);
    if (is("barrier")) return !MPI_Ibarrier(comm, r);
    if (is("reduce_scatter")) return !MPI_Ireduce_scatter_block(from, to, count, type, op, comm, r);
    if (is("allgather")) return !MPI_Iallgather(from, count, type, to, count, type, comm, r);
    if (is("alltoall")) return !MPI_Ialltoall(from, count, type, to, count, type, comm, r);
    return is("alltoallv") && !MPI_Ialltoallv(from, counts.data(), places.data(), type, to,
                                              counts.data(), places.data(), type, comm, r);
  }

  // MPI-4: the functions are found by name, in Sumac.
  template <class... Arguments>
  static bool init(const char* name, Arguments... arguments) {
    const auto function = in_sumac<int (*)(Arguments...)>(name);
    return function && !function(arguments...);
  }

  bool make(MPI_Request* r) {
    const void* from = given();
    void* to = out.data();
    const MPI_Datatype type = MPI_INT;
    const MPI_Info none = MPI_INFO_NULL;
    const int* const sizes = counts.data();
    const int* const at = places.data();
    if (is("allreduce"))
      return init("MPI_Allreduce_init", from, to, count, type, op, comm, none, r);
    if (is("reduce"))
      return init("MPI_Reduce_init", from, to, count, type, op, root, comm, none, r);
    if (is("bcast"))
      return init("MPI_Bcast_init", static_cast<void*>(in.data()), count, type, root, comm, none,
                  r);
    if (is("barrier")) return init("MPI_Barrier_init", comm, none, r);
    if (is("reduce_scatter"))
      return init("MPI_Reduce_scatter_block_init", from, to, count, type, op, comm, none, r);
    if (is("allgather"))
      return init("MPI_Allgather_init", from, count, type, to, count, type, comm, none, r);
    if (is("alltoall"))
      return init("MPI_Alltoall_init", from, count, type, to, count, type, comm, none, r);
    return is("alltoallv") &&
           init("MPI_Alltoallv_init", from, sizes, at, type, to, sizes, at, type, comm, none, r);
  }

  bool start(MPI_Request* request) {
    if (persistent == MPI_REQUEST_NULL && !make(&persistent)) return false;
    *request = persistent;
    return !MPI_Start(request);
  }
};

using Call = CallOn<>;

}  // namespace test
