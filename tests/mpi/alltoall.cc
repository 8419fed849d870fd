// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls against results computed from the inputs: every function and form, sizes around those
// at which the algorithm changes, blocks of any sizes and none, places with gaps and in any order,
// types that differ between blocks and ranks, in place, and several calls under way at once.
#include "alltoall.h"
#include "mpi_faults.h"

#include <algorithm>

namespace {

using namespace test;

constexpr const char* kNames[] = {"Alltoall", "Alltoallv", "Alltoallw"};
bool handed_down = false;  // what is expected

// Elements that each rank gives each other one, about `n` from each: equal, one large block, or of
// different sizes, many of them 0. In place both of a pair give as much.
std::vector<int> matrix_of(int pattern, int n, bool symmetric) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<int> matrix(p * p, n / ranks);
  if (pattern == 0) return matrix;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) {
      const std::size_t key = symmetric ? std::min(i, j) * p + std::max(i, j) : i * p + j;
      const std::uint64_t any = mix(static_cast<std::uint64_t>(n) * 1000 + key);
      int& count = matrix[i * p + j];
      if (pattern == 1) {
        count = key == static_cast<std::size_t>(n) % (p * p) ? n : 0;
      } else {
        count = any % 3 == 0 ? 0 : static_cast<int>(any / 3 % static_cast<unsigned>(n + 1));
      }
    }
  }
  return matrix;
}

void expect_path(const Exchange& exchange) {
  if (only_linked) return;
  if (handed_down) {
    CHECK(was_handed_down("the rules prefer the MPI here") || std::strcmp(path(), "local") == 0,
          "path '%s'", path());
  } else if (exchange.form == Form::blocking) {
    CHECK(was_taken() || was_handed_down("the rules prefer the MPI here"), "path '%s'", path());
  } else {
    expect_taken_nonblocking(exchange.name.c_str());
  }
}

void run(Exchange& exchange, unsigned mix, int round) {
  step("%s, form %d, in place %d, round %d", exchange.name.c_str(), static_cast<int>(exchange.form),
       exchange.in_place, round);
  exchange.allocate(mix);
  exchange.fill(round);
  if (exchange.form != Form::blocking) forget_path();
  CHECK(exchange.make() == MPI_SUCCESS, "%s", exchange.name.c_str());
  expect_path(exchange);
  if (exchange.form == Form::blocking) return exchange.check(round);
  complete(exchange, round);
}

Exchange shape(int function, Form form, bool large, bool in_place, int pattern, int n) {
  return {kNames[function], form, large, in_place,
          matrix_of(function == 0 ? 0 : pattern, n, in_place)};
}

// Whether an MPI's own functions may be compared: Open MPI 4 has no MPI_Alltoallw in place without
// errors in its nonblocking forms, so in-place calls are left out where the MPI serves.
bool leaves_out(bool in_place) { return in_place && (only_linked || handed_down); }

void sweep() {
  int round = 0;
  const int slot = 32 << 10 >> 2;  // ints
  for (const int n : {0, 1, 2, 7, 60, 516, 517, 518, 519, 700, 4099, slot - 1, slot, slot + 1,
                      slot * ranks + 3, 100000, 300000}) {
    for (int function = 0; function < 3; ++function) {
      for (const Form form : kForms) {
        for (int variant = 0; variant < 12; ++variant) {
          if (n > 4000 && (variant + n) % 4 != 0) continue;
          ++round;
          const bool large = variant & 1, in_place = variant & 2;
          if (leaves_out(in_place)) continue;
          Exchange exchange = shape(function, form, large, in_place, variant / 4, n);
          run(exchange, static_cast<unsigned>(round + rank), round);
        }
      }
    }
  }
}

// Several operations under way at once, with blocking ones between them, completed in another
// order.
void mixed() {
  for (int round = 0; round < 40; ++round) {
    std::vector<Exchange> going;
    for (int i = 0; i < 5; ++i) {
      const Form form = (round + i) % 4 == 0 ? Form::persistent : Form::nonblocking;
      going.push_back(shape((round + i) % 3, form, round & 1, false, (round + i) % 3,
                            (round % 5 == 0 ? 5000 : 50) * i + round));
    }
    int sum = 0, one = 1, word = rank == 0 ? round : -1;
    MPI_Request others[2];
    for (std::size_t i = 0; i < going.size(); ++i) {
      Exchange& exchange = going[i];
      exchange.allocate(static_cast<unsigned>(round) + static_cast<unsigned>(rank));
      exchange.fill(round);
      CHECK(exchange.make() == MPI_SUCCESS, "%s", exchange.name.c_str());
      if (exchange.form == Form::persistent) MPI_Start(&exchange.request);
      if (i == 1) MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &others[0]);
      if (i == 3) MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &others[1]);
      if ((round + static_cast<int>(i)) % 3 != 0) continue;
      Exchange blocking = shape(round % 3, Form::blocking, false, false, 2, 40 + round);
      run(blocking, static_cast<unsigned>(round), round);
    }
    MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
    CHECK(sum == ranks && word == round, "%d, %d", sum, word);
    for (std::size_t i = going.size(); i-- > 0;) {
      MPI_Wait(&going[i].request, MPI_STATUS_IGNORE);
      going[i].check(round);
      if (going[i].form == Form::persistent) MPI_Request_free(&going[i].request);
    }
  }
}

// Blocks at absolute addresses, and types that mean nothing where there are no data.
void absolute() {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<int> in(3 * p), out(3 * p, -1);
  std::vector<MPI_Datatype> from(p, MPI_INT), into(p, MPI_INT);
  std::vector<MPI_Count> counts(p, 2);
  std::vector<MPI_Aint> reads(p), writes(p);
  for (std::size_t r = 0; r < p; ++r) {
    in[3 * r] = rank;
    in[3 * r + 1] = static_cast<int>(r);
    MPI_Get_address(&in[3 * r], &reads[r]);
    MPI_Get_address(&out[3 * r], &writes[r]);
  }
  const void* const bottom = MPI_BOTTOM;
  void* const bottom_too = MPI_BOTTOM;
  for (const Form form : kForms) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(call("Alltoallw_c", form, MPI_COMM_WORLD, &request, bottom,
               static_cast<const MPI_Count*>(counts.data()),
               static_cast<const MPI_Aint*>(reads.data()),
               static_cast<const MPI_Datatype*>(from.data()), bottom_too,
               static_cast<const MPI_Count*>(counts.data()),
               static_cast<const MPI_Aint*>(writes.data()),
               static_cast<const MPI_Datatype*>(into.data())) == MPI_SUCCESS);
    if (form == Form::persistent) MPI_Start(&request);
    if (form != Form::blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == Form::persistent) MPI_Request_free(&request);
    for (int r = 0; r < ranks; ++r) {
      int* const got = &out[3 * static_cast<std::size_t>(r)];
      CHECK(got[0] == r && got[1] == rank && got[2] == -1, "%d %d %d", got[0], got[1], got[2]);
      got[0] = got[1] = -1;
    }
  }
}

// One rank only gives, all others only get: where there are no data there need be no buffer.
void one_sided() {
  const auto p = static_cast<std::size_t>(ranks);
  const std::vector<int> none(p, 0);
  for (int giver = 0; giver < ranks; ++giver) {
    step("only rank %d gives", giver);
    std::vector<int> gives(none), gets(none), places(none), in(p, 5 + giver), out(1, -1);
    if (rank == giver) gives.assign(p, 1);
    gets[static_cast<std::size_t>(giver)] = 1;
    int* const from = rank == giver ? in.data() : nullptr;
    CHECK(MPI_Alltoallv(from, gives.data(), places.data(), MPI_INT, out.data(), gets.data(),
                        none.data(), MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(out[0] == 5 + giver, "%d of rank %d", out[0], giver);
    // The other way round: one rank gets all.
    int* const into = rank == giver ? in.data() : nullptr;
    for (std::size_t r = 0; r < p; ++r) places[r] = static_cast<int>(r);
    CHECK(MPI_Alltoallv(&rank, gets.data(), none.data(), MPI_INT, into, gives.data(), places.data(),
                        MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int r = 0; rank == giver && r < ranks; ++r) {
      CHECK(in[static_cast<std::size_t>(r)] == r, "%d", in[static_cast<std::size_t>(r)]);
    }
  }
}

// The groups of an intercommunicator may differ in size: arrays are as long as the other one.
void intercommunicator() {
  if (ranks < 2) return;
  MPI_Comm side, inter;
  const int color = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - color, 9, &inter);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  const auto p = static_cast<std::size_t>(others);
  std::vector<MPI_Count> counts(p, 1);
  std::vector<MPI_Aint> places(p);
  std::vector<int> in(p), out(p);
  for (std::size_t r = 0; r < p; ++r) {
    places[r] = static_cast<MPI_Aint>(r);
    in[r] = 100 * rank + static_cast<int>(r);
  }
  int own = 0;
  MPI_Comm_rank(side, &own);
  const void* const from = in.data();
  void* const into = out.data();
  for (int i = 0; i < 3; ++i) {
    std::fill(out.begin(), out.end(), -1);
    CHECK(call("Alltoallv_c", Form::blocking, inter, nullptr, from,
               static_cast<const MPI_Count*>(counts.data()),
               static_cast<const MPI_Aint*>(places.data()), MPI_INT, into,
               static_cast<const MPI_Count*>(counts.data()),
               static_cast<const MPI_Aint*>(places.data()), MPI_INT) == MPI_SUCCESS);
    CHECK(!was_taken(), "path '%s'", path());
    for (int r = 0; r < others; ++r) {
      const int world = 2 * r + 1 - color;
      CHECK(out[static_cast<std::size_t>(r)] == 100 * world + own);
    }
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
}

// Errors are raised by the MPI, here on all ranks at once.
void errors() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
  warm_up(comm);
  std::vector<int> in(static_cast<std::size_t>(4 * ranks)), out(in.size());
  const std::vector<int> ones(static_cast<std::size_t>(ranks), 1);
  std::vector<int> places(ones.size());
  for (int r = 0; r < ranks; ++r) places[static_cast<std::size_t>(r)] = r;
  int *from = in.data(), *into = out.data();
  CHECK(MPI_Alltoall(from, -1, MPI_INT, into, -1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Alltoall(from, 1, MPI_DATATYPE_NULL, into, 1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Alltoallv(from, ones.data(), places.data(), MPI_DATATYPE_NULL, into, ones.data(),
                      places.data(), MPI_INT, comm) != MPI_SUCCESS);
  MPI_Datatype open;
  MPI_Type_vector(2, 1, 2, MPI_INT, &open);  // left uncommitted
  CHECK(MPI_Alltoall(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
  MPI_Type_free(&open);
  for (int r = 0; r < ranks; ++r) in[static_cast<std::size_t>(r)] = 10 * rank + r;
  CHECK(MPI_Alltoall(from, 1, MPI_INT, into, 1, MPI_INT, comm) == MPI_SUCCESS);
  for (int r = 0; r < ranks; ++r) CHECK(into[r] == 10 * r + rank, "%d", into[r]);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  handed_down = take_flag(argc, argv, "--handed-down");
  CHECK(warm_up(MPI_COMM_WORLD) != only_linked, "path '%s'", path());
  sweep();
  mixed();
  // Addresses are beyond the displacements of an MPI without large counts.
  if (!only_linked && !handed_down) absolute();
  one_sided();
  intercommunicator();
  if (!only_linked) errors();
  return finish();
}
