// SPDX-License-Identifier: BSD-3-Clause
// The ways in which a message is sent, received and completed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "check.h"
#include "data.h"

namespace test {

struct Way {
  enum class Start : std::uint8_t { blocking, sendrecv, nonblocking, count };
  enum class End : std::uint8_t {
    wait,
    waitall,
    waitany,
    waitsome,
    test,
    testall,
    testany,
    testsome,
    get_status,
    free_send,
    count
  };
  Start start;
  End end;
  bool wants_status, from_any;
};

inline Way way_of(std::uint64_t seed) {
  Random random(seed);
  Way way{};
  way.start = static_cast<Way::Start>(random.below(static_cast<std::uint64_t>(Way::Start::count)));
  way.end = static_cast<Way::End>(random.below(static_cast<std::uint64_t>(Way::End::count)));
  way.wants_status = random.below(2) == 0;
  way.from_any = random.below(3) == 0;
  return way;
}

inline const char* text_of(const Way& way) {
  static constexpr const char* kStarts[] = {"Send, Recv", "Sendrecv", "Isend, Irecv"};
  static constexpr const char* kEnds[] = {"Wait",       "Waitall",     "Waitany", "Waitsome",
                                          "Test",       "Testall",     "Testany", "Testsome",
                                          "get_status", "Request_free"};
  static char text[80];
  const bool ends = way.start == Way::Start::nonblocking;
  std::snprintf(text, sizeof text, "%s%s%s%s%s", kStarts[static_cast<int>(way.start)],
                ends ? ", " : "", ends ? kEnds[static_cast<int>(way.end)] : "",
                way.wants_status ? "" : ", no status", way.from_any ? ", from any" : "");
  return text;
}

struct Side {
  void* address;
  int count;
  MPI_Datatype type;
  int peer;
};

// This rank's part in a message: none, one side of it, or both.
struct Transfer {
  std::optional<Side> send, receive;
};

// Completes the requests; `statuses` has one for each, or is MPI_STATUSES_IGNORE.
inline void complete(Way::End end, std::vector<MPI_Request>& requests, MPI_Status* statuses) {
  using End = Way::End;
  const int count = static_cast<int>(requests.size());
  const bool ignored = statuses == MPI_STATUSES_IGNORE;
  const auto status = [&](int i) { return ignored ? MPI_STATUS_IGNORE : &statuses[i]; };
  std::vector<MPI_Status> some(requests.size());
  std::vector<int> indices(requests.size());
  MPI_Status one;
  MPI_Status* const any = ignored ? MPI_STATUS_IGNORE : &one;
  int done = 0, index = 0;
  if (end == End::waitall) {
    MPI_Waitall(count, requests.data(), statuses);
  } else if (end == End::testall) {
    while (!done) MPI_Testall(count, requests.data(), &done, statuses);
  } else if (end == End::waitany || end == End::testany) {
    for (int left = count; left > 0;) {
      done = 1;
      if (end == End::waitany) MPI_Waitany(count, requests.data(), &index, any);
      if (end == End::testany) MPI_Testany(count, requests.data(), &index, &done, any);
      if (!done || index == MPI_UNDEFINED) continue;
      if (!ignored) statuses[index] = one;
      --left;
    }
  } else if (end == End::waitsome || end == End::testsome) {
    for (int left = count; left > 0; left -= done) {
      auto* const call = end == End::waitsome ? MPI_Waitsome : MPI_Testsome;
      call(count, requests.data(), &done, indices.data(),
           ignored ? MPI_STATUSES_IGNORE : some.data());
      for (int k = 0; !ignored && k < done; ++k) {
        statuses[indices[static_cast<std::size_t>(k)]] = some[static_cast<std::size_t>(k)];
      }
    }
  } else {
    for (int i = 0; i < count; ++i) {
      MPI_Request& request = requests[static_cast<std::size_t>(i)];
      done = 0;
      while (end == End::test && !done) MPI_Test(&request, &done, status(i));
      while (end == End::get_status && !done) {
        MPI_Request_get_status(request, &done, status(i));
      }
      if (request != MPI_REQUEST_NULL) MPI_Wait(&request, status(i));
    }
  }
}

// Does this rank's part in the message. `between` is called when the message is under way, or over.
// Returns true if `status` is that of the receive.
template <class Between>
bool run(const Transfer& transfer, const Way& given, int tag, MPI_Status& status, Between between) {
  Way way = given;
  const auto& [send, receive] = transfer;
  // A rank that sends to itself cannot wait for either.
  if (send && receive && way.start == Way::Start::blocking) way.start = Way::Start::nonblocking;
  const Side none{nullptr, 0, MPI_BYTE, MPI_PROC_NULL};
  const Side out = send.value_or(none), in = receive.value_or(none);
  const int from = receive && way.from_any ? MPI_ANY_SOURCE : in.peer;
  MPI_Status* const wanted = way.wants_status ? &status : MPI_STATUS_IGNORE;
  if (way.start == Way::Start::sendrecv && (send || receive)) {
    MPI_Sendrecv(out.address, out.count, out.type, out.peer, tag, in.address, in.count, in.type,
                 from, tag, MPI_COMM_WORLD, wanted);
  } else if (way.start == Way::Start::blocking) {
    if (send) MPI_Send(out.address, out.count, out.type, out.peer, tag, MPI_COMM_WORLD);
    if (receive) MPI_Recv(in.address, in.count, in.type, from, tag, MPI_COMM_WORLD, wanted);
  } else if (send || receive) {
    std::vector<MPI_Request> requests;
    MPI_Request request;
    if (receive) {
      MPI_Irecv(in.address, in.count, in.type, from, tag, MPI_COMM_WORLD, &request);
      requests.push_back(request);
    }
    if (send) {
      MPI_Isend(out.address, out.count, out.type, out.peer, tag, MPI_COMM_WORLD, &request);
      if (way.end == Way::End::free_send) MPI_Request_free(&request);
      if (way.end != Way::End::free_send) requests.push_back(request);
    }
    between();
    std::vector<MPI_Status> statuses(requests.size());
    complete(way.end, requests, way.wants_status ? statuses.data() : MPI_STATUSES_IGNORE);
    for (const MPI_Request each : requests) CHECK(each == MPI_REQUEST_NULL);
    if (receive) status = statuses[0];
  }
  between();
  // Until then the memory of a freed send is not the program's.
  if (way.end == Way::End::free_send) MPI_Barrier(MPI_COMM_WORLD);
  return receive && way.wants_status;
}

}  // namespace test
