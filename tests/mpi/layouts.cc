// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts and all-gathers of random datatypes, in all forms. The oracle packs and unpacks by the
// MPI's own functions. Some ranks describe the data by the type, others take the same bytes as
// MPI_PACKED. Arguments: how many types, and the first seed.
#include <algorithm>
#include <string>
#include <vector>

#include "check.h"
#include "data.h"
#include "forms.h"
#include "mpi_faults.h"
#include "random_types.h"

namespace {

using namespace test;

constexpr MPI_Aint kRoom = 1 << 20;  // bytes before and behind the address that may be used
constexpr int kLeastKnown = 8192;    // Sumac reads a type once the MPI has packed so much of it
constexpr int kMostBytes = 160 << 10;

decltype(&PMPI_Pack) own_pack;
decltype(&PMPI_Unpack) own_unpack;

// A rank's memory around the address that the calls are given.
struct Memory {
  std::vector<char> bytes = std::vector<char>(2 * kRoom);
  char* at() { return bytes.data() + kRoom; }
  void fill(unsigned long seed) {
    Random random(seed);
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const std::uint64_t word = random.next();
      std::memcpy(bytes.data() + i, &word, 8);
    }
  }
};

struct Elements {
  MPI_Datatype type;
  int count;
  MPI_Aint place;  // in extents, from the address
};

struct Extent {
  MPI_Aint low, high, step;
};

Extent extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return {true_lower, true_lower + true_extent, extent};
}

bool has_room(const Elements& e) {
  const Extent extent = extent_of(e.type);
  const MPI_Aint first = e.place * extent.step, last = first + (e.count - 1) * extent.step;
  return std::min(first, last) + extent.low > -kRoom && std::max(first, last) + extent.high < kRoom;
}

int bytes_of(const Elements& e) {
  int element = 0;
  MPI_Type_size(e.type, &element);
  return element * e.count;
}

char* address_of(Memory& memory, const Elements& e) {
  return memory.at() + e.place * extent_of(e.type).step;
}

std::vector<char> packed(Memory& memory, const Elements& e) {
  std::vector<char> bytes(static_cast<std::size_t>(bytes_of(e)));
  int position = 0;
  own_pack(address_of(memory, e), e.count, e.type, bytes.data(), bytes_of(e), &position,
           MPI_COMM_SELF);
  return bytes;
}

void unpack(const std::vector<char>& bytes, Memory& memory, const Elements& e) {
  if (bytes.empty()) return;  // Open MPI refuses a null address
  int position = 0;
  own_unpack(bytes.data(), bytes_of(e), &position, address_of(memory, e), e.count, e.type,
             MPI_COMM_SELF);
}

// True where no byte is received twice.
bool is_apart(const std::vector<Elements>& parts) {
  static Memory memory;
  std::fill(memory.bytes.begin(), memory.bytes.end(), 0);
  long bytes = 0, places = 0;
  for (const Elements& e : parts) {
    unpack(std::vector<char>(static_cast<std::size_t>(bytes_of(e)), 1), memory, e);
    bytes += bytes_of(e);
  }
  for (const char byte : memory.bytes) places += byte;
  return places == bytes;
}

// False where the MPI packs several elements otherwise than one after another, as Open MPI 4 does
// where a structure has parts without data: its own results then differ with the count.
bool is_packed_in_order(const Elements& e) {
  static Memory memory;
  memory.fill(1);
  if (!has_room(e)) return true;
  std::vector<char> bytes;
  for (int i = 0; i < e.count; ++i) {
    const std::vector<char> element = packed(memory, {e.type, 1, e.place + i});
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  return bytes == packed(memory, e);
}

// Has the MPI pack so much of the type that Sumac knows it from now on.
void make_known(const Elements& e) {
  static Memory memory;
  std::vector<char> bytes(static_cast<std::size_t>(bytes_of(e)));
  for (int done = 0; done < kLeastKnown && !bytes.empty(); done += bytes_of(e)) {
    int position = 0;
    MPI_Pack(memory.at(), e.count, e.type, bytes.data(), bytes_of(e), &position, MPI_COMM_WORLD);
  }
}

long broadcasts = 0, gathers = 0, served = 0;

// The types of a call, of which nonblocking and persistent ones are freed before the call ends.
class OwnTypes {
 public:
  MPI_Datatype copy(MPI_Datatype type) {
    types_.emplace_back();
    MPI_Type_dup(type, &types_.back());
    return types_.back();
  }
  void free() {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
    types_.clear();
  }

 private:
  std::vector<MPI_Datatype> types_;
};

// Completes what call() has begun.
void end(Form form, MPI_Request& request) {
  served += was_taken();
  if (form == Form::persistent) MPI_Start(&request);
  if (form != Form::blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == Form::persistent) MPI_Request_free(&request);
}

void compare(Memory& memory, const std::vector<char>& expected, const char* what,
             unsigned long seed, const Made& made) {
  if (CHECK(memory.bytes == expected, "%s of seed %lu: %s", what, seed, made.text.c_str())) return;
  const auto differs = std::mismatch(expected.begin(), expected.end(), memory.bytes.begin());
  std::fprintf(stderr, "  first at %ld\n",
               static_cast<long>(differs.first - expected.begin()) - kRoom);
}

// On odd ranks, in every other test, the data are bytes that adjoin.
Elements described(const Elements& e, unsigned long seed, bool root) {
  if (seed % 2 == 0 || root || rank % 2 == 0) return e;
  return {MPI_PACKED, bytes_of(e), 0};
}

void broadcast(const Made& made, int count, unsigned long seed, Form form) {
  static Memory memory, roots;
  const int root = static_cast<int>(seed % static_cast<unsigned long>(ranks));
  const Elements whole{made.type, count, 0}, own = described(whole, seed, rank == root);
  if (!has_room(whole) || !is_apart({whole})) return;
  step("broadcast of seed %lu: %.90s", seed, made.text.c_str());
  roots.fill(seed);
  memory.fill(rank == root ? seed : ~seed + static_cast<unsigned long>(rank));
  std::vector<char> before = memory.bytes;
  unpack(packed(roots, whole), memory, own);
  std::vector<char> expected = memory.bytes;
  if (rank != root) memory.bytes.swap(before);
  OwnTypes types;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype type = own.type == made.type ? types.copy(made.type) : own.type;
  make_known({type, own.count, 0});
  call("Bcast", form, MPI_COMM_WORLD, &request, static_cast<void*>(memory.at()), own.count, type,
       root);
  types.free();
  end(form, request);
  compare(memory, expected, "broadcast", seed, made);
  ++broadcasts;
}

// The parts of an all-gather: of one length and adjoining, or of several lengths and in some order.
std::vector<Elements> parts_of(const Made& made, int count, unsigned long seed, bool listed) {
  TypeRandom random(seed);
  std::vector<Elements> parts;
  MPI_Aint place = listed ? between(random, -2, 2) : 0;
  for (int r = 0; r < ranks; ++r) {
    const int part = listed ? between(random, 0, 2 * count) : count;
    parts.push_back({made.type, part, place});
    place += part + (listed ? between(random, 0, 2) : 0);
  }
  if (!listed || seed % 3 != 0) return parts;
  const MPI_Aint end = place;  // the last part first
  for (Elements& e : parts) e.place = end - e.place - e.count;
  return parts;
}

void gather(const Made& made, int count, unsigned long seed, Form form, bool listed,
            bool in_place) {
  static Memory memory, theirs;
  const std::vector<Elements> parts = parts_of(made, count, seed, listed);
  if (!has_room({made.type, count, 0})) return;
  for (const Elements& e : parts) {
    if (!has_room(e) || !has_room({e.type, e.count, 0})) return;
  }
  if (!is_apart(parts)) return;
  step("all-gather of seed %lu: %.90s", seed, made.text.c_str());
  // Each rank's input lies at the address in memory of its own or, in place, at the part's.
  memory.fill(~seed + static_cast<unsigned long>(rank));
  std::vector<char> before = memory.bytes, expected;
  Memory input;
  for (int r = 0; r < ranks; ++r) {
    const Elements& part = parts[static_cast<std::size_t>(r)];
    theirs.fill(in_place ? ~seed + static_cast<unsigned long>(r)
                         : seed + 77 * static_cast<unsigned long>(r));
    if (r == rank) input.bytes = theirs.bytes;
    unpack(packed(theirs, in_place ? part : Elements{part.type, part.count, 0}), memory, part);
  }
  expected = memory.bytes;
  memory.bytes.swap(before);
  OwnTypes types;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype type = types.copy(made.type);
  make_known({type, count, 0});
  const Elements own = parts[static_cast<std::size_t>(rank)];
  Elements given = described({type, own.count, 0}, seed, false);
  std::vector<char> given_bytes;
  void* from = input.at();
  if (given.type == MPI_PACKED) {
    given_bytes = packed(input, {made.type, own.count, 0});
    from = given_bytes.data();
  }
  if (in_place) {
    from = MPI_IN_PLACE;
    given = {MPI_DATATYPE_NULL, 0, 0};
  }
  const void* const send = from;
  void* const receive = memory.at();
  std::vector<int> counts, places;
  for (const Elements& e : parts) {
    counts.push_back(e.count);
    places.push_back(static_cast<int>(e.place));
  }
  if (listed) {
    call("Allgatherv", form, MPI_COMM_WORLD, &request, send, given.count, given.type, receive,
         static_cast<const int*>(counts.data()), static_cast<const int*>(places.data()), type);
  } else {
    call("Allgather", form, MPI_COMM_WORLD, &request, send, given.count, given.type, receive, count,
         type);
  }
  types.free();
  end(form, request);
  compare(memory, expected, listed ? "all-gather of parts" : "all-gather", seed, made);
  ++gathers;
}

void test_random(unsigned long seed) {
  TypeRandom random(seed);
  Made made = random_type(random, between(random, 1, 3));
  if (made.type == MPI_DATATYPE_NULL) return;  // the MPI's constructors refuse some
  MPI_Type_commit(&made.type);
  int bytes = 0;
  MPI_Type_size(made.type, &bytes);
  if (bytes > 0 && bytes < kMostBytes && is_packed_in_order({made.type, 3, 0})) {
    constexpr int kSizes[] = {0, 100, 2072, 5000, 40000, kMostBytes};
    const int most = kSizes[random() % std::size(kSizes)];
    const int count = std::max(1, between(random, most / 2, most) / bytes);
    const Form form = kForms[random() % 3];
    broadcast(made, count, seed, form);
    const int part = std::max(1, count / ranks);
    const bool listed = random() % 2 == 0, in_place = random() % 3 == 0;
    gather(made, part, seed, form, listed, in_place);
  }
  free_type(made);
}

}  // namespace

int main(int argc, char** argv) {
  test::start(argc, argv);
  const auto find = test::in_sumac<void* (*)(const char*)>("sumac_native");
  own_pack = reinterpret_cast<decltype(own_pack)>(find("MPI_Pack"));
  own_unpack = reinterpret_cast<decltype(own_unpack)>(find("MPI_Unpack"));
  // Of types that cannot be made.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errors_return());
  test::warm_up(MPI_COMM_WORLD);
  const auto types = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300;
  const auto first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  for (unsigned long seed = first; seed < first + types; ++seed) test_random(seed);
  test::step("the end");
  CHECK(served > 0 && broadcasts > 0 && gathers > 0, "%ld served", served);
  if (test::rank == 0) {
    std::printf("%ld broadcasts and %ld all-gathers of random types, %ld served\n", broadcasts,
                gathers, served);
  }
  return test::finish();
}
