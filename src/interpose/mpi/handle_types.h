// SPDX-License-Identifier: BSD-3-Clause
// The MPI's handles and statuses are values here that mean the same under every MPI, so that all
// code but interpose/family/ is compiled once.
//
// A handle is an int in one family of MPIs and a pointer in the others. Sumac keeps it in a word of
// its own. The program's memory, and arrays that the MPI is given, have the MPI's layout; the
// pointers below read and write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "interpose/mpi/constants.h"

namespace sumac {

// This points to one or several handles as the MPI keeps them.
template <class H>
class HandlePointer {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = H;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = H;

  HandlePointer() = default;
  HandlePointer(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  explicit HandlePointer(const void* address)
      : address_(static_cast<std::byte*>(const_cast<void*>(address))) {}

  void* address() const { return address_; }
  explicit operator bool() const { return address_ != nullptr; }

  H operator*() const {
    H handle;
    // The machines Sumac runs on are little-endian: an int's bytes are the word's first ones.
    std::memcpy(&handle.bits, address_, kMpi.handle_bytes);
    return handle;
  }
  H operator[](std::ptrdiff_t i) const { return *(*this + i); }
  void set(H handle) const { std::memcpy(address_, &handle.bits, kMpi.handle_bytes); }

  HandlePointer operator+(std::ptrdiff_t handles) const {
    return HandlePointer(address_ + handles * static_cast<std::ptrdiff_t>(kMpi.handle_bytes));
  }
  HandlePointer& operator++() { return *this = *this + 1; }
  friend bool operator==(HandlePointer, HandlePointer) = default;

 private:
  std::byte* address_ = nullptr;
};

using CommPointer = HandlePointer<MpiComm>;
using DatatypePointer = HandlePointer<MpiDatatype>;
using ErrhandlerPointer = HandlePointer<MpiErrhandler>;
using GroupPointer = HandlePointer<MpiGroup>;
using OpPointer = HandlePointer<MpiOp>;
using RequestPointer = HandlePointer<MpiRequest>;
using WinPointer = HandlePointer<MpiWin>;

// Returns the address of a handle of Sumac's own, for a call that reads or writes one handle.
template <class Tag>
HandlePointer<Handle<Tag>> one(Handle<Tag>& handle) {
  return HandlePointer<Handle<Tag>>(&handle.bits);
}

// This is an array of handles in the MPI's layout.
template <class H>
class HandleArray {
 public:
  HandleArray() = default;
  explicit HandleArray(std::size_t count, H handle = {}) { resize(count, handle); }

  std::size_t size() const { return bytes_.size() / kMpi.handle_bytes; }
  bool empty() const { return bytes_.empty(); }
  HandlePointer<H> data() const { return HandlePointer<H>(bytes_.data()); }
  H operator[](std::size_t i) const { return data()[static_cast<std::ptrdiff_t>(i)]; }
  void set(std::size_t i, H handle) { (data() + static_cast<std::ptrdiff_t>(i)).set(handle); }
  void push_back(H handle) { resize(size() + 1, handle); }
  // New handles have the value `handle`.
  void resize(std::size_t count, H handle = {}) {
    const std::size_t before = size();
    bytes_.resize(count * kMpi.handle_bytes);
    for (std::size_t i = before; i < count; ++i) set(i, handle);
  }
  void assign(HandlePointer<H> from, std::size_t count) {
    bytes_.resize(count * kMpi.handle_bytes);
    if (count > 0) std::memcpy(bytes_.data(), from.address(), bytes_.size());
  }

 private:
  std::vector<std::byte> bytes_;
};

// This points to one or several statuses as the MPI keeps them, or is one of the MPI's constants
// for none.
class StatusPointer {
 public:
  StatusPointer() = default;
  explicit StatusPointer(const void* address)
      : address_(static_cast<std::byte*>(const_cast<void*>(address))) {}

  void* address() const { return address_; }
  friend bool operator==(StatusPointer, StatusPointer) = default;
  // Returns true for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
  bool is_ignored() const {
    return address_ == kMpi.status_ignore || address_ == kMpi.statuses_ignore;
  }
  StatusPointer operator+(std::ptrdiff_t statuses) const {
    return StatusPointer(address_ + statuses * static_cast<std::ptrdiff_t>(kMpi.status_bytes));
  }

  int error() const { return field(kMpi.status_error_at); }
  int source() const { return field(kMpi.status_source_at); }
  void set_error(int error) const { set_field(kMpi.status_error_at, error); }
  void set_source(int source) const { set_field(kMpi.status_source_at, source); }
  void set_tag(int tag) const { set_field(kMpi.status_tag_at, tag); }
  void copy_from(StatusPointer other) const {
    std::memcpy(address_, other.address_, kMpi.status_bytes);
  }

 private:
  int field(std::size_t at) const {
    int value;
    std::memcpy(&value, address_ + at, sizeof value);
    return value;
  }
  void set_field(std::size_t at, int value) const {
    std::memcpy(address_ + at, &value, sizeof value);
  }

  std::byte* address_ = nullptr;
};

inline StatusPointer status_ignore() { return StatusPointer(kMpi.status_ignore); }
inline StatusPointer statuses_ignore() { return StatusPointer(kMpi.statuses_ignore); }

// Returns status `i` of an array of the program's. The program may want no statuses, and then the
// result is ignored, too.
inline StatusPointer status_at(StatusPointer statuses, std::ptrdiff_t i) {
  return statuses.is_ignored() ? status_ignore() : statuses + i;
}

// This is one status of Sumac's own.
class MpiStatus {
 public:
  StatusPointer pointer() { return StatusPointer(room_); }

 private:
  alignas(8) std::byte room_[kLargestStatus] = {};
};

// This is an array of statuses.
class StatusArray {
 public:
  void resize(std::size_t count) { bytes_.resize(count * kMpi.status_bytes); }
  StatusPointer data() const { return StatusPointer(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sumac
