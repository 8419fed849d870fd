// SPDX-License-Identifier: BSD-3-Clause
// This kernel of tests keeps one process's memory, in which a page holds a number, and the file of
// promoted memory. It does what Linux does, and acts for another thread before a call of its own.
#pragma once

#include <sys/mman.h>

#include <map>
#include <memory>
#include <optional>

#include "promotion/page_state.h"
#include "promotion/promoted_buffer.h"
#include "promotion/service.h"

namespace sumac::promotion {

class SimulatedKernel final : public AddressSpace {
 public:
  // Before the call of this number, counted from 0, `act` is called.
  std::function<void()> act;
  int act_at = -1, calls = 0;

  // Returns what the program reads there; nothing where no page is mapped.
  std::optional<int> look(std::uintptr_t at) {
    const auto area = area_of(at);
    if (area == areas_.end()) return {};
    if (const auto own = pages_.find(at); own != pages_.end()) return own->second;
    if (area->second.source == Source::zeros) return 0;
    const auto shown = data_->find(area->second.offset_of(at));
    return shown == data_->end() ? 0 : shown->second;
  }
  bool write(std::uintptr_t at, int number) {
    const auto area = area_of(at);
    if (area == areas_.end() || !(area->second.protection & PROT_WRITE)) return false;
    if (area->second.source == Source::file) {
      (*data_)[area->second.offset_of(at)] = number;
    } else {
      pages_[at] = number;
    }
    return true;
  }
  int in_file(std::uintptr_t offset) const {
    const auto found = data_->find(offset);
    return found == data_->end() ? 0 : found->second;
  }

  Refusal open(const KernelFeatures&) override {
    features_.queries = true;
    file_ = {kDescriptor, 1, 1};
    return Refusal::none;
  }
  void close_file() override { file_.descriptor = -1; }
  void at_fork(Fork when) override {
    if (when == Fork::child_is_ready) close_file();
  }
  OpenDescriptors open_descriptors() override { return {}; }
  bool file_is_own() override { return file_.descriptor == kDescriptor; }
  std::size_t used() override { return file_is_own() ? data_->size() * kPage : 0; }
  bool next_data(std::uintptr_t from, std::uintptr_t& found) override {
    next_call();
    const auto at = data_->lower_bound(from);
    if (at != data_->end()) found = at->first;
    return at != data_->end();
  }
  bool fill(const Range& offsets) override {
    next_call();
    for (std::uintptr_t at = offsets.begin; at < offsets.end; at += kPage) data_->insert({at, 0});
    return true;
  }
  bool punch(const Range& offsets, std::uintptr_t) override {
    next_call();
    erase(*data_, offsets);
    return true;
  }
  bool read(const Range& offsets, std::uintptr_t to) override {
    next_call();
    for (auto at = data_->lower_bound(offsets.begin); at != data_->lower_bound(offsets.end); ++at) {
      pages_[to + (at->first - offsets.begin)] = at->second;
    }
    return true;
  }
  bool read(const Mapping&, std::uintptr_t) override { return false; }

  bool find(std::uintptr_t address, Search search, Mapping& mapping) override {
    next_call();
    for (const auto& [begin, area] : areas_) {
      if (area.end <= address || (search == Search::next_of_files && area.source == Source::zeros))
        continue;
      mapping = described(begin, area);
      return search != Search::covering || begin <= address;
    }
    return false;
  }
  bool visit_files(std::uintptr_t from, const std::function<bool(const Mapping&)>& visit) override {
    for (Mapping mapping; find(from, Search::next_of_files, mapping); from = mapping.end) {
      if (!visit(mapping)) break;
    }
    return true;
  }
  void describe(const std::function<bool(const Described&)>& visit) override {
    Described mapping;
    for (std::uintptr_t from = 0; find(from, Search::next, mapping); from = mapping.end) {
      if (!visit(mapping)) break;
    }
  }
  std::size_t touched_pages(const Range& range) override {
    return static_cast<std::size_t>(
        std::distance(pages_.lower_bound(range.begin), pages_.lower_bound(range.end)));
  }

  std::uintptr_t map_anywhere(std::size_t bytes, int protection) override {
    next_call();
    std::uintptr_t at = kAnywhere;
    for (const auto& [begin, area] : areas_) {
      if (begin >= kAnywhere && begin >= at + bytes) break;
      at = std::max(at, area.end);
    }
    put({at, at + bytes}, {protection});
    return at;
  }
  bool map(const Range& range, const Contents& contents, bool replaces = true) override {
    next_call();
    if (!replaces && is_used(range)) return false;
    put(range, contents);
    return true;
  }
  bool unmap(const Range& range) override {
    next_call();
    clear(range);
    return true;
  }
  bool move(const Range& range, std::uintptr_t to) override {
    next_call();
    const auto area = area_of(range.begin);
    if (area == areas_.end() || area->second.end < range.end) return errno = EFAULT, false;
    Area contents = area->second;
    contents.offset = contents.offset_of(range.begin);
    const std::map<std::uintptr_t, int> moved(pages_.lower_bound(range.begin),
                                              pages_.lower_bound(range.end));
    clear(range);
    put({to, to + range.bytes()}, contents);
    for (const auto& [at, number] : moved) pages_[to + (at - range.begin)] = number;
    return true;
  }
  bool protect(const Range& range, int protection) override {
    next_call();
    cut(range.begin);
    cut(range.end);
    for (auto at = areas_.lower_bound(range.begin); at != areas_.lower_bound(range.end); ++at) {
      at->second.protection = protection;
    }
    join(range.begin);
    join(range.end);
    return true;
  }
  bool advise(const Range& range, int advice) override {
    next_call();
    for (std::uintptr_t at = range.begin; at < range.end; at += kPage) {
      const auto area = area_of(at);
      if (area == areas_.end()) return errno = ENOMEM, false;
      if (advice == MADV_DONTNEED || advice == MADV_FREE) pages_.erase(at);
    }
    return true;
  }
  void place_alike(const Range&) override {}
  void copy(const Range& range, std::uintptr_t to) override {
    next_call();
    for (std::uintptr_t at = range.begin; at < range.end; at += kPage) {
      write(to + (at - range.begin), look(at).value_or(-1));
    }
  }

 private:
  using Source = Contents::Source;
  static constexpr int kDescriptor = 48;
  static constexpr std::uintptr_t kAnywhere = kApart + (std::uintptr_t{1} << 30);

  struct Area : Contents {
    std::uintptr_t begin, end;
    std::uintptr_t offset_of(std::uintptr_t at) const { return offset + (at - begin); }
  };
  using Areas = std::map<std::uintptr_t, Area>;

  void next_call() {
    if (calls++ != act_at) return;
    const auto other_thread = std::move(act);
    other_thread();
  }
  static void erase(std::map<std::uintptr_t, int>& pages, const Range& range) {
    pages.erase(pages.lower_bound(range.begin), pages.lower_bound(range.end));
  }
  Areas::iterator area_of(std::uintptr_t at) {
    auto above = areas_.upper_bound(at);
    if (above == areas_.begin() || (--above)->second.end <= at) return areas_.end();
    return above;
  }
  bool is_used(const Range& range) {
    const auto above = areas_.lower_bound(range.begin);
    return area_of(range.begin) != areas_.end() ||
           (above != areas_.end() && above->first < range.end);
  }
  // Makes an area begin there if one holds the address.
  void cut(std::uintptr_t at) {
    const auto area = area_of(at);
    if (area == areas_.end() || area->first == at) return;
    Area above = area->second;
    above.offset = above.offset_of(at);
    above.begin = area->second.end = at;
    areas_[at] = above;
  }
  // Makes one of the areas on both sides of the address if they are alike.
  void join(std::uintptr_t at) {
    const auto above = areas_.find(at), below = at ? area_of(at - 1) : areas_.end();
    if (above == areas_.end() || below == areas_.end()) return;
    const Area &one = below->second, &other = above->second;
    const bool follows = one.source == Source::zeros || one.offset_of(at) == other.offset;
    if (one.source != other.source || one.protection != other.protection || !follows) return;
    below->second.end = other.end;
    areas_.erase(above);
  }
  void clear(const Range& range) {
    cut(range.begin);
    cut(range.end);
    areas_.erase(areas_.lower_bound(range.begin), areas_.lower_bound(range.end));
    erase(pages_, range);
  }
  void put(const Range& range, const Contents& contents) {
    clear(range);
    areas_[range.begin] = {contents, range.begin, range.end};
    join(range.end);
    join(range.begin);
  }
  Described described(std::uintptr_t begin, const Area& area) const {
    Described mapping;
    static_cast<Range&>(mapping) = {begin, area.end};
    const bool zeros = area.source == Source::zeros;
    mapping.offset = area.offset;
    mapping.inode = zeros ? 0 : file_.inode;
    mapping.device = zeros ? 0 : file_.device;
    mapping.readable = area.protection & PROT_READ;
    mapping.writable = area.protection & PROT_WRITE;
    mapping.shared = area.source == Source::file;
    return mapping;
  }

  Areas areas_;
  std::map<std::uintptr_t, int> pages_;  // private ones, by address
  std::shared_ptr<std::map<std::uintptr_t, int>> data_ =
      std::make_shared<std::map<std::uintptr_t, int>>();  // pages of the file, by offset
};

}  // namespace sumac::promotion
