// SPDX-License-Identifier: BSD-3-Clause
// Calls of collectives on 1000 ints, of which the MPI gives a wrong result now and then
// (check_liar.c): with SUMAC_CHECK=results the program gets the MPI's result wherever it differs,
// and what Sumac found right otherwise. Started by written.sh.
// check_results [--honest]: with a liar, or without one
#include "cases.h"

namespace {

using namespace test;

constexpr int kCalls = 20, kOneIn = 5, kWhich = 17, kError = 1000;
constexpr What kWhats[] = {What::allreduce, What::reduce,   What::bcast,
                           What::allgather, What::alltoall, What::reduce_scatter_block};

// Whether this rank's result has the element of rank 0's input that the liar changes.
bool shows_error(const Case& c) {
  if (c.what == What::reduce) return rank == c.root;
  return rank == 0 || !(exchanges(c.what) || scatters(c.what));
}

void run(const Case& c, bool honest) {
  for (int call = 1; call <= kCalls; ++call) {
    Call made(c);
    step("%s, call %d", made.text().c_str(), call);
    made.begin();
    CHECK_TAKEN();
    made.wait();
    const bool lies = !honest && call % kOneIn == 0;
    if (lies && shows_error(c)) reinterpret_cast<int*>(made.received())[kWhich] -= kError;
    made.check(step_text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const bool honest = take_flag(argc, argv, "--honest");
  warm_up(MPI_COMM_WORLD);
  for (const What what : kWhats) {
    const int root = what == What::reduce ? ranks - 1 : 0;
    for (const Form form : {Form::blocking, Form::nonblocking}) {
      run({.what = what, .counts = {1000}, .root = root, .form = form}, honest);
    }
  }
  return finish();
}
