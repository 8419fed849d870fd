// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/kept_messages.h"

#include <cstdint>
#include <utility>

#include "interpose/requests/held_requests.h"

namespace sumac {
namespace {

class KeptMessage final : public RequestHolder {
 public:
  KeptMessage(std::unique_ptr<Delivery> message, bool receives)
      : message_(std::move(message)), receives_(receives) {}
  void seen(StatusPointer status) override {
    if (receives_) message_->deliver(status);
  }
  void ended(StatusPointer status, bool success, std::uint64_t) override {
    if (success) seen(status);
  }
  bool freed(bool) override { return true; }

 private:
  const std::unique_ptr<Delivery> message_;
  const bool receives_;
};

}  // namespace

void keep_send(MpiRequest request, std::unique_ptr<Delivery> message) {
  hold_unless_ended(request, std::make_unique<KeptMessage>(std::move(message), false));
}

// A receive has a request of its own, whose status tells how much has arrived.
void keep_receive(MpiRequest request, std::unique_ptr<Delivery> message) {
  hold(request, std::make_unique<KeptMessage>(std::move(message), true), false);
}

void keep_exchange(MpiRequest request, std::unique_ptr<Delivery> exchange) {
  hold_unless_ended(request, std::make_unique<KeptMessage>(std::move(exchange), true));
}

}  // namespace sumac
