// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks, blocking or not, whose bytes and statuses are checked.
#pragma once

#include <vector>

#include "completion.h"
#include "groups.h"

namespace test {

// One end, the send or the receive, of a message from rank `source` to `target` of a communicator.
struct Message {
  int source, target, tag;
  std::size_t bytes;
  bool any_source, any_tag;
  unsigned char byte(std::size_t i) const { return static_cast<unsigned char>(tag * 7 + i % 251); }
};

class PendingMessage : public Work {
 public:
  PendingMessage(const Message& message, const Group& group)
      : message_(message), sends_(group.rank == message.source), data_(message.bytes) {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = sends_ ? message.byte(i) : 0;
  }
  void start(MPI_Comm comm) {
    if (!sends_) {
      MPI_Irecv(data_.data(), count(), MPI_BYTE, source(), tag(), comm, &request);
    } else if (message_.bytes % 3) {
      MPI_Isend(data_.data(), count(), MPI_BYTE, message_.target, message_.tag, comm, &request);
    } else {
      MPI_Issend(data_.data(), count(), MPI_BYTE, message_.target, message_.tag, comm, &request);
    }
  }
  void call(MPI_Comm comm) {
    MPI_Status status;
    if (sends_) {
      MPI_Send(data_.data(), count(), MPI_BYTE, message_.target, message_.tag, comm);
    } else {
      MPI_Recv(data_.data(), count(), MPI_BYTE, source(), tag(), comm, &status);
      look_at(status);
      ended("MPI_Recv");
    }
  }
  void ended(const char* how) override {
    long wrong = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) wrong += data_[i] != message_.byte(i);
    CHECK(wrong == 0, "%ld of %zu bytes, tag %d, %s", wrong, data_.size(), message_.tag, how);
  }
  void look_at(const MPI_Status& status) override {
    if (sends_) return;
    int bytes = -1;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    CHECK(
        status.MPI_SOURCE == message_.source && status.MPI_TAG == message_.tag && bytes == count(),
        "source %d, tag %d, %d bytes; %d, %d, %d", status.MPI_SOURCE, status.MPI_TAG, bytes,
        message_.source, message_.tag, count());
  }

 private:
  int count() const { return static_cast<int>(message_.bytes); }
  int source() const { return message_.any_source ? MPI_ANY_SOURCE : message_.source; }
  int tag() const { return message_.any_tag ? MPI_ANY_TAG : message_.tag; }

  Message message_;
  bool sends_;
  std::vector<unsigned char> data_;
};

}  // namespace test
