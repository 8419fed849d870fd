// SPDX-License-Identifier: BSD-3-Clause
// An exchange of blocks by the MPI, each of a type of its own, of which both sides may be packed.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "interpose/messages/kept_messages.h"
#include "interpose/messages/packed_blocks.h"

namespace sumac {

template <class Place>
class BlockExchange final : public Delivery {
 public:
  BlockExchange(const BlockArguments<Place>& sent, std::vector<int> to,
                const BlockArguments<Place>& received, std::vector<int> from, MPI_Comm comm)
      : sent_(sent, std::move(to), comm), received_(received, std::move(from), comm) {}

  // Packs, and makes the MPI's call: below(sent, received), with their arguments.
  template <class Below>
  int begin(Below below) const {
    sent_.pack();
    const int error = below(sent_.arguments(), received_.arguments());
    if (error != MPI_SUCCESS) return error;
    sent_.note();
    received_.note();
    return error;
  }
  bool packs() const { return sent_.any() || received_.any(); }
  void unpack() const { received_.unpack(); }

 private:
  void unpack(const MPI_Status&) override { unpack(); }

  PackedBlocks<Place> sent_, received_;
};

// An exchange, with begin(), packs() and unpack(), from beginning to end; or, with a request, its
// beginning.
template <class Exchange, class Below>
int run_exchange(std::unique_ptr<Exchange> exchange, MPI_Request* request, Below below) {
  const int error = exchange->begin(below);
  if (error != MPI_SUCCESS || !exchange->packs()) return error;
  if (!request) {
    exchange->unpack();
  } else {
    keep_unless_ended(*request, std::move(exchange), true);
  }
  return error;
}

}  // namespace sumac
