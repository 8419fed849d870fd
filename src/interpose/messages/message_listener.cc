// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/message_listener.h"

#include "interpose/messages/kept_messages.h"

namespace sumac {
namespace {

class MessageListener final : public RequestListener {
 public:
  void look() override { look_at_adopted(); }
  bool holds_any(int count, RequestPointer requests) override {
    return !no_message_kept() && is_any_kept(count, requests);
  }
  void told(const RequestEvent& event) override {
    for (const RequestEnd& each : event.ends) {
      if (event.lasting) {
        deliver_message(each.request, each.status);
      } else {
        end_message(each.request, each.status, each.success);
      }
    }
  }
  bool takes_freed(MpiRequest request) override {
    if (!holds_any(1, one(request))) return false;
    adopt_request(request);
    return true;
  }
};

}  // namespace

RequestListener& message_listener() {
  static auto* the_listener = new MessageListener;
  return *the_listener;
}

}  // namespace sumac
