// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts and all-allgathers of random datatypes, in all forms. Where the bytes of a type lie is
// asked of the MPI's own MPI_Pack. Some ranks describe the data by the type, others take the same
// bytes as MPI_PACKED. Arguments: how many types, and the first seed.
#include <algorithm>

#include "cases.h"
#include "mpi_faults.h"
#include "random_types.h"

namespace {

using namespace test;

constexpr MPI_Aint kRoom = 1 << 20;  // bytes before and behind the address that may be used
constexpr int kLeastKnown = 8192;    // Sumac reads a type once the MPI has packed so much of it
constexpr int kMostBytes = 160 << 10;

int size_of(MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return bytes;
}

// False where elements would need more memory than tests use.
bool has_room(MPI_Datatype type, MPI_Aint count) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint last = (count - 1) * extent;
  return extent >= 0 && true_lower > -kRoom && last + true_lower + true_extent < kRoom;
}

// Where each packed byte of `count` elements lies: what the MPI packs of memory whose bytes are
// those of their own places.
std::vector<MPI_Aint> places_of(MPI_Datatype type, int count) {
  const int bytes = size_of(type) * count;
  std::vector<MPI_Aint> places(static_cast<std::size_t>(bytes), -kRoom);
  static std::vector<unsigned char> memory(2 * kRoom);
  std::vector<unsigned char> packed(places.size());
  for (int shift = 0; shift < 24; shift += 8) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<unsigned char>(i >> shift);
    }
    int position = 0;
    native().Pack(memory.data() + kRoom, count, type, packed.data(), bytes, &position,
                  MPI_COMM_SELF);
    for (std::size_t k = 0; k < places.size(); ++k) places[k] += MPI_Aint{packed[k]} << shift;
  }
  return places;
}

// True where no byte of so many elements stands for two.
bool is_apart(const Layout& layout, std::size_t count) {
  std::vector<MPI_Aint> places(count * layout.group());
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = layout.at(k);
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

// False where the MPI packs several elements otherwise than one after another, as Open MPI 4 does
// where a structure has parts without data: its own results then differ with the count.
bool is_packed_in_order(const Layout& layout) {
  if (!has_room(layout.type, 3)) return true;
  const std::vector<MPI_Aint> places = places_of(layout.type, 3);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] != layout.at(k)) return false;
  }
  return true;
}

long broadcasts = 0, allgathers = 0, served = 0;

// A layout of the same places and a type of its own, of which the MPI packs so much that Sumac
// knows it from now on. On odd ranks, in every other test, the data are bytes that adjoin.
LayoutPointer known_copy(const Layout& of, std::size_t count, bool as_bytes) {
  if (as_bytes) {
    return std::make_shared<Layout>("packed ", MPI_PACKED, std::vector<MPI_Aint>{0}, 1, false);
  }
  static std::vector<char> memory(2 * kRoom);
  MPI_Datatype type;
  MPI_Type_dup(of.type, &type);
  const int bytes = static_cast<int>(count * of.group());
  std::vector<char> packed(static_cast<std::size_t>(bytes));
  for (int done = 0; done < kLeastKnown && bytes > 0; done += bytes) {
    int position = 0;
    MPI_Pack(memory.data() + kRoom, static_cast<int>(count), type, packed.data(), bytes, &position,
             MPI_COMM_WORLD);
  }
  return std::make_shared<Layout>(of.name, type, of.offsets, of.extent, true);
}

void make(const Case& c, long& made) {
  Call call(c);
  step("%s", call.text().c_str());
  CHECK(call.begin() == MPI_SUCCESS, "%s", step_text);
  served += was_taken();
  call.start();
  call.wait();
  call.check();
  ++made;
}

void broadcast(const Layout& layout, std::size_t count, Case c) {
  if (!has_room(layout.type, static_cast<MPI_Aint>(count)) || !is_apart(layout, count)) return;
  c.what = What::bcast;
  c.root = static_cast<int>(c.seed % static_cast<unsigned>(ranks));
  c.counts = {count * layout.group()};
  c.gets = {known_copy(layout, count, c.seed % 2 == 1 && rank != c.root && rank % 2 == 1)};
  make(c, broadcasts);
}

// Parts of one length and adjoining, or of several lengths and in some order.
void gather(const Layout& layout, std::size_t count, Case c, TypeRandom& random) {
  const bool listed = random() % 2 == 0;
  c.what = listed ? What::allgatherv : What::allgather;
  c.in_place = random() % 3 == 0;
  if (c.seed % 3 == 0) c.apart = c.seed + static_cast<std::uint64_t>(rank);
  c.counts.assign(listed ? static_cast<std::size_t>(ranks) : 1, count * layout.group());
  std::size_t reach = 4 + 4 * static_cast<std::size_t>(ranks);  // elements, with gaps
  for (std::size_t& part : c.counts) {
    const int elements = static_cast<int>(count);
    if (listed) part = static_cast<std::size_t>(between(random, 0, 2 * elements)) * layout.group();
    reach += part / layout.group() * (listed ? 1 : static_cast<std::size_t>(ranks));
  }
  if (!has_room(layout.type, static_cast<MPI_Aint>(reach)) || !is_apart(layout, reach)) return;
  c.gives = {known_copy(layout, count, c.seed % 2 == 1 && rank % 2 == 1)};
  c.gets = {known_copy(layout, count, false)};
  make(c, allgathers);
}

void test_random(unsigned long seed) {
  TypeRandom random(seed);
  const Made made = random_type(random, between(random, 1, 3));
  if (made.type == MPI_DATATYPE_NULL) return;  // the MPI's constructors refuse some
  MPI_Datatype type = made.type;
  MPI_Type_commit(&type);
  const int bytes = size_of(type);
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  const bool fits = bytes > 0 && bytes < kMostBytes && has_room(type, 1);
  const Layout layout(made.text, type, fits ? places_of(type, 1) : std::vector<MPI_Aint>(), extent,
                      made.derived);
  if (!fits || !is_packed_in_order(layout)) return;
  constexpr int kSizes[] = {0, 100, 2072, 5000, 40000, kMostBytes};
  const int most = kSizes[random() % std::size(kSizes)];
  const int count = std::max(1, between(random, most / 2, most) / bytes);
  const Case c{
      .numbers = &test::bytes(), .form = kForms[random() % 3], .seed = seed, .frees_types = true};
  broadcast(layout, static_cast<std::size_t>(count), c);
  gather(layout, static_cast<std::size_t>(std::max(1, count / ranks)), c, random);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  // Of types that cannot be made.
  return_errors();
  warm_up(MPI_COMM_WORLD);
  const auto types = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300;
  const auto first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  for (unsigned long seed = first; seed < first + types; ++seed) test_random(seed);
  step("the end");
  CHECK(served > 0 && broadcasts > 0 && allgathers > 0, "%ld served", served);
  if (rank == 0) {
    std::printf("%ld broadcasts and %ld all-allgathers of random types, %ld served\n", broadcasts,
                allgathers, served);
  }
  return finish();
}
