// SPDX-License-Identifier: BSD-3-Clause
// Calls whose buffers are in a GPU's memory (SUMAC_DEVICE).
//
// Idea   Such a rank works like one whose data have gaps: a copy in host memory takes the place of
//        the buffer, is made before the call's input is read, and is copied back when the result is
//        there. Whoever carries the call out, Sumac or the MPI, sees host memory alone, and other
//        ranks need not know.
#pragma once

#include "interpose/calls/decide.h"
#include "interpose/calls/device_buffer.h"

namespace sumac {

// Returns true if a buffer of the call is in a GPU's memory. The call's arguments may be wrong.
bool is_device_call(const Call& call);

// Returns true if the host takes the place of the device in this call: not if the MPI will judge or
// do it, and can.
bool is_staged(const Call& call, const Decision& decision);

// Returns true if both are so, quickly where they are not.
[[gnu::noinline]] bool is_staged_call(const Call& call, const Decision& decision);

// Every failure ends the job, since the other ranks count on this one.
class DeviceData {
 public:
  explicit DeviceData(const Call& call);
  DeviceData(const DeviceData&) = delete;
  DeviceData& operator=(const DeviceData&) = delete;

  // Returns the call with host memory in the place of buffers on devices.
  const Call& call() const { return moved_; }

  // Must be called before the call's input is read, and after its result is there.
  void load();
  void deliver();

 private:
  void check(int error, const char* what) const;

  Call moved_;
  DeviceBuffer sent_, received_;
};

// These are the first bytes of a persistent operation's buffers, or null.
struct HostBuffers {
  const void* first[2] = {};
};
HostBuffers host_buffers_of(const Call& call);

// Ends the job if a buffer, which was in host memory when the operation was initialised, is not
// there now.
void check_still_host(const HostBuffers& buffers, MpiComm comm);

}  // namespace sumac
