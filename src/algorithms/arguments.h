// SPDX-License-Identifier: BSD-3-Clause
// Algorithms get these arguments. They are plain values, the same on all ranks except for
// addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "algorithms/bytes.h"
#include "algorithms/chunks.h"
#include "algorithms/refusals.h"
#include "base/algorithm.h"
#include "base/cpu.h"
#include "base/fold_order.h"
#include "kernels/reduce.h"
#include "transport/p2p/messages.h"
#include "transport/peer_memory.h"

namespace sumac {

// This fold uses the program's own operation, whose function is called through the MPI.
class UserFold {
 public:
  // Returns rank r's elements, valid until the next call. They are copied before the function sees
  // them, since it may write its operands.
  using Source = const std::byte* (*)(const void* context, int rank);

  // Computes output[i] = (source(0)[i] op source(1)[i]) op ... for i < count, in the calling
  // thread. `output` may be exactly one of the sources.
  virtual void fold(std::byte* output, int ranks, std::size_t count, Source source,
                    const void* context) = 0;

 protected:
  ~UserFold() = default;
};

struct ReduceArguments {
  const std::byte* input = nullptr;  // equals output when in place
  std::byte* output = nullptr;       // reduce: significant at the root only, else null
  std::size_t count = 0;             // elements
  std::size_t element = 0;           // bytes of one element
  ReduceFn kernel = nullptr;         // folds, unless `user` is set
  int root = 0;                      // reduce only
  // The program's own operation. Only the algorithms over lines and slots, in which each rank folds
  // for itself, take it: elements are then of any size, packed. Vectors are cut at multiples of
  // `unit` bytes, whole elements.
  UserFold* user = nullptr;
  std::size_t unit = kCacheLine;
  int radix = 2;  // radix of a tree

  std::size_t bytes() const { return count * element; }
};

// Folds `n` elements of the ranks from `begin` to `end` one after another, in as many passes as a
// kernel needs, through `partial`. The last pass stores the result in `to`.
template <class SourceOf>
void fold_run(ReduceFn kernel, std::byte* to, std::byte* partial, int begin, int end, std::size_t n,
              SourceOf source) {
  const void* sources[kMaxSources];
  for (int r = begin; r < end;) {
    int taken = 0;
    if (r > begin) sources[taken++] = partial;
    while (taken < kMaxSources && r < end) sources[taken++] = source(r++);
    kernel(r < end ? partial : to, sources, taken, n);
  }
}

// Folds more ranks than a kernel takes, block by block through buffers, since output may be a later
// source. The function is not inline, for the sake of its callers' frames.
template <class SourceOf>
[[gnu::noinline]] void fold_many(ReduceFn kernel, std::byte* output, FoldOrder order,
                                 std::size_t count, std::size_t element, SourceOf source) {
  alignas(kCacheLine) std::byte memory[2048];
  const std::size_t half = order.has_runs() ? sizeof memory / 2 : 0;
  std::byte *const all = memory, *const of_run = memory + half;
  const std::size_t block = (sizeof memory - half) / element;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t n = std::min(block, count - first);
    const auto block_of = [&](int r) { return source(r) + first * element; };
    std::byte* const to = output + first * element;
    for (int i = 0; i < order.runs(); ++i) {
      const int begin = order.first_of(i), end = begin + order.length_of(i);
      std::byte* const result = !order.has_runs() ? to : i == 0 ? all : of_run;
      fold_run(kernel, result, of_run, begin, end, n, block_of);
      const void* const both[] = {all, of_run};
      if (i > 0) kernel(i + 1 < order.runs() ? all : to, both, 2, n);
    }
  }
}

// Computes output[i] = (source(0)[i] op source(1)[i]) op ... for i < count, in this order of the
// ranks. output may be exactly one of the sources. `source(r)` returns the address of rank r's
// elements; those of kMaxSources consecutive ranks are used together.
template <class SourceOf>
void fold(ReduceFn kernel, std::byte* output, FoldOrder order, std::size_t count,
          std::size_t element, SourceOf source) {
  if (order.ranks > kMaxSources) return fold_many(kernel, output, order, count, element, source);
  const void* sources[kMaxSources];
  for (int r = 0; r < order.ranks; ++r) sources[r] = source(r);
  kernel(output, sources, order.ranks, count);
}

// Does the same for elements of `args`, by its kernel. The program's function folds one rank after
// another.
template <class SourceOf>
void fold(const ReduceArguments& args, std::byte* output, FoldOrder order, std::size_t count,
          SourceOf source) {
  if (!args.user) [[likely]] {
    return fold(args.kernel, output, order, count, args.element, source);
  }
  args.user->fold(
      output, order.ranks, count,
      [](const void* context, int rank) { return (*static_cast<const SourceOf*>(context))(rank); },
      &source);
}

struct BcastArguments {
  Bytes buffer;  // the same bytes in the same order on all ranks
  std::size_t bytes = 0;
  int root = 0;
  int radix = 2;  // radix of a tree
};

// In this reduction each rank gets a part of the result. `count` is that of the whole vector, and
// `output` has room for the rank's part: it is the rank's own part of the input, or apart from the
// input, which stays as it is.
struct ReduceScatterArguments : ReduceArguments {
  Parts parts;  // in the order of ranks, one behind the other
};

struct AllgatherArguments {
  ConstBytes input;  // the rank's part; in place, it lies in the output
  Bytes output;
  Parts parts;  // parts of the output; all ranks agree on their sizes, not on their offsets
  int radix = 2;

  void keep_own(int rank) const {
    const Part own = parts[rank];
    if (output + own.offset != input) copy_bytes(input, output + own.offset, own.bytes);
  }
  // Copies parts to their places. In `vector` they lie one behind the other, beginning with the
  // part of rank `first`.
  void take_from(const std::byte* vector, int first) const {
    for (int i = 0; i < parts.ranks; ++i) {
      const Part part = parts[(first + i) % parts.ranks];
      (output + part.offset).copy_from(vector, part.bytes);
      vector += part.bytes;
    }
  }
};

// In this call each rank gives each other rank a block. Input and output are apart.
struct AlltoallArguments {
  ConstBytes input;
  Bytes output;
  // The blocks of the input and of the output, by rank. In an alltoall all blocks have one size; in
  // an alltoallv a rank knows only the sizes of those that it gives or gets.
  Parts sent, received;
  Part* blocks = nullptr;  // [ranks] memory for an alltoallv to use

  void keep_own(int rank) const {
    copy_bytes(input + sent[rank].offset, output + received[rank].offset, sent[rank].bytes);
  }
};

inline std::size_t bytes_of(const ReduceArguments& args) { return args.bytes(); }
inline std::size_t bytes_of(const BcastArguments& args) { return args.bytes; }
inline std::size_t bytes_of(const AllgatherArguments& args) { return args.parts.bytes; }
inline std::size_t bytes_of(const AlltoallArguments& args) { return args.sent.bytes; }

// The arguments of a call. They have the member that the collective's row names.
struct CallArguments {
  CallArguments() : reduction() {}
  CallArguments(const ReduceArguments& args) : reduction(args) {}
  CallArguments(const BcastArguments& args) : bcast(args) {}
  CallArguments(const ReduceScatterArguments& args) : reduce_scatter(args) {}
  CallArguments(const AllgatherArguments& args) : allgather(args) {}
  CallArguments(const AlltoallArguments& args) : alltoall(args) {}

  union {
    ReduceArguments reduction;  // also of a barrier: over levels it reduces one word
    BcastArguments bcast;
    ReduceScatterArguments reduce_scatter;
    AllgatherArguments allgather;
    AlltoallArguments alltoall;
  };

  // Calls visit() with the member that the collective's algorithms take.
  template <class Visit>
  auto visit(Collective collective, const Visit& visit) const {
    switch (info_of(collective).arguments) {
      case ArgumentKind::reduction:
        break;
      case ArgumentKind::bcast:
        return visit(bcast);
      case ArgumentKind::reduce_scatter:
        return visit(reduce_scatter);
      case ArgumentKind::allgather:
        return visit(allgather);
      case ArgumentKind::alltoall:
        return visit(alltoall);
    }
    return visit(reduction);
  }

  // The bytes of the whole vector, as far as all ranks know them.
  std::size_t bytes(Collective collective) const {
    const CollectiveInfo& info = info_of(collective);
    if (!info.has_data || !info.is_sized) return 0;
    return visit(collective, [](const auto& member) { return bytes_of(member); });
  }

  // The root of a collective that has one; otherwise 0.
  int root(Collective collective) const {
    if (!info_of(collective).has_root) return 0;
    return visit(collective, [](const auto& member) {
      if constexpr (requires { member.root; }) {
        return member.root;
      } else {
        return 0;
      }
    });
  }
};

// For each collective, this is the member of CallArguments that its algorithms take.
template <Collective>
inline constexpr auto kArguments = nullptr;
#define SUMAC_COLLECTIVE(name, mpi, root, result, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                  \
  template <>                                                                                    \
  inline constexpr auto kArguments<Collective::name> = &CallArguments::arguments;
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE

template <Collective collective>
using ArgumentsOf =
    std::remove_cvref_t<decltype(std::declval<CallArguments>().*kArguments<collective>)>;

// Algorithms by single copy access other ranks' buffers by this.
struct SingleCopy {
  PeerMemory* memory = nullptr;
  std::byte* scratch = nullptr;  // this rank's own; the same size on all ranks
  std::size_t scratch_bytes = 0;
  Refusals* refusals = nullptr;  // notes the transfers that are refused
  // True if transfers have been refused before. Algorithms in which each rank decides for itself
  // should then use slots.
  bool avoid = false;
  // True within a direct algorithm: the ranks have shown that their buffers are mapped for the
  // others, so that memory->view() may see them.
  bool mapped = false;
  // True if stores into memory that is seen in place go past the caches, because that was measured
  // to be better: between far ranks of some machines a line is sooner fetched from memory than
  // taken from the owner's cache and given back (64 KiB to 1 MiB between two far cores of a Zen 4:
  // 1.6 to 2 times as fast; on Granite Rapids a broadcast of 64 KiB 0.65 times).
  bool streams = false;
};

// The call goes direct if all ranks of the group can, which they find out while they are in it.
struct DirectTry {
  Algorithm algorithm = Algorithm::native;  // needs maps; native: nothing is tried
  Algorithm otherwise = Algorithm::native;  // used if not all ranks can
  std::size_t page = kPage;                 // page size of the memory of all ranks
  bool mapped = false;                      // all whole pages of this rank's buffers are mapped
  bool went = false;                        // result, the same on all ranks: the call went direct

  bool wanted() const { return algorithm != Algorithm::native; }
};

// The ranks find this out when they go direct. Bytes of the vectors outside of `inside`, less than
// a page and a cache line at each end, lie in pages that some rank could not map.
struct Direct {
  std::uint64_t position = 0;  // buffers were shown at it; not finished yet
  std::size_t page = kPage;
  Part inside = {0, 0};
};

}  // namespace sumac
