// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/requests/held_requests.h"
#include "interpose/watch/profile.h"

namespace sumac {
namespace {

class ProfiledRequest final : public RequestHolder {
 public:
  ProfiledRequest(const EndedCall& made, bool persistent) : call_(made), persistent_(persistent) {
    if (persistent) call_.sequence = UINT32_MAX;  // the number of the start before the first
  }

  // Nobody is told that a persistent request has ended if a call about it alone returns an error:
  // the handle stays. So a start that is taken for active, and is started again or freed, has
  // ended.
  void started(const CallTime& time, std::uint64_t share_ns, bool active) override {
    if (active) left();
    call_.begin = time.begin_ns;
    call_.inside = share_ns;
    call_.completing = 0;
    call_.end = time.end_ns;
    ++call_.sequence;
  }
  bool freed(bool active) override {
    if (persistent_ && active) left();
    return false;
  }
  void took(std::uint64_t ns) override { call_.completing += ns; }
  void ended(StatusPointer, bool, std::uint64_t end_ns) override {
    call_.end = end_ns;
    left();
  }
  void left() override { profile().add(call_); }

 private:
  EndedCall call_;
  const bool persistent_;
};

}  // namespace

void hold_request(MpiRequest request, const EndedCall& made, bool persistent) {
  hold(request, std::make_unique<ProfiledRequest>(made, persistent), persistent);
}

}  // namespace sumac
