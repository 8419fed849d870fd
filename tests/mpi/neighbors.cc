// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of blocks of types with gaps that the MPI carries out and Sumac packs
// (SUMAC_PACK_MESSAGES): MPI_Neighbor_alltoallw on grids and graphs, and MPI_Alltoall and
// MPI_Alltoallw where they are left to the MPI, blocking and not, against the MPI's own calls with
// the same arguments. All memory is compared, also that between the blocks, and that of neighbours
// that are not there. Arguments: rounds, the first seed, and the blocks that a rank must have
// packed at least.
#include <algorithm>
#include <vector>

#include "completion.h"
#include "mpi_faults.h"
#include "packed_messages.h"

namespace {

using namespace test;

constexpr int kUnit = 1536;  // doubles: a whole number of elements of each type
constexpr std::size_t kMemory = 3 << 20;

// The same doubles in other places.
struct BlockType {
  MPI_Datatype type;
  int doubles;        // of an element
  std::size_t first;  // bytes before the address, of negative strides
  std::size_t span;   // bytes of kUnit doubles, with those before the address
};

BlockType laid_out(MPI_Datatype type) {
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint first = std::min<MPI_Aint>(0, true_lower);
  const MPI_Aint elements = kUnit * 8 / bytes;
  const MPI_Aint end = true_lower + true_extent + (elements - 1) * extent;
  return {type, bytes / 8, static_cast<std::size_t>(-first), static_cast<std::size_t>(end - first)};
}

BlockType vector_of(int doubles, int stride) {
  MPI_Datatype type;
  MPI_Type_vector(64, doubles, stride, MPI_DOUBLE, &type);
  return laid_out(type);
}

std::vector<BlockType> make_layouts() {
  std::vector<BlockType> layouts = {laid_out([] {
    MPI_Datatype type;
    MPI_Type_dup(MPI_DOUBLE, &type);
    return type;
  }())};
  for (const int doubles : {1, 2, 3, 8}) layouts.push_back(vector_of(doubles, doubles + 2));
  layouts.push_back(vector_of(2, -3));
  MPI_Datatype type, resized;
  const int lengths[] = {1, 4, 3}, places[] = {9, 0, 5};
  MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_create_resized(type, 0, 11 * 8, &resized);
  MPI_Type_free(&type);
  layouts.push_back(laid_out(resized));
  return layouts;
}

// Has the MPI pack so much of each that Sumac knows it.
void make_known(const std::vector<BlockType>& layouts) {
  std::vector<char> memory(kMemory), bytes(kUnit * 8);
  for (const BlockType& layout : layouts) {
    for (int i = 0; i < 3; ++i) {
      int position = 0;
      MPI_Pack(memory.data() + kMemory / 2, kUnit / layout.doubles, layout.type, bytes.data(),
               kUnit * 8, &position, MPI_COMM_WORLD);
    }
  }
}

// One side of a call: its lists, and memory for it.
struct Blocks {
  std::vector<int> counts, places;
  std::vector<MPI_Aint> far_places;
  std::vector<MPI_Datatype> types;
  std::vector<char> memory = std::vector<char>(kMemory);

  // `units`: kUnit doubles each, in a layout of its own. MPI_Alltoall's blocks adjoin.
  void add(const BlockType& layout, int units, std::size_t gap) {
    const std::size_t place = end_ + gap + layout.first;
    counts.push_back(units * kUnit / layout.doubles);
    places.push_back(static_cast<int>(place));
    far_places.push_back(static_cast<MPI_Aint>(place));
    types.push_back(layout.type);
    end_ += gap + static_cast<std::size_t>(units) * (layout.span + 64);
    CHECK(end_ <= kMemory);
  }

 private:
  std::size_t end_ = 0;
};

enum class Function { neighbors, alltoallw, alltoall, count };
constexpr const char* kNames[] = {"Neighbor_alltoallw", "Alltoallw", "Alltoall"};

struct Made {
  Function function;
  bool begins;  // nonblocking
  MPI_Comm comm;
  Blocks in, out;
};

// Makes the call, or the MPI's own blocking one, to receive into `memory`.
int make(bool native, Made& made, std::vector<char>& memory, MPI_Request* request) {
  const Form form = made.begins && !native ? Form::nonblocking : Form::blocking;
  Blocks &in = made.in, &out = made.out;
  const auto with_places = [&](const auto& from, const auto& into) {
    return call_in(native, kNames[static_cast<int>(made.function)], form, made.comm, request,
                   in.memory.data(), in.counts.data(), from.data(), in.types.data(), memory.data(),
                   out.counts.data(), into.data(), out.types.data());
  };
  if (made.function == Function::neighbors) return with_places(in.far_places, out.far_places);
  if (made.function == Function::alltoallw) return with_places(in.places, out.places);
  return call_in(native, "Alltoall", form, made.comm, request, in.memory.data() + in.places[0],
                 in.counts[0], in.types[0], memory.data() + out.places[0], out.counts[0],
                 out.types[0]);
}

// An exchange under way, completed in any way. All memory is compared afterwards.
class Started : public Work {
 public:
  void ended(const char*) override {}
};

// A communicator, and how many neighbours this rank gets from and gives to.
struct Topology {
  MPI_Comm comm;
  int in, out;
  bool begins = true;  // also in nonblocking calls
};

Topology grid(int dimensions, bool closed) {
  std::vector<int> lengths(static_cast<std::size_t>(dimensions));
  const std::vector<int> periods(lengths.size(), closed);
  MPI_Dims_create(ranks, dimensions, lengths.data());
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, lengths.data(), periods.data(), 0, &comm);
  return {comm, 2 * dimensions, 2 * dimensions, !closed || kBeginsOnClosedGrids};
}

// Each rank and the next one, in MPI_Graph_create's form.
Topology ring() {
  std::vector<int> ends, edges;
  for (int r = 0; r < ranks; ++r) {
    edges.insert(edges.end(), {(r + 1) % ranks, (r + ranks - 1) % ranks});
    ends.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends.data(), edges.data(), 0, &comm);
  return {comm, 2, 2};
}

// Edges anywhere, some of them twice or from a rank to itself; or from each rank to all others.
// With weights or without.
Topology web(std::uint64_t seed, bool weighted) {
  std::vector<int> from, to;
  Random random(seed);
  const auto any = [&] { return static_cast<int>(random.below(static_cast<unsigned>(ranks))); };
  for (int e = 0; e < 3 * ranks; ++e) {
    const int source = any(), target = any();
    if (!kHasIrregularGraphs) continue;
    if (target == rank) from.push_back(source);
    if (source == rank) to.push_back(target);
  }
  for (int d = 1; d < ranks && !kHasIrregularGraphs; ++d) {
    to.push_back((rank + d) % ranks);
    from.push_back((rank + ranks - d) % ranks);
  }
  const std::vector<int> weights(static_cast<std::size_t>(3 * ranks), 1);
  MPI_Comm comm;
  const auto in = static_cast<int>(from.size()), out = static_cast<int>(to.size());
  MPI_Dist_graph_create_adjacent(
      MPI_COMM_WORLD, in, from.data(), weighted ? weights.data() : MPI_UNWEIGHTED, out, to.data(),
      weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return {comm, in, out};
}

void fill(std::vector<char>& memory, std::uint64_t seed) {
  for (std::size_t i = 0; i < memory.size(); i += 8) {
    const std::uint64_t word = mix(i + seed);
    std::memcpy(memory.data() + i, &word, 8);
  }
}

// Blocks of `units` each; MPI_Alltoall's have one layout a side.
void add_blocks(Blocks& blocks, int number, int units, bool alike,
                const std::vector<BlockType>& layouts, Random& random) {
  const auto any = [&]() -> const BlockType& { return layouts[random.below(layouts.size())]; };
  const BlockType& common = any();
  for (int i = 0; i < number; ++i) {
    const BlockType& layout = alike ? common : any();
    blocks.add(layout, units, alike && i > 0 ? 0 : 8 * random.below(5));
  }
}

void exchange(const std::vector<Topology>& topologies, const std::vector<BlockType>& layouts,
              std::uint64_t seed) {
  Random all(seed), own(seed * 1000 + static_cast<unsigned>(rank));
  Made made{};
  made.function = static_cast<Function>(all.below(static_cast<unsigned>(Function::count)));
  const auto units = static_cast<int>(all.below(5));
  const Topology& topology = topologies[all.below(topologies.size())];
  if (made.function == Function::alltoallw && !has_alltoallw(ranks)) return;
  const bool neighbors = made.function == Function::neighbors;
  made.begins = all.below(2) == 0 && (!neighbors || topology.begins);
  const bool alike = made.function == Function::alltoall;
  made.comm = neighbors ? topology.comm : MPI_COMM_WORLD;
  add_blocks(made.in, neighbors ? topology.out : ranks, units, alike, layouts, own);
  add_blocks(made.out, neighbors ? topology.in : ranks, units, alike, layouts, own);
  fill(made.in.memory, seed + static_cast<unsigned>(rank));
  fill(made.out.memory, seed + 99);
  std::vector<char> expected = made.out.memory;
  step("seed %lu: %s%s, %d units", static_cast<unsigned long>(seed), made.begins ? "I" : "",
       kNames[static_cast<int>(made.function)], units);
  make(true, made, expected, nullptr);
  Started started;
  CHECK(make(false, made, made.out.memory, &started.request) == MPI_SUCCESS);
  if (made.begins) Batch({&started}, own, true).complete();
  const auto wrong = std::mismatch(expected.begin(), expected.end(), made.out.memory.begin());
  CHECK(wrong.first == expected.end(), "seed %lu: %s%s differs at %td",
        static_cast<unsigned long>(seed), made.begins ? "I" : "",
        kNames[static_cast<int>(made.function)], wrong.first - expected.begin());
}

void test_wrong_communicator() {
  step("a communicator without a topology");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  int word = 0, count = 1;
  MPI_Aint place = 0;
  MPI_Datatype type = MPI_INT;
  const int error = MPI_Neighbor_alltoallw(&word, &count, &place, &type, &word, &count, &place,
                                           &type, MPI_COMM_WORLD);
  CHECK(error != MPI_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const unsigned long first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const long least = argc > 3 ? std::atol(argv[3]) : 0;
  std::vector<BlockType> layouts = make_layouts();
  make_known(layouts);
  std::vector<Topology> topologies = {grid(1, true), grid(2, false),    grid(2, true),
                                      ring(),        web(first, false), web(first + 1, true)};
  for (int i = 0; i < rounds; ++i) exchange(topologies, layouts, first + static_cast<unsigned>(i));
  if (kReportsMissingTopology) test_wrong_communicator();
  for (Topology& topology : topologies) MPI_Comm_free(&topology.comm);
  for (BlockType& layout : layouts) MPI_Type_free(&layout.type);
  const PackedCounts packed = messages_packed();
  CHECK(packed.sent >= least && packed.received >= least, "%ld blocks packed, %ld unpacked",
        packed.sent, packed.received);
  return finish();
}
