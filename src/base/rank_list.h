// SPDX-License-Identifier: BSD-3-Clause
// A list of ranks, or of other whole numbers, as runs of equal stride: a block of ranks, or those
// that are dealt to a node in turn, is one run whatever its length. So what a rank keeps of a
// communicator does not grow with its ranks.
//
// Source: the endpoint maps of UCC (ucc_ep_map).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace sumac {

class RankList {
 public:
  class Iterator;

  RankList() = default;
  // A vector converts, since lists are made where ranks are still listed one by one.
  RankList(const std::vector<int>& ranks) {
    for (const int rank : ranks) push_back(rank);
    runs_.shrink_to_fit();
  }
  // Returns the ranks 0, 1, ... `count` - 1.
  static RankList first(int count) {
    RankList list;
    if (count > 0) list.runs_.push_back({0, 0, count > 1 ? 1 : 0});
    list.size_ = std::max(count, 0);
    return list;
  }

  void push_back(int rank) {
    const int index = size_++;
    if (!runs_.empty()) {
      Run& last = runs_.back();
      const int before = index - last.begin;  // ranks of the last run
      if (before == 1) last.stride = rank - last.first;
      if (last.first + before * last.stride == rank) return;
    }
    runs_.push_back({index, rank, 0});
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t runs() const { return runs_.size(); }
  // Returns the memory that the list takes beside itself.
  std::size_t bytes() const { return runs_.capacity() * sizeof(Run); }

  int operator[](int index) const {
    const Run& run = runs_.size() == 1 ? runs_[0] : run_of(index);
    return run.first + (index - run.begin) * run.stride;
  }
  int front() const { return runs_[0].first; }
  int back() const { return (*this)[size_ - 1]; }

  // Returns the index of a rank that the list has once, or -1.
  int index_of(int rank) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const Run& run = runs_[i];
      const int away = rank - run.first, steps = run.stride ? away / run.stride : 0;
      if (steps >= 0 && steps < end_of(i) - run.begin && steps * run.stride == away) {
        return run.begin + steps;
      }
    }
    return -1;
  }

  // Returns the index of the last number that is not above `number`, or -1. The list must ascend.
  int last_up_to(int number) const {
    const auto above =
        std::upper_bound(runs_.begin(), runs_.end(), number,
                         [](int value, const Run& run) { return value < run.first; });
    if (above == runs_.begin()) return -1;
    const auto i = static_cast<std::size_t>(above - runs_.begin()) - 1;
    const Run& run = runs_[i];
    const int steps = run.stride ? (number - run.first) / run.stride : 0;
    return run.begin + std::min(steps, end_of(i) - run.begin - 1);
  }

  // Appends the list to words that are sent to another rank, which takes it from there again.
  void pack(std::vector<std::int32_t>& words) const {
    words.push_back(size_);
    words.push_back(static_cast<std::int32_t>(runs_.size()));
    for (const Run& run : runs_) words.insert(words.end(), {run.begin, run.first, run.stride});
  }
  // Advances `words` behind the list.
  static RankList unpack(const std::int32_t*& words) {
    RankList list;
    list.size_ = *words++;
    list.runs_.resize(static_cast<std::size_t>(*words++));
    for (Run& run : list.runs_) {
      run = {words[0], words[1], words[2]};
      words += 3;
    }
    return list;
  }

  Iterator begin() const;
  Iterator end() const;
  bool operator==(const RankList&) const = default;

 private:
  struct Run {
    int begin, first, stride;  // `begin` is the index of the run's first rank

    bool operator==(const Run&) const = default;
  };

  const Run& run_of(int index) const {
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), index,
                                        [](int at, const Run& run) { return at < run.begin; });
    return *(after - 1);
  }
  int end_of(std::size_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].begin : size_;
  }

  std::vector<Run> runs_;
  int size_ = 0;
};

class RankList::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;

  Iterator(const RankList& list, int index) : list_(&list), index_(index) {}
  int operator*() const {
    const Run& run = list_->runs_[run_];
    return run.first + (index_ - run.begin) * run.stride;
  }
  Iterator& operator++() {
    if (++index_ == list_->end_of(run_)) ++run_;
    return *this;
  }
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  const RankList* list_;
  int index_;
  std::size_t run_ = 0;
};

inline RankList::Iterator RankList::begin() const { return {*this, 0}; }
inline RankList::Iterator RankList::end() const { return {*this, size_}; }

}  // namespace sumac
