// SPDX-License-Identifier: BSD-3-Clause
// Collectives on memory of MPI_Alloc_mem, which is born shared: they go direct without any option,
// alone and together with ordinary buffers, and while memory comes and goes. The same with memory
// that XPMEM shows, of malloc(), together with memory that it does not show.
// direct_alloc sweep            sizes around the threshold and pages, all forms and places
// direct_alloc random ROUNDS [SEED [N]]    one of N calls goes direct at least; 0: any number
// direct_alloc threads ROUNDS   of MPI_THREAD_MULTIPLE
// direct_alloc rounds N         allocations, without growth of mappings, memory or descriptors
// direct_alloc once N           ordinary buffers that are used once each, likewise
// direct_alloc off              SUMAC_PROMOTE=off: none goes direct
// direct_alloc attached MODE ...  memory of malloc(), which XPMEM's stand-in gives (tests/xpmem)
#include <sys/mman.h>
#include <sys/wait.h>

#include <string>
#include <thread>

#include "cases.h"
#include "direct_memory.h"
#include "persistent.h"
#include "process_size.h"

namespace {

using namespace test;

constexpr std::size_t kThreshold = 65536;
constexpr What kWhats[] = {
    What::allreduce, What::reduce, What::bcast, What::allgather, What::reduce_scatter_block,
    What::alltoall};

bool attached = false;

// Where XPMEM gives memory of malloc(), ordinary memory is what the program has mapped.
Origin ordinary_origin() { return attached ? Origin::map : Origin::malloc; }

// Memory that others see from the beginning, or ordinary memory.
Memory allocate(std::size_t bytes, bool ordinary = false) {
  const Origin born_shared = attached ? Origin::malloc : Origin::alloc_mem;
  return Memory(ordinary ? ordinary_origin() : born_shared, bytes, pools()[0]);
}

struct Served {
  long calls = 0, direct = 0;
  void note() { ++calls, direct += !std::strcmp(path(), "direct"); }
};

std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

bool is_in_parts(What what) { return scatters(what) || gathers(what) || exchanges(what); }

// From the sizes on from which the shipped rules take direct algorithms; pages that buffers do not
// share are at most half of the bytes.
bool may_be_direct(const Call& call) {
  const Case& c = call.of();
  const std::size_t own = c.counts[0] * c.numbers->size;
  const std::size_t all = own * static_cast<std::size_t>(is_in_parts(c.what) ? ranks : 1);
  const bool late = c.what == What::reduce || gathers(c.what);
  const std::size_t least = exchanges(c.what) ? 4 : late ? 2 : 1;
  return all >= least * kThreshold && (!gathers(c.what) || own >= 8 * kPage);
}

void make(Call& call, Served& served, bool all_shared) {
  step("%s", call.text().c_str());
  call.begin();
  if (call.of().form == Form::persistent) {
    call.start();
    call.wait();
    call.check();
    call.fill(call.of().seed + 1);
    call.start();
  } else if (call.of().form == Form::blocking && all_shared && may_be_direct(call) &&
             !was_handed_down("the rules prefer the MPI here")) {
    served.note();
  }
  call.wait();
  call.check();
}

// Both buffers in one allocation or each in its own, beginning `shift` bytes within it.
void make_in(const Case& c, bool one, std::size_t shift, bool ordinary, Served& served) {
  Call call(c);
  const std::size_t in = whole_lines(call.send_bytes()), out = whole_lines(call.receive_bytes());
  const Memory first = allocate(shift + in + (one ? out : 0) + kThreshold, ordinary);
  const Memory second = one ? Memory() : allocate(shift + out + kThreshold);
  call.use(first.at() + shift, one ? first.at() + shift + in : second.at() + shift);
  const bool all_shared = !ordinary;
  make(call, served, all_shared);
}

void sweep() {
  Served served;
  constexpr std::size_t kSizes[] = {4,
                                    kThreshold - 4,
                                    kThreshold,
                                    kThreshold + 4,
                                    2 * kThreshold,
                                    2 * kThreshold + 3 * kPage + 4,
                                    (1 << 20) + 12};
  constexpr std::size_t kShifts[] = {0, 64, kPage, 5 * kPage + 192};
  const bool has_inits = inits().Allreduce && inits().Reduce && inits().Bcast;
  std::uint64_t number = 0;
  for (const What what : kWhats) {
    for (const std::size_t bytes : kSizes) {
      // Each form with both placements, in place or not, and mixed.
      for (int way = 0; way<12; way += bytes> 4 * kThreshold ? 5 : 1, ++number) {
        const auto form = static_cast<Form>(way % (has_inits ? 3 : 2));
        if (is_in_parts(what) && form == Form::persistent) continue;  // some MPIs lack them
        Case c{.what = what, .form = form, .seed = number};
        const auto parts = static_cast<std::size_t>(is_in_parts(what) ? ranks : 1);
        c.counts = {bytes / 4 / parts};
        c.root = rooted(what) ? static_cast<int>(number) % ranks : 0;
        // Debian's MPICH crashes in its own in-place MPI_Reduce when the root is not 0.
        c.in_place = way % 4 == 3 && (what != What::reduce || c.root == 0);
        // The last rank alone has ordinary memory now and then.
        const bool mixed = way == 11;
        make_in(c, way % 2 == 0, kShifts[number % 4], mixed && rank == ranks - 1, served);
        if (mixed && form == Form::blocking) CHECK(std::strcmp(path(), "direct") != 0, "mixed");
      }
    }
  }
  if (rank == 0) std::printf("%ld of %ld calls went direct\n", served.direct, served.calls);
  CHECK(2 * served.direct > served.calls || ranks == 1, "%ld of %ld", served.direct, served.calls);
}

// What each rank draws by itself: where its buffers are, how they lie, and whether it forks.
class Rounds {
 public:
  Rounds(std::uint64_t seed, const Group& group)
      : shared_(seed), own_(seed * 1000 + static_cast<std::uint64_t>(rank)), group_(group) {}

  void round() {
    Case c{.what = kWhats[shared_.below(std::size(kWhats))], .seed = shared_.next()};
    c.counts = {16 + shared_.below(shared_.below(4) ? 50000 : 300000)};
    if (is_in_parts(c.what)) c.counts[0] = c.counts[0] / static_cast<std::size_t>(ranks) + 1;
    c.form = shared_.below(4) ? Form::blocking : Form::nonblocking;
    c.root = rooted(c.what) ? static_cast<int>(shared_.below(static_cast<unsigned>(ranks))) : 0;
    const bool mixed = shared_.below(6) == 0;
    Call call(c, group_);
    unsigned char* const in = place(send_, call.send_bytes(), mixed);
    call.use(in, place(receive_, call.receive_bytes(), mixed));
    for (std::uint64_t again = 1 + shared_.below(3); again > 0; --again) {
      call.fill(shared_.next());
      make(call, served_, !mixed);
    }
  }
  void fork_now_and_then() {
    if (send_.bytes() == 0 || own_.below(30) > 0) return;
    unsigned char* const at = send_.at();
    at[0] = 1;
    if (attached) return;  // the stand-in's memory is not copied by a fork
    const pid_t child = fork();
    if (child == 0) {
      const bool same = at[0] == 1;
      at[0] = 2;
      usleep(1000);
      _exit(same && at[0] == 2 ? 0 : 1);
    }
    at[0] = 3;
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
    CHECK(at[0] == 3, "%d", at[0]);
  }
  const Served& served() const { return served_; }

 private:
  // In memory of a round before, if it is large enough, or in new memory.
  unsigned char* place(Memory& memory, std::size_t bytes, bool mixed) {
    const std::size_t shift = own_.below(3) ? 0 : own_.below(200) * 64;
    const bool ordinary = mixed && own_.below(2);
    if (own_.below(3) == 0 || memory.bytes() < bytes + shift || ordinary ||
        memory.origin() == ordinary_origin()) {
      memory = Memory();
      memory = allocate(bytes + shift + kThreshold, ordinary);
    }
    return memory.at() + shift;
  }

  Random shared_, own_;
  const Group group_;
  Served served_;
  Memory send_, receive_;
};

void run_random(int rounds, std::uint64_t seed, long share) {
  Rounds all(seed, world());
  for (int i = 0; i < rounds; ++i) {
    all.round();
    all.fork_now_and_then();
  }
  const Served& served = all.served();
  if (rank == 0) std::printf("%ld of %ld calls went direct\n", served.direct, served.calls);
  CHECK(!share || ranks == 1 || share * served.direct >= served.calls, "%ld of %ld", served.direct,
        served.calls);
}

void run_threads(int rounds) {
  constexpr int kThreads = 3;
  MPI_Comm comms[kThreads];
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    warm_up(comm);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&comms, t, rounds] {
      Rounds own(static_cast<std::uint64_t>(t) + 7, group_of(comms[t]));
      for (int i = 0; i < rounds; ++i) own.round();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void run_rounds(int rounds) {
  ProcessSize before;
  Served served;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 4) before = process_size();
    if (i % 16 == 0) {
      make_in({.what = What::allreduce, .counts = {20000}, .seed = static_cast<unsigned>(i)},
              i % 32 == 0, 0, false, served);
    } else {
      const Memory memory = allocate(kThreshold + static_cast<std::size_t>(i % 5) * 30 * kPage);
      memory.at()[0] = memory.at()[kThreshold - 1] = 1;
    }
  }
  expect_no_growth(before, process_size());
  CHECK(served.direct > served.calls / 2, "%ld of %ld", served.direct, served.calls);
}

// Buffers that are used once each, with SUMAC_PROMOTE=auto or eager. Half of them live in mappings
// of their own, the others in the heap.
void run_once(int buffers) {
  ProcessSize before;
  for (int i = 0; i < buffers; ++i) {
    step("buffer %d", i);
    if (i == buffers / 4) before = process_size();
    Call call({.what = What::allreduce, .counts = {9000}, .seed = static_cast<unsigned>(i)});
    const Memory in(i % 2 ? Origin::map : Origin::malloc, call.send_bytes(), pools()[0]);
    const Memory out(i % 3 ? Origin::map : Origin::new_array, call.receive_bytes(), pools()[1]);
    call.use(in.at(), out.at());
    call.begin();
    call.check();
  }
  expect_no_growth(before, process_size());
}

void run_off() {
  Served served;
  for (unsigned i = 0; i < 50; ++i) {
    make_in({.what = What::allreduce, .counts = {50000}, .seed = i}, false, 0, false, served);
  }
  CHECK(served.direct == 0, "%ld of %ld", served.direct, served.calls);
}

}  // namespace

int main(int argc, char** argv) {
  attached = argc > 1 && !std::strcmp(argv[1], "attached");
  if (attached) --argc, ++argv;
  const std::string mode = argc > 1 ? argv[1] : "sweep";
  const bool threads = mode == "threads";
  const int provided = start(argc, argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED);
  if (threads && provided != MPI_THREAD_MULTIPLE) return end_without_threads();
  const int number = argc > 2 ? std::atoi(argv[2]) : 100;
  warm_up(MPI_COMM_WORLD);
  if (mode == "sweep") sweep();
  if (mode == "random") {
    run_random(number, argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1,
               argc > 4 ? std::atol(argv[4]) : 3);
  }
  if (threads) run_threads(number);
  if (mode == "rounds") run_rounds(number);
  if (mode == "once") run_once(number);
  if (mode == "off") run_off();
  return finish();
}
