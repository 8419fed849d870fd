// SPDX-License-Identifier: BSD-3-Clause
// Buffers that are used once each, with SUMAC_PROMOTE=auto or eager: neither mappings nor memory
// nor descriptors of the process grow with their number. direct_once BUFFERS
#include "cases.h"
#include "direct_memory.h"
#include "process_size.h"

namespace {

using namespace test;

// Half of them live in mappings of their own, the others in the heap.
void use_once(long number) {
  constexpr std::size_t kCount = 9000;
  const std::size_t bytes = kCount * sizeof(int);
  Memory input(number % 2 ? Origin::map : Origin::malloc, bytes, pools()[0]);
  Memory output(number % 3 ? Origin::map : Origin::new_array, bytes, pools()[1]);
  Call call({.what = What::allreduce, .counts = {kCount}, .seed = static_cast<unsigned>(number)});
  call.use(input.at(), output.at());
  call.begin();
  call.check();
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const long buffers = argc > 1 ? std::atol(argv[1]) : 1000;
  ProcessSize before;
  for (long i = 0; i < buffers; ++i) {
    step("buffer %ld", i);
    if (i == buffers / 4) before = process_size();
    use_once(i);
  }
  expect_no_growth(before, process_size());
  return finish();
}
