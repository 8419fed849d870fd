// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose ranks give or get parts, against results computed from the inputs: every
// function and form, sizes around those at which the algorithm changes, equal and unequal parts,
// places with gaps and in any order, types that differ between blocks and ranks, in place, and
// several calls under way at once.
// parts [exchange|all] [--alike] [--handed-down]
//   exchange       all-to-alls; otherwise reduce-scatter and all-gather; or all
//   --alike        all ranks use the same types and layouts
//   --handed-down  the MPI serves, as all-to-alls over levels
#include <deque>

#include "cases.h"
#include "element_oracle.h"
#include "mpi_faults.h"

namespace {

using namespace test;

struct PartSweep {
  std::vector<What> whats;
  std::vector<int> sizes;  // elements of all parts
  int all_up_to;           // of larger sizes a third or fourth of the cases are made
  unsigned keeps;
  bool alike = false;           // all ranks use the same types and layouts
  bool never_in_place = false;  // where the MPI serves and its own calls in place are wrong
  Served served = Served::by_rule;

  // Elements of each part, or of each pair of ranks, about `n` in all or from each: equal, all in
  // one part, or of different lengths, many of them 0. Both of a pair give as much in place.
  static std::vector<std::size_t> parts(const Case& c, int pattern, int n) {
    const auto p = static_cast<std::size_t>(ranks), all = static_cast<std::size_t>(n);
    if (pattern == 0 || !listed(c.what)) return {all / p};
    std::vector<std::size_t> counts(exchanges(c.what) ? p * p : p);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t from = i / p, to = i % p;
      const std::size_t key =
          c.in_place && exchanges(c.what) ? std::min(from, to) * p + std::max(from, to) : i;
      const std::uint64_t any = mix(all * 1000 + key);
      const std::size_t most = exchanges(c.what) ? all : 2 * all / p;
      if (pattern == 1) counts[i] = key == all % counts.size() ? all : 0;
      if (pattern == 2) counts[i] = any % 3 == 0 ? 0 : any / 3 % (most + 1);
    }
    return counts;
  }
  // Each rank has layouts of its own, in an MPI_Alltoallw for each block.
  void describe(Case& c, int round) const {
    const auto own = static_cast<unsigned>(round + (alike ? 0 : rank));
    c.apart = c.what == What::allgatherv || own % 2 == 0 ? own + 1 : 0;
    const LayoutPointer usual = plain(ints()), spaced = every_third(ints());
    for (unsigned b = 0; !reduces(c.what) && b < (c.what == What::alltoallw ? 4 : 1); ++b) {
      c.gives.push_back((own + b) % 3 == 0 ? spaced : usual);
      c.gets.push_back((own + b) % 4 == 1 ? spaced : usual);
    }
  }
  Case one(What what, Form form, int variant, int n, int round) const {
    Case c{.what = what,
           .root = rooted(what) ? round % ranks : 0,
           .form = form,
           .large = (variant & 1) != 0,
           .seed = static_cast<std::uint64_t>(round)};
    c.in_place = (variant & 2) != 0;
    c.counts = parts(c, variant / 4, n);
    describe(c, round);
    return c;
  }

  void run_all() const {
    int round = 0;
    for (const int n : sizes) {
      for (const What what : whats) {
        for (const Form form : kForms) {
          for (int variant = 0; variant < 12; ++variant) {
            if (n > all_up_to && static_cast<unsigned>(variant + n) % keeps != 0) continue;
            const Case c = one(what, form, variant, n, ++round);
            if (!c.in_place || !never_in_place) test::run(c, world(), served);
          }
        }
      }
    }
  }

  // Several operations under way at once, with blocking ones between them, completed in another
  // order.
  void run_mixed(int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      std::deque<Call> going;
      const auto begin = [&](const Case& c) {
        going.emplace_back(c);
        CHECK(going.back().begin() == MPI_SUCCESS, "%s", going.back().text().c_str());
        going.back().start();
      };
      for (int i = 0; i < 5; ++i) {
        const Form form = (round + i) % 3 == 0 ? Form::persistent : Form::nonblocking;
        const What what = whats[static_cast<std::size_t>(round + i) % whats.size()];
        const int variant = round % 12 & (exchanges(what) ? ~2 : ~0);
        begin(one(what, form, variant, (round % 5 == 0 ? 5000 : 300) * i + round, round));
        if (i == 1) begin({.what = What::allreduce, .counts = {1}, .form = Form::nonblocking});
        if (i == 3) begin({.what = What::bcast, .counts = {1}, .form = Form::nonblocking});
        if ((round + i) % 3 == 0) {
          test::run(one(what, Form::blocking, 8, 40 + round, round), world(), served);
        }
      }
      for (std::size_t i = going.size(); i-- > 0;) {
        going[i].wait();
        going[i].check();
      }
    }
  }
};

// The padding between value and index belongs to the program and must not change; nor is what
// reduces a predefined operation.
void other_operations() {
  const Numbers pairs = numbers_of({"DOUBLE_INT", MPI_DOUBLE_INT, kLocation, DType::f64_i32},
                                   {"MAXLOC", MPI_MAXLOC, kLocation, Op::maxloc}, DType::f64_i32);
  Numbers users = ints();
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &users.op);
  Sweep{.whats = {What::reduce_scatter_block},
        .numbers = {&pairs, &users},
        .counts = {1, 3, 300, 5000}}
      .for_each([](const Case& c, std::uint64_t) { run(c, world(), Served::anyhow); });
  MPI_Op_free(&users.op);
}

// A copy of MPI_COMM_WORLD, ready for Sumac, whose calls return their errors.
MPI_Comm returning_copy() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
  warm_up(comm);
  return comm;
}

// Counts beyond an int, for an MPI without large counts.
void beyond_int() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  MPI_Comm comm = returning_copy();
  MPI_Op op;  // user-defined, so that the MPI does it
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks), MPI_Count{1} << 33);
  char in = 0, out = 0;
  const void* from = &in;
  void* into = &out;
  for (const Form form : kForms) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int of_parts = call("Reduce_scatter_c", form, comm, &request, from, into,
                              static_cast<const MPI_Count*>(counts.data()), MPI_CHAR, op);
    const int of_one =
        call("Reduce_scatter_block_c", form, comm, &request, from, into, counts[0], MPI_CHAR, op);
    CHECK(of_parts == MPI_ERR_COUNT && of_one == MPI_ERR_COUNT, "%d, %d", of_parts, of_one);
  }
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
#endif
}

// Addresses in place of displacements.
void absolute() {
  for (const Form form : kForms) {
    run({.what = What::alltoallw, .counts = {2}, .form = form, .large = true, .absolute = true},
        world(), Served::anyhow);
  }
}

// One rank only gives, all others only get, and the other way round: where there are no data there
// need be no buffer.
void one_sided() {
  const auto p = static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < 4 * p; ++i) {
    Case c{.what = What::alltoallv, .counts = std::vector<std::size_t>(p * p), .seed = i};
    for (std::size_t r = 0; r < p; ++r) c.counts[i / 2 % 2 ? r * p + i / 4 : i / 4 * p + r] = 1;
    run(c, world(), Served::anyhow);
  }
}

// The groups of an intercommunicator may differ in size: arrays are as long as the other one.
void intercommunicator() {
  if (ranks < 2) return;
  const Sides sides;
  const auto others = static_cast<std::size_t>(sides.others);
  const std::vector<MPI_Count> counts(others, 1);
  std::vector<MPI_Aint> places(others);
  std::vector<int> in(others), out(others), expected(others);
  for (std::size_t i = 0; i < others; ++i) {
    const int r = static_cast<int>(i);
    places[i] = r;
    in[i] = 100 * rank + r;
    expected[i] = 100 * (2 * r + 1 - sides.odd) + rank / 2;
  }
  const void* const from = in.data();
  void* const into = out.data();
  const MPI_Count* const each = counts.data();
  const MPI_Aint* const at = places.data();
  for (int i = 0; i < 3; ++i) {
    std::fill(out.begin(), out.end(), -1);
    CHECK(call("Alltoallv_c", Form::blocking, sides.between, nullptr, from, each, at, MPI_INT, into,
               each, at, MPI_INT) == MPI_SUCCESS);
    CHECK(!was_taken(), "path '%s'", path());
    CHECK(out == expected, "%d", out[0]);
  }
}

// The MPI raises an error for a type that was never committed, here on all ranks at once. Without
// Sumac the MPIs crash.
void uncommitted() {
  MPI_Comm comm = returning_copy();
  std::vector<int> in(static_cast<std::size_t>(4 * ranks)), out(in.size());
  int *from = in.data(), *into = out.data();
  MPI_Datatype open;
  MPI_Type_vector(2, 1, 2, MPI_INT, &open);
  CHECK(MPI_Allgather(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
  CHECK(MPI_Allgather(from, 1, open, into, 2, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Alltoall(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
  MPI_Type_free(&open);
  for (const What what : {What::allgather, What::alltoall}) {
    run({.what = what, .counts = {1}}, group_of(comm));
  }
  MPI_Comm_free(&comm);
}

void gather_and_scatter(bool alike) {
  const PartSweep sweep{
      .whats = whats_that([](What what) { return scatters(what) || gathers(what); }),
      .sizes = {0, 1, 2, 7, 517, 518, 519, 1036, 4099, 16384, 16385, 100000, 270000},
      .all_up_to = 20000,
      .keeps = 5,
      .alike = alike};
  sweep.run_all();
  sweep.run_mixed(60);
  other_operations();
  beyond_int();
}

void exchange(bool handed_down) {
  const int slot = 32 << 10 >> 2;  // ints
  // Open MPI 4 has no MPI_Alltoallw in place without errors in its nonblocking forms.
  const PartSweep sweep{.whats = whats_that(exchanges),
                        .sizes = {0, 1, 2, 7, 60, 516, 517, 518, 519, 700, 4099, slot - 1, slot,
                                  slot + 1, slot * ranks + 3, 100000, 300000},
                        .all_up_to = 4000,
                        .keeps = 4,
                        .never_in_place = only_linked || handed_down,
                        .served = handed_down ? Served::by_mpi : Served::by_rule};
  sweep.run_all();
  sweep.run_mixed(40);
  // Addresses are beyond the displacements of an MPI without large counts.
  if (!only_linked && !handed_down) absolute();
  one_sided();
  intercommunicator();
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const bool alike = take_flag(argc, argv, "--alike");
  const bool handed_down = take_flag(argc, argv, "--handed-down");
  CHECK(warm_up(MPI_COMM_WORLD) != only_linked, "path '%s'", path());
  const bool all = take_flag(argc, argv, "all"), exchanges = take_flag(argc, argv, "exchange");
  if (all || !exchanges) gather_and_scatter(alike);
  if (all || exchanges) exchange(handed_down);
  if (!only_linked) uncommitted();
  return finish();
}
