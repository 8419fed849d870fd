// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_RECORD: writes which collective calls the program makes, with what arguments and when, for
// 'sumac replay'. What the format says is in docs/replay.md. No data of the program are written.
#pragma once

#include <mutex>

#include "interpose/record/definitions.h"
#include "interpose/record/watch.h"
#include "observe/record_file.h"

namespace sumac {

class Recorder : public CallWatcher {
 public:
  Recorder() : definitions_(file_) {}

  // Reads the options; to be called before functions are redirected.
  void set_up();
  // To be called once the ranks are known. Makes the rank's file.
  void begin();
  // At finalisation.
  void end();

  void blocking(const Call& call, CallTimes times) override;
  void deferred(const Call& call, RequestNumber request, CallTimes times) override;
  void restarted(const std::vector<RequestNumber>& requests, CallTimes times) override;
  void completed(const std::vector<RequestNumber>& requests, CallTimes times) override;
  void freed(RequestNumber request) override;

  // What the MPI tells of handles.
  void communicator_ends(std::uintptr_t handle);
  void type_ends(std::uintptr_t handle);

 private:
  // The text of the call without times, by which equal calls are recognised.
  std::string shape_of(const Call& call);
  std::string side_of(const char* name, const Data& data, bool in_place);
  std::string lists_of(const Call& call, bool sends, int ranks);
  std::string place_of(const void* address);
  bool is_recording(CallTimes times);
  void write(std::string& line, CallTimes times);
  void stop(const char* why);
  void note_thread(CallTimes times);

  // Recursive: the MPI may tell of the end of a handle within a call made while this is held.
  std::recursive_mutex mutex_;
  RecordFile file_;
  Definitions definitions_;
  std::string folder_;
  bool wanted_ = false, done_ = false, overlaps_ = false;
  std::uintptr_t base_ = 0;     // of places
  std::uint64_t calls_ = 0;     // that have been recorded
  std::uint64_t last_end_ = 0;  // of the call recorded last, when it had been written
  std::uint64_t ended_ = 0;     // the last end of a call
  unsigned thread_ = 0;         // that made the last one
};

Recorder& recorder();

}  // namespace sumac
