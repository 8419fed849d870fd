// SPDX-License-Identifier: BSD-3-Clause
// Calls whose buffers are in a GPU's memory (SUMAC_DEVICE).
//
// Idea   Such a rank works like one whose data have gaps: a copy in host memory takes the place of
//        the buffer, is made before the call's input is read, and is copied back when the result is
//        there. Whoever carries the call out, Sumac or the MPI, sees host memory alone, and other
//        ranks need not know.
#pragma once

#include <optional>

#include "interpose/calls/decide.h"
#include "interpose/calls/device_buffer.h"
#include "progress/slices.h"

namespace sumac {

// The run-times say this of a call's buffers. The receive buffer is also the input of a call in
// place.
struct CallPlaces {
  DevicePlace send, receive;

  bool on_device() const {
    return send.memory == MemoryKind::device || receive.memory == MemoryKind::device;
  }
};

// Returns false if no buffer of the call can be a device's, which costs little to find out.
[[gnu::noinline]] bool may_be_on_device(const Call& call, const Decision& decision);

// Asks where the buffers are, once for each. The call's arguments may be wrong.
CallPlaces places_of(const Call& call);
// Does the same for a call that has been decided and may have buffers on a device.
CallPlaces places_of(const Call& call, const Decision& decision);

// Returns true if the host takes the place of the device in a call with buffers there: not if the
// MPI will judge or do it, and can.
bool is_staged(const Call& call, const Decision& decision);

// Every failure ends the job, since the other ranks count on this one.
class DeviceData final : public SliceCopies {
 public:
  DeviceData(const Call& call, const CallPlaces& places);
  DeviceData(const DeviceData&) = delete;
  DeviceData& operator=(const DeviceData&) = delete;

  // Returns the call with host memory in the place of buffers on devices.
  const Call& call() const { return moved_; }

  // Must be called before the first load(), with the decision on the call. Of a call that is
  // carried out in slices, load() then leaves the copies to before() and after().
  void copy_in_slices(const Decision& decision);
  // Must be called before the call's input is read, and after its result is there.
  void load();
  void deliver();
  // Does what load() does after it has asked again where the buffers are, which may have changed
  // since a persistent operation was started last.
  void load_again();

 private:
  void before(Part slice, Part next) override;
  void after(Part slice) override;
  void begin_in(Part slice);
  bool find_runs();

  void check(const DeviceError& error, const char* what) const;
  bool each_may_differ() const { return moved_.kind.function == Function::alltoallw; }

  Call moved_;
  DeviceBuffer sent_, received_;
  bool in_slices_ = false;    // copies are, if the data are runs
  DeviceRun input_, output_;  // the runs, in a call that is under way
  std::optional<DeviceCopies> in_, out_;
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
