// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack of random datatypes, byte for byte as the MPI's own. Arguments: how many
// types, and the first seed.
#include <vector>

#include "check.h"
#include "data.h"
#include "mpi_faults.h"
#include "random_types.h"
#include "type_places.h"

namespace {

using namespace test;

constexpr int kLeastNoted = 8192;
constexpr int kMostBytes = 1 << 16;

long compared = 0, served = 0;

void compare(Made& made, int count, unsigned long seed, bool bottom) {
  static std::vector<char> memory(2 * kRoom), ours(2 * kRoom), theirs(2 * kRoom);
  int element = 0;
  MPI_Type_size(made.type, &element);
  const int bytes = element * count;
  if (memory[0] == memory[1]) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(mix(i) >> 9);
  }
  // With MPI_BOTTOM, places are addresses.
  MPI_Datatype type = made.type, absolute = MPI_DATATYPE_NULL;
  char* origin = memory.data() + kRoom;
  if (bottom) {
    const int one = count;
    MPI_Aint address = 0;
    MPI_Get_address(origin, &address);
    MPI_Type_create_hindexed(1, &one, &address, made.type, &absolute);
    MPI_Type_commit(&absolute);
  }
  std::vector<char> packed(static_cast<std::size_t>(bytes) + 24, 7), expected = packed;
  // A type is read when it comes for the second time.
  for (int turn = 0; turn < 3; ++turn) {
    leave_path();
    int position = turn, end = turn;
    std::fill(packed.begin(), packed.end(), 7);
    std::fill(expected.begin(), expected.end(), 7);
    const int size = static_cast<int>(packed.size());
    if (bottom) {
      native().Pack(MPI_BOTTOM, 1, absolute, expected.data(), size, &end, MPI_COMM_WORLD);
      MPI_Pack(MPI_BOTTOM, 1, absolute, packed.data(), size, &position, MPI_COMM_WORLD);
    } else {
      native().Pack(origin, count, type, expected.data(), size, &end, MPI_COMM_WORLD);
      MPI_Pack(origin, count, type, packed.data(), size, &position, MPI_COMM_WORLD);
    }
    CHECK(position == end, "seed %lu: %s: %d, not %d", seed, made.text.c_str(), position, end);
    if (turn == 2 && std::strcmp(path(), "local") == 0) ++served;
    CHECK(packed == expected, "seed %lu: %d of %s packed", seed, count, made.text.c_str());
  }
  if (!overlaps(bytes, type, count)) {
    ours = theirs = memory;
    for (int turn = 0; turn < 2; ++turn) {
      int position = 2, end = 2;
      const int size = static_cast<int>(packed.size());
      MPI_Unpack(packed.data(), size, &position, ours.data() + kRoom, count, type, MPI_COMM_WORLD);
      native().Unpack(packed.data(), size, &end, theirs.data() + kRoom, count, type,
                      MPI_COMM_WORLD);
      CHECK(position == end, "seed %lu: %s: %d, not %d", seed, made.text.c_str(), position, end);
      CHECK(ours == theirs, "seed %lu: %d of %s unpacked", seed, count, made.text.c_str());
    }
  }
  if (bottom) MPI_Type_free(&absolute);
}

void compare_random(unsigned long seed) {
  TypeRandom random(seed);
  Made made = random_type(random, between(random, 1, 4));
  step("seed %lu: %.100s", seed, made.text.c_str());
  int bytes = 0;
  if (made.type == MPI_DATATYPE_NULL) return;  // the MPI's constructors refuse some
  MPI_Type_commit(&made.type);
  MPI_Type_size(made.type, &bytes);
  // Few bytes are the MPI's; most comparisons are of more.
  int count = between(random, 1, 3);
  if (bytes > 0 && random() % 4 != 0) count += kLeastNoted / bytes;
  if (bytes > 0 && bytes * count <= kMostBytes && has_room(made.type, count)) {
    compare(made, count, seed, seed % 5 == 0 && kPacksFromBottom);
    ++compared;
  }
  free_type(made);
}

// The MPI is to say what is wrong, and the position stays where it is.
void test_errors() {
  Columns c;
  MPI_Datatype uncommitted;
  MPI_Type_vector(c.kRows, 3, c.kRowLength, MPI_DOUBLE, &uncommitted);
  const struct {
    const char* what;
    int count;
    MPI_Datatype type;
    int size, position;
    MPI_Comm comm;
  } rows[] = {
      {"nothing wrong", 1, c.type, c.kBytes, 0, MPI_COMM_WORLD},
      {"no room", 1, c.type, c.kBytes - 1, 0, MPI_COMM_WORLD},
      {"no room behind the position", 1, c.type, c.kBytes, 1, MPI_COMM_WORLD},
      {"no room for two", 2, c.type, c.kBytes + 50, 0, MPI_COMM_WORLD},
      {"negative count", -1, c.type, c.kBytes, 0, MPI_COMM_WORLD},
      {"nothing", 0, c.type, c.kBytes, 3, MPI_COMM_WORLD},
      {"not committed", 1, uncommitted, c.kBytes, 0, MPI_COMM_WORLD},
      {"no type", 1, MPI_DATATYPE_NULL, c.kBytes, 0, MPI_COMM_WORLD},
      {"no communicator", 1, c.type, c.kBytes, 0, MPI_COMM_NULL},
  };
  for (const auto& row : rows) {
    step("errors: %s", row.what);
    int ours = row.position, theirs = row.position;
    const int error =
        MPI_Pack(c.matrix.data(), row.count, row.type, c.packed.data(), row.size, &ours, row.comm);
    const int expected = native().Pack(c.matrix.data(), row.count, row.type, c.packed.data(),
                                       row.size, &theirs, row.comm);
    CHECK(class_of(error) == class_of(expected), "%s: %d, not %d", row.what, error, expected);
    CHECK(ours == theirs, "%s: position %d, not %d", row.what, ours, theirs);
    ours = theirs = row.position;
    const int unpacked = MPI_Unpack(c.packed.data(), row.size, &ours, c.matrix.data(), row.count,
                                    row.type, row.comm);
    const int should = native().Unpack(c.packed.data(), row.size, &theirs, c.matrix.data(),
                                       row.count, row.type, row.comm);
    CHECK(class_of(unpacked) == class_of(should), "%s: %d, not %d", row.what, unpacked, should);
    CHECK(ours == theirs, "%s: position %d, not %d", row.what, ours, theirs);
  }
  MPI_Type_free(&uncommitted);
}

// Types that are made and freed, so that their handles come again for others.
void test_freed_types() {
  std::vector<char> memory(100000), packed(20000), expected(20000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(mix(i));
  for (int turn = 0; turn < 300; ++turn) {
    step("freed types, turn %d", turn);
    MPI_Datatype type;
    const int block = 1 + turn % 5, blocks = 10000 / block;
    MPI_Type_vector(blocks, block, block + 1 + turn % 3, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 3; ++i) {
      int position = 0, end = 0;
      MPI_Pack(memory.data(), 1, type, packed.data(), 20000, &position, MPI_COMM_SELF);
      native().Pack(memory.data(), 1, type, expected.data(), 20000, &end, MPI_COMM_SELF);
      CHECK(position == end && packed == expected, "turn %d", turn);
    }
    MPI_Type_free(&type);
  }
}

// The forms with large counts, which every program finds.
void test_large_counts() {
  using Pack =
      int (*)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  using Unpack =
      int (*)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
  step("large counts");
  Columns c;
  const auto pack = in_sumac<Pack>("MPI_Pack_c");
  const auto unpack = in_sumac<Unpack>("MPI_Unpack_c");
  if (!CHECK(pack && unpack)) return;
  c.number();
  leave_path();
  MPI_Count position = 8;
  pack(c.matrix.data(), 1, c.type, c.packed.data(), c.kBytes + 8, &position, MPI_COMM_WORLD);
  CHECK(position == c.kBytes + 8);
  CHECK(std::strcmp(path(), "local") == 0, "'%s'", path());
  std::vector<double> copy(c.matrix.size(), -1);
  position = 8;
  unpack(c.packed.data(), c.kBytes + 8, &position, copy.data(), 1, c.type, MPI_COMM_WORLD);
  CHECK(position == c.kBytes + 8);
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const double expected = c.is_data(i) ? static_cast<double>(i) : -1;
    CHECK(copy[i] == expected, "%zu: %g", i, copy[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int types = argc > 1 ? std::atoi(argv[1]) : 1000;
  const unsigned long first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  return_errors();
  for (int i = 0; i < types; ++i) compare_random(first + static_cast<unsigned long>(i));
  if (!is_intel()) test_errors();
  test_freed_types();
  test_large_counts();
  CHECK(compared > types / 2, "%ld of %d", compared, types);
  CHECK(served > types / 5, "%ld of %d", served, types);
  if (rank == 0) std::printf("%ld types compared, %ld served\n", compared, served);
  return finish();
}
