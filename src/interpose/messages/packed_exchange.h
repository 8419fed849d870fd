// SPDX-License-Identifier: BSD-3-Clause
// The MPI exchanges these blocks, of which either side may be packed.
#pragma once

#include <memory>
#include <utility>

#include "interpose/messages/kept_messages.h"

namespace sumac {

// A Side has any(), which is true if it is packed; arguments() for the MPI; pack() and unpack();
// and note(), which must be called after the MPI's call, without an error.
template <class Side>
class PackedExchange final : public Delivery {
 public:
  // make_sent() and make_received() make the sides in place.
  template <class MakeSent, class MakeReceived>
  PackedExchange(MakeSent make_sent, MakeReceived make_received)
      : sent_(make_sent()), received_(make_received()) {}

  // Packs, and makes the MPI's call: below(sent, received), with their arguments.
  template <class Below>
  int begin(Below below) const {
    sent_.pack();
    const int error = below(sent_.arguments(), received_.arguments());
    if (error != kMpiSuccess) return error;
    sent_.note();
    received_.note();
    return error;
  }
  bool packs() const { return sent_.any() || received_.any(); }
  void unpack() const { received_.unpack(); }

 private:
  void unpack(StatusPointer) override { unpack(); }

  const Side sent_, received_;
};

// Runs an exchange from beginning to end; or, with a request, only begins it.
template <class Side, class Below>
int run_exchange(std::unique_ptr<PackedExchange<Side>> exchange, RequestPointer request,
                 Below below) {
  const int error = exchange->begin(below);
  if (error != kMpiSuccess || !exchange->packs()) return error;
  if (!request) {
    exchange->unpack();
  } else {
    keep_unless_ended(*request, std::move(exchange), true);
  }
  return error;
}

}  // namespace sumac
