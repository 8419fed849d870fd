// SPDX-License-Identifier: BSD-3-Clause
// Programs that try to break direct memory: random collectives on buffers from everywhere, to whose
// memory each rank does something else between the calls. What must agree is drawn alike on all
// ranks; where buffers come from, how they lie in their pages and what becomes of them is not.
// direct auto|eager|levels|off ROUNDS [SEED] [MOST_BYTES]
// auto: any number of calls may go direct; eager: a fifth of those that are large enough must;
// levels: a twelfth, on rank 0, in a hierarchy that does not leave it alone; off: none may.
// Prints what was done how often, and where malloc() comes from.
#include <sys/resource.h>
#include <sys/utsname.h>

#include <map>
#include <memory>
#include <string>

#include "cases.h"
#include "direct_deeds.h"
#include "persistent.h"

namespace {

using namespace test;

alignas(4096) unsigned char in_bss[2][Pools::kBytes];
alignas(4096) unsigned char in_data[2][Pools::kBytes] = {{1}, {1}};

struct DirectCalls {
  long calls = 0, direct = 0;  // that are large enough, and blocking
};

// How often something was done to buffers' memory.
std::map<std::string, long>& deeds() {
  static std::map<std::string, long> all;
  return all;
}
void did(const char* what) { ++deeds()[what]; }

// A buffer in memory that lives for some rounds.
class Slot {
 public:
  Slot(Random& own, const Pools& pool) : own_(own), pool_(pool) {}

  // Returns a buffer of that size; null for none.
  unsigned char* buffer(std::size_t bytes, std::size_t alignment, bool plain) {
    if (bytes == 0) return nullptr;
    bytes_ = bytes;
    // New memory, so that it is promoted while a neighbour writes.
    const bool has_neighbour = own_.below(8) == 0;
    if (has_neighbour) drop();
    const bool is_plain = static_cast<int>(memory_.origin()) < kPlainOrigins;
    if (memory_.bytes() < bytes + kSlack || (plain && !is_plain)) allocate(bytes, plain);
    const std::size_t offset = own_.below(4) ? own_.below(kSlack) / alignment * alignment : 0;
    at_ = memory_.at() + offset;
    std::memset(memory_.at(), kFill, offset);
    std::memset(at_ + bytes, kFill, memory_.bytes() - offset - bytes);
    if (has_neighbour) {
      did("neighbour's writes");
      neighbour_ = std::make_unique<Neighbour>(memory_, at_, bytes);
    }
    if (memory_.is_mapped() && own_.below(16) == 0) mlock(memory_.at(), memory_.bytes());
    return at_;
  }

  // Nothing beside the buffer has changed.
  void check() {
    if (bytes_ == 0) return;
    if (neighbour_) return neighbour_.reset();
    const unsigned char* const end = at_ + bytes_;
    const auto before = static_cast<std::size_t>(at_ - memory_.at());
    CHECK(all_are(memory_.at(), before, kFill), "%s; %s", name(), step_text);
    CHECK(all_are(end, memory_.bytes() - before - bytes_, kFill), "%s; %s", name(), step_text);
  }

  void do_something() {
    if (bytes_ == 0) return;
    bytes_ = 0;
    if (memory_.is_mapped()) munlock(memory_.at(), memory_.bytes());
    const bool alone = memory_.origin() == Origin::map;
    switch (own_.below(24)) {
      case 0:
      case 1:
        did("free");
        return drop();
      case 2:
      case 3:
        did("free, allocate again");
        return again();
      case 4:
        if (own_.below(4)) break;
        did("fork");
        return fork_and_write(memory_);
      case 5:
        if (own_.below(8)) break;
        did("posix_spawn");
        return spawn(memory_);
      case 6:
        did("read and write by the kernel");
        return read_and_write(memory_, own_);
      case 7:
        if (own_.below(8)) break;
        did("vfork");
        return call_vfork(memory_);
      default:
        break;
    }
    if (memory_.origin() == Origin::malloc && own_.below(3) == 0) {
      did("realloc");
      use_other_size(memory_, own_);
    }
    if (alone) do_to_mapping();
  }

 private:
  static constexpr std::size_t kSlack = 3 * kPage;
  static constexpr unsigned char kFill = 0xa5;
  const char* name() const { return name_of(memory_.origin()); }

  void allocate(std::size_t bytes, bool plain) {
    drop();
    const bool special = !plain && own_.below(3) == 0;
    const auto origin = own_.below(static_cast<unsigned>(special ? kOrigins : kPlainOrigins));
    const std::size_t size = bytes + kSlack + own_.below(8) * kPage;
    memory_ = Memory(static_cast<Origin>(origin), size, pool_);
    std::memset(memory_.at(), kFill, memory_.bytes());
  }
  void drop() { memory_ = Memory(); }
  // Most likely at the same address.
  void again() {
    const Origin origin = memory_.origin();
    const std::size_t bytes = memory_.bytes();
    drop();
    memory_ = Memory(origin, bytes, pool_);
    if (origin == Origin::calloc || memory_.is_mapped()) {
      CHECK(all_are(memory_.at(), memory_.bytes(), 0), "%s; %s", name(), step_text);
    }
  }
  void do_to_mapping() {
    switch (own_.below(10)) {
      case 0:
        did("mremap");
        return remap(memory_, own_);
      case 1:
        did("mmap over it");
        return replace(memory_, own_);
      case 2:
        did("MADV_DONTNEED");
        return give_back(memory_, own_);
      case 3:
        did("MADV_FREE");
        return free_lazily(memory_, own_);
      case 4:
        did("mprotect");
        return forbid_for_a_while(memory_, own_);
      default:
        break;
    }
  }

  Random& own_;
  const Pools& pool_;
  Memory memory_;
  std::unique_ptr<Neighbour> neighbour_;
  unsigned char* at_ = nullptr;
  std::size_t bytes_ = 0;  // of the buffer
};

class Breaker {
 public:
  Breaker(std::uint64_t seed, std::size_t most_bytes)
      : shared_(seed), own_(seed * 1000 + static_cast<std::uint64_t>(rank)), most_(most_bytes) {}

  void round(long number) {
    const Case c = draw();
    const std::uint64_t calls = 1 + shared_.below(4);
    const bool plain = shared_.below(4) > 0;
    Call call(c);
    step("round %ld, plain %d: %s", number, plain, call.text().c_str());
    const std::size_t alignment = own_.below(8) ? 64 : c.numbers->size;
    unsigned char* const input = input_.buffer(call.send_bytes(), alignment, plain);
    call.use(input, output_.buffer(call.receive_bytes(), alignment, plain));
    make(call, calls);
    input_.check();
    output_.check();
    input_.do_something();
    output_.do_something();
  }
  const DirectCalls& served() const { return served_; }

 private:
  Case draw() {
    constexpr What kWhats[] = {What::allreduce, What::reduce, What::bcast,
                               What::reduce_scatter_block, What::allgather};
    Case c{.what = kWhats[shared_.below(std::size(kWhats))]};
    if (shared_.below(2)) c.form = static_cast<Form>(shared_.below(has_inits_ ? 3 : 2));
    c.numbers = &whole_kinds()[shared_.below(whole_kinds().size())];
    const std::uint64_t size = shared_.below(10);
    const std::size_t bytes = size == 0  ? shared_.below(20000)
                              : size < 4 ? 32768 + shared_.below(50000)
                              : size < 7 ? 65536 + shared_.below(100000)
                              : size < 9 ? 65536 + shared_.below(300000)
                                         : shared_.below(most_);
    const int parts = is_in_parts(c) ? ranks : 1;
    c.counts = {std::min(bytes, most_) / c.numbers->size / static_cast<std::size_t>(parts)};
    c.root = static_cast<int>(shared_.below(static_cast<unsigned>(ranks)));
    // Debian's MPICH crashes in its own in-place MPI_Reduce when the root is not 0.
    c.in_place = shared_.below(3) == 0 && (c.what != What::reduce || c.root == 0);
    c.seed = shared_.next();
    return c;
  }
  static bool is_in_parts(const Case& c) { return scatters(c.what) || gathers(c.what); }
  // From the sizes on from which the shipped rules take direct algorithms.
  static bool may_be_direct(const Case& c) {
    const bool late = c.what == What::reduce || gathers(c.what);
    const std::size_t bytes = c.counts[0] * c.numbers->size;
    return bytes * static_cast<unsigned>(is_in_parts(c) ? ranks : 1) >= (late ? 131072 : 65536);
  }

  void make(Call& call, std::uint64_t calls) {
    const Form form = call.of().form;
    if (form == Form::persistent) call.begin();
    for (std::uint64_t i = 0; i < calls; ++i) {
      call.fill(shared_.next());
      if (own_.below(16) == 0) usleep(static_cast<useconds_t>(own_.below(300)));
      if (form == Form::persistent) {
        call.start();
      } else {
        call.begin();
      }
      if (form != Form::blocking) {
        complete(call.request);
      } else if (may_be_direct(call.of())) {
        ++served_.calls, served_.direct += !std::strcmp(path(), "direct");
      }
      call.check();
    }
  }

  void complete(MPI_Request& request) {
    int done = 0;
    for (std::uint64_t i = own_.below(4); i > 0 && !done; --i) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (own_.below(200) == 0) fork_and_end();
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  // A child while the operation is under way.
  static void fork_and_end() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x; %s", status, step_text);
  }

  Random shared_, own_;
  std::size_t most_;
  const bool has_inits_ = inits().Allreduce && inits().Reduce && inits().Bcast;
  DirectCalls served_;
  Slot input_{own_, pools()[0]}, output_{own_, pools()[1]};
};

// Why no memory is promoted here, or null.
const char* promotion_is_impossible() {
  utsname system{};
  int major = 0, minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2 ||
      major < 4 || (major == 4 && minor < 18)) {
    return "this kernel is too old";
  }
  const char* const preloads = std::getenv("LD_PRELOAD");
  if (preloads && std::strstr(preloads, "vgpreload")) return "valgrind follows memory";
  for (const char* tool : {"__asan_init", "__tsan_init"}) {
    if (dlsym(RTLD_DEFAULT, tool)) return "a sanitizer follows memory";
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) {
    return "the address space is limited";
  }
  return nullptr;
}

void print_done(const DirectCalls& served, long rounds) {
  Dl_info allocator{};
  dladdr(dlsym(RTLD_DEFAULT, "malloc"), &allocator);
  std::printf("%ld rounds; %ld of %ld calls went direct; malloc of %s\n", rounds, served.direct,
              served.calls, allocator.dli_fname);
  for (const auto& [what, times] : deeds()) std::printf("%6ld %s\n", times, what.c_str());
}

// A fork that meets much promoted memory ends promotion in its process. So the share of direct
// calls is that of the first rounds.
constexpr long kFirstRounds = 100;

void check_served(const DirectCalls& first, const DirectCalls& all, const std::string& mode) {
  const char* const reason = promotion_is_impossible();
  if (mode == "off" || reason) {
    if (reason && rank == 0) std::printf("not promoted: %s\n", reason);
    CHECK(all.direct == 0, "%ld of %ld", all.direct, all.calls);
  } else {
    const long share = mode == "eager" ? 5 : mode == "levels" && rank == 0 ? 12 : 0;
    const long least = share ? first.calls / share : 0;
    CHECK(first.direct >= least, "%ld of %ld", first.direct, first.calls);
  }
}

void run(const std::string& mode, long rounds, std::uint64_t seed, std::size_t most_bytes) {
  Breaker breaker(seed, most_bytes);
  DirectCalls first;
  long done = 0;
  for (bool failed = false; done < rounds && !failed; ++done) {
    breaker.round(done);
    if (done < kFirstRounds) first = breaker.served();
    failed = done % 16 == 15 && on_any(failures > 0);
  }
  if (rank == 0) print_done(breaker.served(), done);
  check_served(first, breaker.served(), mode);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv, MPI_THREAD_FUNNELED);
  warm_up(MPI_COMM_WORLD);
  alignas(4096) unsigned char on_stack[2][Pools::kBytes];
  unsigned char* window = nullptr;
  MPI_Win win;
  MPI_Win_allocate_shared(2 * Pools::kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (std::size_t i = 0; i < 2; ++i) {
    pools()[i] = {on_stack[i], in_data[i], in_bss[i], window + i * Pools::kBytes};
  }
  run(argc > 1 ? argv[1] : "eager", argc > 2 ? std::atol(argv[2]) : 100,
      argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1,
      argc > 4 ? std::strtoul(argv[4], nullptr, 0) : 1 << 20);
  MPI_Win_free(&win);
  return finish();
}
