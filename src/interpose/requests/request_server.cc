// SPDX-License-Identifier: BSD-3-Clause
// This is the server of the requests of Sumac's nonblocking and persistent collectives.
#include <optional>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/timed.h"
#include "interpose/requests/requests.h"

namespace sumac {
namespace {

using Phase = CollectiveRequest::Phase;

// Returns Sumac's request, if the MPI has not been told of its end.
CollectiveRequest* find_untold(MpiRequest handle) {
  CollectiveRequest* request = find_request(handle);
  return request && request->phase == Phase::begun ? request : nullptr;
}

class CollectiveServer final : public RequestServer {
 public:
  bool has_requests() const override { return any_requests(); }
  bool is_busy() const override { return !engine().idle(); }
  bool advance(bool waits) override { return engine().progress(true, waits); }
  WaitPolicy wait_policy() const override {
    WaitPolicy policy = wait_policy_of_process();
    policy.late = report_late_anywhere;
    return policy;
  }

  Answer answer(RequestPointer handle, StatusPointer status, RequestCall::How how) override {
    CollectiveRequest* const own = find_untold(*handle);
    if (!own) return Answer::not_own;
    if (how == RequestCall::How::wait) {
      wait_for(*own);
    } else if (!test(*own)) {
      return Answer::under_way;
    }
    if (how == RequestCall::How::look) {
      deliver(*own);
      fill_status(status);
      return Answer::ended;
    }
    return take_end(*own, handle, status) ? Answer::ended : Answer::shown;
  }

  void show(RequestPointer requests, int count) override { sumac::show(requests, count); }

  std::optional<int> start(RequestPointer handle) override {
    CollectiveRequest* const own = find_request(*handle);
    if (!own) return std::nullopt;
    if (!own->persistent || is_active(*own)) return refuse(*own, kMpi.err_request);
    const Collective collective = own->described.collective;
    std::optional<TimedCall> timed;
    if (calls_are_timed()) timed.emplace(collective);
    CallRecord record(collective);
    sumac::start(record, *own);
    return kMpiSuccess;
  }

  std::optional<int> free(RequestPointer handle) override {
    CollectiveRequest* const own = find_request(*handle);
    if (!own) return std::nullopt;
    if (own->persistent) {
      free_persistent(*own, handle);
      return kMpiSuccess;
    }
    return refuse(*own, family() == Family::mpich ? kMpi.err_other : kMpi.err_request);
  }

  std::optional<int> cancel(RequestPointer handle) override {
    CollectiveRequest* const own = find_request(*handle);
    return own ? std::optional<int>(refuse(*own, kMpi.err_request)) : std::nullopt;
  }
};

}  // namespace

RequestServer& collective_server() {
  static auto* the_server = new CollectiveServer;
  return *the_server;
}

void redirect_requests(const sumac_stub& stub) {
  for (int call = SUMAC_CALL_Start; call <= SUMAC_CALL_Cancel; ++call) {
    put_in_front(stub, static_cast<sumac_call>(call));
  }
}

}  // namespace sumac
