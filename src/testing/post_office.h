// SPDX-License-Identifier: BSD-3-Clause
// Messages go between ranks that are threads of this process.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "transport/p2p/messages.h"

namespace sumac::testing {

// The post office has the messages under way between all ranks, and the bytes sent so far:
// bytes(from, to).
class PostOffice {
 public:
  // A letter belongs to the sender until `done`: eager messages are copied when they are sent or a
  // little later, others only when they are fetched.
  struct Letter {
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
    bool may_copy = false, done = false;
    std::vector<std::byte> copy;

    void copy_now() {
      copy.assign(from, from + bytes);
      from = copy.data();
      done = true;
    }
  };
  struct Key {
    int from, to, tag;
    auto operator<=>(const Key&) const = default;
  };

  std::mutex mutex;  // protects everything here
  std::map<Key, std::deque<std::shared_ptr<Letter>>> letters;
  std::map<std::pair<int, int>, std::size_t> bytes;
};

// These are one rank's messages.
class PostedMessages final : public Messages {
 public:
  PostedMessages(PostOffice& office, int rank, unsigned seed)
      : office_(office), rank_(rank), random_(seed) {}

  void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) override {
    ++stream.sends;
    auto letter = std::make_shared<PostOffice::Letter>();
    letter->from = from;
    letter->bytes = bytes;
    letter->may_copy = random_() % 2;
    if (letter->may_copy && random_() % 2) letter->copy_now();
    sends_.push_back({&stream, letter});
    const std::lock_guard<std::mutex> lock(office_.mutex);
    office_.letters[{rank_, peer, stream.tag}].push_back(letter);
    office_.bytes[{rank_, peer}] += bytes;
  }
  void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) override {
    ++stream.receives;
    receives_.push_back({&stream, peer, to, bytes});
  }
  bool poll() override {
    const std::lock_guard<std::mutex> lock(office_.mutex);
    const bool sent = std::erase_if(sends_, [&](Send& send) { return try_send(send); }) > 0;
    // It sometimes does not move everything that is there.
    const bool slow = random_() % 4 == 0;
    bool moved = sent;
    for (auto it = receives_.begin(); it != receives_.end();) {
      if (slow && random_() % 2) break;
      const bool got = try_receive(*it);
      it = got ? receives_.erase(it) : it + 1;
      moved |= got;
    }
    return moved;
  }
  bool busy() const override { return !sends_.empty() || !receives_.empty(); }

 private:
  struct Send {
    Stream* stream;
    std::shared_ptr<PostOffice::Letter> letter;
  };
  struct Receive {
    Stream* stream;
    int peer;
    std::byte* to;
    std::size_t bytes;
  };

  bool try_send(Send& send) {
    if (!send.letter->done && send.letter->may_copy && random_() % 2) send.letter->copy_now();
    if (send.letter->done) publish(send.stream->sent, send.stream->sent.load() + 1);
    return send.letter->done;
  }
  bool try_receive(Receive& receive) {
    auto& box = office_.letters[{receive.peer, rank_, receive.stream->tag}];
    if (box.empty()) return false;
    PostOffice::Letter& letter = *box.front();
    if (letter.bytes != receive.bytes) std::abort();  // the two do not mean the same message
    std::memcpy(receive.to, letter.from, letter.bytes);
    letter.done = true;
    box.pop_front();
    publish(receive.stream->received, receive.stream->received.load() + 1);
    return true;
  }

  PostOffice& office_;
  int rank_;
  std::mt19937 random_;
  std::vector<Send> sends_;
  std::vector<Receive> receives_;
};

}  // namespace sumac::testing
