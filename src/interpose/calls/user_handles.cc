// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/user_handles.h"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

// A list of handles, each with a small number. Few are alive at a time. Readers take no lock: a
// place whose handle has been forgotten is reused, and never freed.
class Notes {
 public:
  static constexpr int kNothing = -1;

  int find(std::uintptr_t handle) const {
    const Place* place = place_of(handle);
    return place ? place->note.load(std::memory_order_relaxed) : kNothing;
  }
  bool set(std::uintptr_t handle, int note) {
    const std::lock_guard<std::mutex> lock(writing_);
    Place* place = place_of(handle);
    if (!place) place = place_of(kFree);
    if (!place) place = add();
    if (!place) return false;
    place->note.store(note, std::memory_order_relaxed);
    place->handle.store(handle, std::memory_order_release);
    return true;
  }
  void forget(std::uintptr_t handle) {
    const std::lock_guard<std::mutex> lock(writing_);
    if (Place* place = place_of(handle)) place->handle.store(kFree, std::memory_order_release);
  }
  void forget_all() {
    const std::lock_guard<std::mutex> lock(writing_);
    for (Place* place = first_; place; place = place->next) place->handle = kFree;
  }

 private:
  static constexpr std::uintptr_t kFree = 0;  // no MPI's handle
  struct Place {
    std::atomic<std::uintptr_t> handle{kFree};
    std::atomic<int> note{kNothing};
    Place* next = nullptr;
  };

  Place* place_of(std::uintptr_t handle) const {
    Place* place = first_.load(std::memory_order_acquire);
    while (place && place->handle.load(std::memory_order_acquire) != handle) place = place->next;
    return place;
  }
  Place* add() {
    auto* place = new (std::nothrow) Place;
    if (!place) return nullptr;
    place->next = first_.load(std::memory_order_relaxed);
    first_.store(place, std::memory_order_release);
    return place;
  }

  std::mutex writing_;
  std::atomic<Place*> first_{nullptr};
};

Notes types, ops;

// To point to.
constexpr std::array<Op, kNumOps> kOps = [] {
  std::array<Op, kNumOps> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Op>(i);
  return all;
}();

constexpr TypeInfo half_of(DType element) {
  TypeInfo info;
  info.size = info.extent = size_of(element);
  info.dtype = element;
  info.operations = kArithmetic;
  return info;
}
constexpr TypeInfo kFloat16 = half_of(DType::f16), kBfloat16 = half_of(DType::bf16);

int do_not_copy(MPI_Datatype, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

// The type has ended, and its handle may be given to another one.
int on_delete(MPI_Datatype, int, void* handle, void*) {
  types.forget(reinterpret_cast<std::uintptr_t>(handle));
  return MPI_SUCCESS;
}

// Has the MPI tell when the type is freed. No key is kept, as for communicators.
bool watch_end(MPI_Datatype type) {
  int key = MPI_KEYVAL_INVALID;
  if (mpi.Type_create_keyval(do_not_copy, on_delete, &key, nullptr) != MPI_SUCCESS) return false;
  void* handle = reinterpret_cast<void*>(handle_bits(type));
  const bool set = mpi.Type_set_attr(type, key, handle) == MPI_SUCCESS;
  mpi.Type_free_keyval(&key);
  return set;
}

}  // namespace

const TypeInfo* find_hinted_type(MPI_Datatype type) {
  const int element = types.find(handle_bits(type));
  if (element == Notes::kNothing) return nullptr;
  return static_cast<DType>(element) == DType::f16 ? &kFloat16 : &kBfloat16;
}

const Op* find_told_op(MPI_Op op) {
  const int kind = ops.find(handle_bits(op));
  return kind == Notes::kNothing ? nullptr : &kOps[static_cast<std::size_t>(kind)];
}

bool tell_type(MPI_Datatype type, DType element) {
  // A second hint changes the note of the first one.
  const bool is_new = types.find(handle_bits(type)) == Notes::kNothing;
  if (is_new && !watch_end(type)) return false;
  return types.set(handle_bits(type), static_cast<int>(element));
}

bool tell_op(MPI_Op op, Op kind) { return ops.set(handle_bits(op), static_cast<int>(kind)); }

void forget_op(MPI_Op op) { ops.forget(handle_bits(op)); }

void forget_user_handles() {
  types.forget_all();
  ops.forget_all();
}

}  // namespace sumac
