// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/fake_messages_test.h"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <utility>

#include "interpose/messages/typed_data_test.h"
#include "interpose/mpi/fake_requests_test.h"

namespace sumac {
namespace {

// A sent message that nobody has received yet. The MPI may read the data when they are received.
struct Letter {
  int from, to, tag;
  std::string bytes;
  const void* address = nullptr;  // data that are still to be read
  int count = 0;
  MpiDatatype type = kMpi.byte;
  MpiRequest request = kMpi.request_null;  // ends then
};
struct Wanted {
  int from, to, tag;
  void* address;
  int count;
  MpiDatatype type;
  MpiRequest request;
};

std::deque<Letter> letters;
std::deque<Wanted> all_wanted;
std::mt19937_64 drawn;
MessageCounts& own() { return fake_messages; }
int below(int n) { return static_cast<int>(drawn() % static_cast<unsigned>(n)); }

bool fits(const Letter& letter, int from, int to, int tag) {
  return letter.to == to && (from == letter.from || from == kMpi.any_source) &&
         (tag == letter.tag || tag == kMpi.any_tag);
}

// Puts a message where it is wanted, as far as there is room.
FakeRequest deliver(const Letter& letter, const Wanted& wanted) {
  std::string bytes = letter.bytes;
  if (letter.address) bytes = pack_by_map(letter.address, letter.count, letter.type);
  FakeRequest read;
  read.polls = below(3);
  if (letter.request != kMpi.request_null) fake_requests.end(letter.request, read);
  FakeRequest received;
  received.source = letter.from;
  received.tag = letter.tag;
  const std::size_t room = size_of_type(wanted.type) * static_cast<std::size_t>(wanted.count);
  if (bytes.size() > room) received.error = kMpi.err_truncate;
  received.bytes = static_cast<int>(std::min(bytes.size(), room));
  unpack_by_map(bytes.substr(0, room), wanted.address, wanted.count, wanted.type);
  received.polls = below(3);
  return received;
}

bool fails() { return own().fails_in > 0 && --own().fails_in == 0; }

int post(Letter letter) {
  if (letter.to == kMpi.proc_null) return kMpiSuccess;
  for (auto each = all_wanted.begin(); each != all_wanted.end(); ++each) {
    if (!fits(letter, each->from, each->to, each->tag)) continue;
    fake_requests.end(each->request, deliver(letter, *each));
    all_wanted.erase(each);
    return kMpiSuccess;
  }
  letters.push_back(std::move(letter));
  return kMpiSuccess;
}

int send(const void* in, int count, MpiDatatype type, int to, int tag, MpiComm) {
  if (fails()) return kMpi.err_other;
  own().packed_sent += type == kMpi.packed;
  return post({own().own_rank, to, tag, pack_by_map(in, count, type)});
}
int begin_send(const void* in, int count, MpiDatatype type, int to, int tag, MpiComm comm,
               RequestPointer request) {
  if (below(2) == 0) {
    const int error = send(in, count, type, to, tag, comm);
    FakeRequest ended;
    ended.polls = below(3);
    if (error == kMpiSuccess) request.set(fake_requests.add(ended));
    return error;
  }
  if (fails()) return kMpi.err_other;
  own().packed_sent += type == kMpi.packed;
  FakeRequest going;
  if (to == kMpi.proc_null) going.polls = 0;
  request.set(fake_requests.add(going));
  return post({own().own_rank, to, tag, "", in, count, type, *request});
}

int begin_receive(void* out, int count, MpiDatatype type, int from, int tag, MpiComm,
                  RequestPointer request) {
  if (fails()) return kMpi.err_other;
  own().packed_received += type == kMpi.packed;
  request.set(fake_requests.add({}));
  const Wanted wanted{from, own().own_rank, tag, out, count, type, *request};
  if (from == kMpi.proc_null) {
    fake_requests.at(*request).polls = 0;
    fake_requests.at(*request).source = from;
    return kMpiSuccess;
  }
  for (auto each = letters.begin(); each != letters.end(); ++each) {
    if (!fits(*each, from, own().own_rank, tag)) continue;
    fake_requests.end(*request, deliver(*each, wanted));
    letters.erase(each);
    return kMpiSuccess;
  }
  all_wanted.push_back(wanted);
  return kMpiSuccess;
}
int receive(void* out, int count, MpiDatatype type, int from, int tag, MpiComm comm,
            StatusPointer status) {
  MpiRequest request;
  const int error = begin_receive(out, count, type, from, tag, comm, one(request));
  return error == kMpiSuccess ? mpi.Wait(one(request), status) : error;
}
int send_receive(const void* in, int in_count, MpiDatatype in_type, int to, int send_tag, void* out,
                 int out_count, MpiDatatype out_type, int from, int receive_tag, MpiComm comm,
                 StatusPointer status) {
  const int error = send(in, in_count, in_type, to, send_tag, comm);
  if (error != kMpiSuccess) return error;
  return receive(out, out_count, out_type, from, receive_tag, comm, status);
}
int cancel(RequestPointer request) {
  std::erase_if(all_wanted, [&](const Wanted& each) { return each.request == *request; });
  FakeRequest& asked = fake_requests.at(*request);
  if (asked.polls == FakeRequest::kNever) {
    asked.polls = 0;
    asked.cancelled = true;
    asked.bytes = below(1000);  // it means nothing
  }
  return kMpiSuccess;
}
int probe(int from, int tag, MpiComm, int* found, StatusPointer status) {
  *found = 0;
  for (const Letter& each : letters) {
    if (*found || !fits(each, from, own().own_rank, tag)) continue;
    *found = 1;
    status.set_source(each.from);
    status.set_tag(each.tag);
  }
  return kMpiSuccess;
}

}  // namespace

void begin_messages(unsigned seed) {
  drawn.seed(seed);
  letters.clear();
  all_wanted.clear();
  own().fails_in = 0;
  fake_requests.begin(seed, mpi);
  mpi.Cancel = cancel;
  mpi.Send = send;
  mpi.Isend = begin_send;
  mpi.Recv = receive;
  mpi.Irecv = begin_receive;
  mpi.Sendrecv = send_receive;
  mpi.Iprobe = probe;
}

bool all_have_arrived() { return letters.empty() && all_wanted.empty(); }

}  // namespace sumac
