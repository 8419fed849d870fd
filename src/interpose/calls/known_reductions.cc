// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/known_reductions.h"

#include <atomic>
#include <new>

#include "interpose/calls/user_handles.h"
#include "progress/announced.h"

namespace sumac {
namespace {

struct Known {
  MPI_Datatype type;
  MPI_Op op;
  KnownReduction reduction;
};

// The first pairs are kept; entries are never freed while MPI is up.
constexpr int kPlaceBits = 6;
std::atomic<const Known*> known_pairs[1 << kPlaceBits];

std::atomic<const Known*>& place_of(MPI_Datatype type, MPI_Op op) {
  const std::uint64_t key = handle_bits(type) * 3 + handle_bits(op);
  return known_pairs[key * 0x9e3779b97f4a7c15ull >> (64 - kPlaceBits)];
}

const Known* find_known(MPI_Datatype type, MPI_Op op) {
  const Known* known = place_of(type, op).load(std::memory_order_acquire);
  return known && known->type == type && known->op == op ? known : nullptr;
}

void remember(const Known& pair) {
  if (!find_known_type(pair.type) || !find_op(pair.op)) return;  // could be freed, and come back
  const Known* empty = nullptr;
  const Known* entry = new (std::nothrow) Known(pair);
  if (!place_of(pair.type, pair.op).compare_exchange_strong(empty, entry)) delete entry;
}

const KnownReduction* find_new(MPI_Datatype type, MPI_Op op, Reason& reason) {
  static thread_local KnownReduction found;
  const Op* operation = find_any_op(op);
  const TypeInfo* info = operation ? find_any_type(type) : nullptr;
  found.kernel = info ? find_kernel(*info, *operation) : nullptr;
  reason = operation || op == MPI_OP_NULL ? Reason::no_kernel : Reason::user_op;
  if (!found.kernel) return nullptr;
  found.type = *info;
  found.op = *operation;
  found.reduces = reduces_by(*operation, info->dtype);
  found.exact = is_exact(*operation, info->dtype);
  remember({type, op, found});
  return &found;
}

}  // namespace

const KnownReduction* find_reduction(MPI_Datatype type, MPI_Op op, Reason& reason) {
  const Known* known = find_known(type, op);
  if (known) [[likely]]
    return &known->reduction;
  return find_new(type, op, reason);
}

void forget_known_reductions() {
  for (auto& place : known_pairs) delete place.exchange(nullptr);
}

}  // namespace sumac
