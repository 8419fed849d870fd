// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/packed_blocks.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <new>
#include <utility>

namespace sumac {

template <class Place>
PackedBlocks<Place>::PackedBlocks(const BlockArguments<Place>& given, std::vector<int> peers,
                                  MpiComm comm)
    : given_(given), peers_(std::move(peers)), comm_(comm) {
  // If a list is missing, the MPI has to report it.
  if (!given.counts || !given.places || !given.types) return;
  judge();
  if (!blocks_.empty()) place_blocks();
}

template <class Place>
bool PackedBlocks<Place>::has_data(std::size_t index) const {
  return peers_[index] != kMpi.proc_null && given_.counts[index] != 0;
}

// This is no pointer arithmetic, because the address may be MPI_BOTTOM.
template <class Place>
MessageData PackedBlocks<Place>::data_of(std::size_t index) const {
  const auto at = reinterpret_cast<std::uintptr_t>(given_.address) +
                  static_cast<std::uintptr_t>(static_cast<MpiAint>(given_.places[index]));
  return {reinterpret_cast<void*>(at), given_.counts[index], given_.types[index], comm_};
}

template <class Place>
void PackedBlocks<Place>::judge() {
  std::size_t end = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!has_data(i)) continue;
    const std::optional<PackedData> data = PackedData::judge(data_of(i));
    if (!data && kAllOrNone) return blocks_.clear();
    if (!data) continue;
    blocks_.push_back({i, end, *data});
    end += static_cast<std::size_t>(data->bytes());
  }
  if (kAllOrNone && end > INT_MAX) return blocks_.clear();
  if (end > 0) packed_.reset(new (std::nothrow) std::byte[end]);
  if (!packed_) blocks_.clear();
}

template <class Place>
void PackedBlocks<Place>::place_blocks() {
  counts_.assign(given_.counts, given_.counts + peers_.size());
  places_.assign(given_.places, given_.places + peers_.size());
  types_.assign(given_.types, peers_.size());
  if (kAllOrNone) std::fill(places_.begin(), places_.end(), Place{});
  const auto base = reinterpret_cast<std::uintptr_t>(arguments().address);
  for (const Block& block : blocks_) {
    const auto packed = reinterpret_cast<std::uintptr_t>(packed_.get() + block.at);
    counts_[block.index] = block.data.bytes();
    places_[block.index] = static_cast<Place>(packed - base);
    types_.set(block.index, kMpi.packed);
  }
}

template <class Place>
BlockArguments<Place> PackedBlocks<Place>::arguments() const {
  if (!any()) return given_;
  void* const address = kAllOrNone ? packed_.get() : given_.address;
  return {address, counts_.data(), places_.data(), types_.data()};
}

template <class Place>
void PackedBlocks<Place>::pack() const {
  for (const Block& block : blocks_) block.data.pack(packed_.get() + block.at);
}

template <class Place>
void PackedBlocks<Place>::unpack() const {
  for (const Block& block : blocks_) {
    block.data.unpack(packed_.get() + block.at, block.data.bytes());
  }
}

template <class Place>
void PackedBlocks<Place>::note() const {
  if (!given_.counts || !given_.places || !given_.types) return;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const bool packed = any() && types_[i] == kMpi.packed;
    if (has_data(i) && !packed) note_message(data_of(i));
  }
}

template class PackedBlocks<int>;
template class PackedBlocks<MpiAint>;

}  // namespace sumac
