// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts in which every rank describes the same message by another type. The bytes between the
// elements must not change.
#include "cases.h"

namespace {

using namespace test;

// A type of as many ints as it has offsets, which are in ints.
LayoutPointer layout(const char* name, MPI_Datatype type, std::vector<MPI_Aint> offsets,
                     MPI_Aint extent = 0) {
  for (MPI_Aint& offset : offsets) offset *= static_cast<MPI_Aint>(sizeof(int));
  return std::make_shared<Layout>(name, type, std::move(offsets), extent, true);
}

template <class At>
std::vector<MPI_Aint> offsets_of(int n, At at) {
  std::vector<MPI_Aint> all;
  for (int k = 0; k < n; ++k) all.push_back(at(k));
  return all;
}

LayoutPointer contiguous(int n) {
  MPI_Datatype type;
  MPI_Type_contiguous(n, MPI_INT, &type);
  return layout("contiguous ", type, offsets_of(n, [](int k) { return k; }), 4 * n);
}

LayoutPointer structure() {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {4, 12};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Datatype inner, type;
  MPI_Type_create_struct(2, lengths, places, types, &inner);
  MPI_Type_create_resized(inner, 0, 20, &type);
  MPI_Type_free(&inner);
  return layout("struct of ", type, {1, 3}, 20);
}

LayoutPointer resized() {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, -8, 16, &type);
  return layout("shifted ", type, {0}, 16);
}

// The integers in memory are in another order than in the message.
LayoutPointer permuted(int n) {
  const std::vector<MPI_Aint> offsets = offsets_of(n, [n](int k) { return 2 * (k * 7 % n); });
  std::vector<MPI_Aint> places;
  for (const MPI_Aint offset : offsets) places.push_back(4 * offset);
  const std::vector<int> lengths(offsets.size(), 1);
  MPI_Datatype type;
  MPI_Type_create_hindexed(n, lengths.data(), places.data(), MPI_INT, &type);
  return layout("permuted ", type, offsets);
}

LayoutPointer backwards(int n) {
  MPI_Datatype type;
  MPI_Type_create_hvector(n, 1, -4, MPI_INT, &type);
  return layout("backwards ", type, offsets_of(n, [](int k) { return -k; }));
}

LayoutPointer duplicate() {
  MPI_Datatype type;
  MPI_Type_dup(MPI_INT, &type);
  return layout("duplicate ", type, {0}, 4);
}

// The ways to describe n integers: a few elements of a large type on some ranks, many of a small
// one on others.
struct Way {
  LayoutPointer layout;
  bool absolute = false;
};
std::vector<Way> ways(int n) {
  return {{plain(ints())},
          {contiguous(n)},
          {blocks("vector of ", ints(), n, 1, 3)},
          {structure()},
          {permuted(n)},
          {resized()},
          {contiguous(n / 4)},
          {permuted(n), true},
          {backwards(n)},
          {duplicate()},
          {blocks("vectors of ", ints(), n / 4, 2, 3)}};
}

using Contiguous = int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*);
using Vector = int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);

// Types made with large counts, for which MPI_Type_get_envelope returns an error. Not every MPI has
// them.
void large_counts() {
  const auto contiguous = in_sumac<Contiguous>("MPI_Type_contiguous_c");
  const auto vector = in_sumac<Vector>("MPI_Type_vector_c");
  if (!contiguous || !vector) return;
  // There a nonblocking call may be the MPI's.
  const bool over_levels = goes_over_levels(MPI_COMM_WORLD);
  for (const int blocks : {1, 3, 200, 5000}) {
    for (const int stride : {2, 3}) {
      MPI_Datatype pair, row, twice, type;
      contiguous(2, MPI_INT, &pair);
      vector(blocks, 2, stride, MPI_INT, &row);
      MPI_Type_create_resized(row, 0, blocks * stride * static_cast<int>(sizeof(int)), &type);
      contiguous(blocks, pair, &twice);
      for (MPI_Datatype* made : {&pair, &row}) MPI_Type_free(made);
      const auto pairs = [](int k, int apart) { return k / 2 * apart + k % 2; };
      const auto apart = offsets_of(2 * blocks, [&](int k) { return pairs(k, stride); });
      const auto adjoining = offsets_of(2 * blocks, [&](int k) { return pairs(k, 2); });
      for (const LayoutPointer& one : {layout("vectors ", type, apart, 4 * blocks * stride),
                                       layout("pairs ", twice, adjoining, 8 * blocks)}) {
        for (const Form form : {Form::blocking, Form::nonblocking}) {
          run({.what = What::bcast,
               .counts = {4 * static_cast<std::size_t>(blocks)},
               .root = blocks % ranks,
               .form = form,
               .gets = {one}},
              world(), over_levels ? Served::anyhow : Served::by_sumac);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  // Multiples of 4, but not of 7, so that k * 7 % n is a permutation.
  for (int n : {4, 16, 100, 2048, 8192, 20000, 100004}) {
    const std::vector<Way> all = ways(n);
    const int last = static_cast<int>(all.size());
    for (int first = 0; first < last; ++first) {
      // The way changes by more than one from rank to rank, so that each way is combined with
      // several others.
      const Way& way = all[static_cast<std::size_t>((first + rank * (1 + first % 3)) % last)];
      run({.what = What::bcast,
           .counts = {static_cast<std::size_t>(n)},
           .root = first % ranks,
           .seed = static_cast<std::uint64_t>(first),
           .gets = {way.layout},
           .absolute = way.absolute},
          world(), Served::by_sumac);
    }
  }
  large_counts();
  return finish();
}
