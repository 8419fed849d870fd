// SPDX-License-Identifier: BSD-3-Clause
// Tests without an MPI job have this in the place of an MPI's requests, in one process. A request
// ends after a number of polls, or when the test says so. What the standard leaves open is drawn.
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

struct FakeRequest {
  static constexpr int kNever = INT_MAX;  // no poll ends it

  int polls = kNever;  // polls until it has ended
  int error = kMpiSuccess;
  int source = 0, tag = 0, bytes = 0;  // these go into the status
  bool persistent = false, active = true, cancelled = false;
  bool freed = false;  // the program has freed it while active
  const GeneralizedCalls* generalized = nullptr;
  void* state = nullptr;         // argument of the generalized functions
  std::function<void()> begins;  // a persistent one starts
};

class FakeRequests {
 public:
  // Forgets all requests, and puts the functions about them into the table. All that is drawn
  // follows from the seed.
  void begin(unsigned seed, MpiFunctions& calls);

  MpiRequest add(const FakeRequest& request);
  FakeRequest& at(MpiRequest handle);
  // Says how a request ends that no poll would end.
  void end(MpiRequest handle, const FakeRequest& how);
  bool is_live(MpiRequest handle) const;
  // Returns the number of requests that have not been freed.
  int live() const;

 private:
  friend struct FakeCalls;
  std::vector<FakeRequest> all_;  // handles count from 1
  std::vector<bool> live_;
  std::minstd_rand random_;
  GeneralizedCalls generalized_{};
};
inline FakeRequests fake_requests;

// The calls about requests, in the order of the functions' names in events.h.
enum class Ask : std::uint8_t {
  wait,
  waitall,
  waitany,
  waitsome,
  test,
  testall,
  testany,
  testsome,
  look,
  look_all,
  look_any,
  look_some
};
inline constexpr int kAsks = 12;
inline bool asks_one(Ask ask) { return static_cast<int>(ask) % 4 == 0; }
inline bool waits(Ask ask) { return ask <= Ask::waitsome; }
inline bool looks(Ask ask) { return ask >= Ask::look; }

// A call has told this of one request.
struct Told {
  int index, error;
  StatusPointer status;
};
struct Answers {
  int error = kMpiSuccess;
  bool done = true;        // false: a test has found that not all, or none, have ended
  bool no_active = false;  // a call about any or some has found no active request
  std::vector<Told> told;
};
// Makes a call about requests by one of these functions. The statuses are valid until the next
// call.
Answers ask_about(const MpiFunctions& calls, Ask ask, const HandleArray<MpiRequest>& requests);

// A fake status holds these beside the standard's fields.
int bytes_in(StatusPointer status);
bool is_cancelled(StatusPointer status);

}  // namespace sumac
