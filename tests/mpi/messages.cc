// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages of random datatypes, packed by Sumac on both sides, on one or on none
// (SUMAC_PACK_MESSAGES), in all calls that complete them: what arrives, and what the statuses say,
// is what the MPI's own MPI_Pack and MPI_Unpack say. Arguments: rounds, the first seed, and the
// messages that a rank must have packed at least.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "completion.h"
#include "mpi_faults.h"
#include "packed_messages.h"
#include "random_types.h"
#include "type_places.h"

namespace {

using namespace test;

constexpr int kMostBytes = 1 << 16;

// One message: the same on all ranks, which all know the seed.
struct Message {
  Made made;
  int count = 0;     // sent
  int room = 0;      // elements that the receiver has room for
  int bytes = 0;     // of `count` elements
  bool as_bytes[2];  // sent, received as packed bytes, whose type is MPI_PACKED
};

std::vector<char> pattern(std::uint64_t seed) {
  std::vector<char> memory(2 * kRoom);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(mix(i + seed) >> 9);
  return memory;
}

std::vector<char> packed(const Message& message, std::vector<char>& memory) {
  std::vector<char> bytes(static_cast<std::size_t>(message.bytes) + 1);
  int position = 0;
  native().Pack(memory.data() + kRoom, message.count, message.made.type, bytes.data(),
                message.bytes + 1, &position, MPI_COMM_WORLD);
  CHECK(position == message.bytes);
  return bytes;
}

// MPICH 4.0 loses part of a packed message that is received by a type whose elements have several
// sizes or are pairs. Without Sumac too: this test then never mixes both forms.
bool is_received_packed([[maybe_unused]] const Made& made) {
#ifdef MPICH_VERSION
  static constexpr struct {
    const char* name;
    int size;  // 0: a pair
  } kElements[] = {{"char", 1},     {"byte", 1},  {"short_int", 0}, {"double_int", 0}, {"2int", 0},
                   {"complex", 16}, {"short", 2}, {"double", 8},    {"int", 4}};
  std::string text = made.text;
  int size = 0;
  for (const auto& element : kElements) {
    for (std::size_t at; (at = text.find(element.name)) != std::string::npos;) {
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), std::strlen(element.name), '-');
      if (element.size == 0 || (size != 0 && size != element.size)) return false;
      size = element.size;
    }
  }
#endif
  return true;
}

bool make_message(TypeRandom& random, Message& message) {
  message.made = random_type(random, between(random, 1, 4));
  const int packed_side = is_received_packed(message.made) ? between(random, 0, 5) : 2;
  message.as_bytes[0] = packed_side == 0;
  message.as_bytes[1] = packed_side == 1;
  if (message.made.type == MPI_DATATYPE_NULL) return false;  // the MPI's constructors refuse some
  MPI_Type_commit(&message.made.type);
  int element = 0;
  MPI_Type_size(message.made.type, &element);
  message.count = between(random, 1, 3);
  if (element > 0 && random() % 4 != 0) message.count += 8192 / element;
  message.room = message.count + (random() % 3 == 0 ? between(random, 1, 5) : 0);
  message.bytes = element * message.count;
  return element > 0 && element * message.room <= kMostBytes &&
         has_room(message.made.type, message.room) &&
         !overlaps(element * message.room, message.made.type, message.room);
}

// What a receive of the message leaves in memory.
void expect_arrived(const Message& message, std::uint64_t seed, std::vector<char>& memory,
                    const std::vector<char>& sent) {
  int position = 0;
  if (message.as_bytes[1]) {
    std::copy(sent.begin(), sent.begin() + message.bytes, memory.begin() + kRoom);
    return;
  }
  native().Unpack(sent.data(), message.bytes, &position, memory.data() + kRoom, message.count,
                  message.made.type, MPI_COMM_WORLD);
  CHECK(position == message.bytes, "seed %lu", static_cast<unsigned long>(seed));
}

void check_status(const Message& message, const MPI_Status& status, int from, int tag) {
  int elements = -1, bytes = -1;
  CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag, "%d %d", status.MPI_SOURCE,
        status.MPI_TAG);
  MPI_Get_count(&status, MPI_PACKED, &bytes);
  CHECK(bytes == message.bytes, "%d of %d bytes", bytes, message.bytes);
  if (message.as_bytes[1]) return;
  MPI_Get_count(&status, message.made.type, &elements);
  CHECK(elements == message.count, "%d of %d elements", elements, message.count);
}

// One end of a message under way. All memory is compared when both have ended.
class End : public Work {
 public:
  std::optional<MPI_Status> status;
  void ended(const char*) override {}
  void look_at(const MPI_Status& given) override { status = given; }
};

// What one rank gives or gets, and whom from or to.
struct Side {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  int peer = MPI_PROC_NULL;
  bool is_there() const { return peer != MPI_PROC_NULL; }
};

// The ways in which a message is sent and received; nonblocking ones are completed in any way.
struct Way {
  enum Start { blocking, sendrecv, nonblocking } start;
  bool wants_status, from_any, frees_send;

  explicit Way(std::uint64_t seed) {
    Random random(seed);
    start = static_cast<Start>(random.below(3));
    wants_status = random.below(2) == 0;
    from_any = random.below(3) == 0;
    frees_send = start == nonblocking && random.below(8) == 0;
  }
  std::string text() const {
    constexpr const char* kStarts[] = {"Send, Recv", "Sendrecv", "Isend, Irecv"};
    return std::string(kStarts[start]) + (wants_status ? "" : ", no status") +
           (from_any ? ", from any" : "") + (frees_send ? ", freed" : "");
  }
};

// Does this rank's part in the message. `between` is called when the message is under way, or over.
// Returns the status of the receive, if there is one.
template <class Between>
std::optional<MPI_Status> run(const Side& out, const Side& in, Way way, int tag, Random& own,
                              Between between) {
  // A rank that sends to itself cannot wait for either.
  if (out.is_there() && in.is_there() && way.start == Way::blocking) way.start = Way::nonblocking;
  const int from = in.is_there() && way.from_any ? MPI_ANY_SOURCE : in.peer;
  End received, sent;
  MPI_Status status{};
  MPI_Status* const wanted = way.wants_status ? &status : MPI_STATUS_IGNORE;
  if (way.start == Way::sendrecv && (out.is_there() || in.is_there())) {
    MPI_Sendrecv(out.address, out.count, out.type, out.peer, tag, in.address, in.count, in.type,
                 from, tag, MPI_COMM_WORLD, wanted);
  } else if (way.start == Way::blocking) {
    if (out.is_there()) MPI_Send(out.address, out.count, out.type, out.peer, tag, MPI_COMM_WORLD);
    if (in.is_there()) MPI_Recv(in.address, in.count, in.type, from, tag, MPI_COMM_WORLD, wanted);
  } else if (out.is_there() || in.is_there()) {
    std::vector<Work*> works;
    if (in.is_there()) {
      MPI_Irecv(in.address, in.count, in.type, from, tag, MPI_COMM_WORLD, &received.request);
      works.push_back(&received);
    }
    if (out.is_there()) {
      MPI_Isend(out.address, out.count, out.type, out.peer, tag, MPI_COMM_WORLD, &sent.request);
      if (way.frees_send) MPI_Request_free(&sent.request);
      if (!way.frees_send) works.push_back(&sent);
    }
    between();
    Batch(works, own, true).complete();
  }
  between();
  // Until then the memory of a freed send is not the program's.
  if (way.frees_send) MPI_Barrier(MPI_COMM_WORLD);
  const bool has_status = in.is_there() && way.wants_status && way.start != Way::nonblocking;
  return has_status ? status : received.status;
}

// Sends three times, so that the type is known in the end.
void exchange(Message& message, std::uint64_t seed, int from, int to) {
  const Way way(seed);
  const std::string how = way.text();
  Random own(seed * 64 + static_cast<unsigned>(rank));
  for (int turn = 0; turn < 3; ++turn) {
    step("seed %lu, turn %d: %s, %.80s", static_cast<unsigned long>(seed), turn, how.c_str(),
         message.made.text.c_str());
    const int tag = static_cast<int>(seed * 3 % 30000) + turn;  // of no other message for long
    std::vector<char> source = pattern(seed + static_cast<unsigned>(turn));
    std::vector<char> bytes = packed(message, source);
    std::vector<char> target = pattern(seed + 99), expected = target;
    expect_arrived(message, seed, expected, bytes);
    Side out, in;
    if (rank == from) {
      out = message.as_bytes[0] ? Side{bytes.data(), message.bytes, MPI_PACKED, to}
                                : Side{source.data() + kRoom, message.count, message.made.type, to};
    }
    if (rank == to) {
      const int room = message.bytes / message.count * message.room;
      in = message.as_bytes[1] ? Side{target.data() + kRoom, room, MPI_PACKED, from}
                               : Side{target.data() + kRoom, message.room, message.made.type, from};
    }
    // The type may be freed while the message is under way.
    const bool frees = turn == 2 && message.made.derived;
    const std::optional<MPI_Status> status = run(out, in, way, tag, own, [&] {
      if (frees) free_type(message.made);
    });
    if (rank != to) continue;
    CHECK(target == expected, "seed %lu, turn %d: %s; %s sent%s, received%s",
          static_cast<unsigned long>(seed), turn, how.c_str(), message.made.text.c_str(),
          message.as_bytes[0] ? " as bytes" : "", message.as_bytes[1] ? " as bytes" : "");
    if (status && !frees) check_status(message, *status, from, tag);
  }
}

void exchange_random(std::uint64_t seed) {
  TypeRandom random(seed);
  Message message;
  const int from = between(random, 0, ranks - 1), to = between(random, 0, ranks - 1);
  const bool usable = make_message(random, message);
  if (usable) {
    exchange(message, seed, from, to);
  } else {
    free_type(message.made);
  }
}

// Columns that are sent to memory of the same layout.
struct SentColumns : Columns {
  std::vector<double> arrived = matrix;
  SentColumns() { number(); }

  void check_arrived(const char* what, bool has_arrived) const {
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const double expected = has_arrived && is_data(i) ? matrix[i] : 1.5;
      if (!CHECK(arrived[i] == expected, "%s: %zu is %g", what, i, arrived[i])) return;
    }
  }
};

void test_requests_that_end_otherwise() {
  SentColumns c;
  MPI_Request request;
  MPI_Status status;
  int done = 0;
  step("a receive that is cancelled");
  MPI_Irecv(c.arrived.data(), 1, c.type, rank, 5, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &done);
  CHECK(done);
  c.check_arrived("cancelled", false);

  step("a receive whose end only MPI_Request_get_status has told");
  MPI_Irecv(c.arrived.data(), 1, c.type, rank, 6, MPI_COMM_WORLD, &request);
  MPI_Send(c.matrix.data(), 1, c.type, rank, 6, MPI_COMM_WORLD);
  for (done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  c.check_arrived("get_status", true);
  std::fill(c.arrived.begin(), c.arrived.end(), 1.5);
  MPI_Wait(&request, &status);  // the data are the program's by now
  c.check_arrived("get_status and wait", false);

  step("a receive whose request is freed");
  MPI_Irecv(c.arrived.data(), 1, c.type, rank, 7, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Send(c.matrix.data(), 1, c.type, rank, 7, MPI_COMM_WORLD);
  while (c.arrived[0] != c.matrix[0]) {
    request = MPI_REQUEST_NULL;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (c.arrived[1] == c.matrix[1]) break;
  }
  c.check_arrived("freed", true);
}

void test_errors() {
  SentColumns c;
  step("no peer");
  MPI_Status status;
  MPI_Recv(c.arrived.data(), 1, c.type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Send(c.matrix.data(), 1, c.type, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  c.check_arrived("no peer", false);
  step("a peer that does not exist, and a tag");
  CHECK(class_of(MPI_Send(c.matrix.data(), 1, c.type, ranks, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Send(c.matrix.data(), 1, c.type, rank, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  step("more than there is room for");
  MPI_Request request;
  MPI_Isend(c.matrix.data(), 1, c.type, rank, 8, MPI_COMM_WORLD, &request);
  MPI_Datatype half;
  MPI_Type_vector(c.kRows / 2, 3, c.kRowLength, MPI_DOUBLE, &half);
  MPI_Type_commit(&half);
  const int error = MPI_Recv(c.arrived.data(), 1, half, rank, 8, MPI_COMM_WORLD, &status);
  CHECK(class_of(error) == MPI_ERR_TRUNCATE, "error class %d", class_of(error));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  const unsigned long first = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const long least = argc > 3 ? std::atol(argv[3]) : 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  for (int i = 0; i < rounds; ++i) exchange_random(first + static_cast<unsigned long>(i));
  test_requests_that_end_otherwise();
  test_errors();
  const PackedCounts packed = messages_packed();
  const long served = packed.sent + packed.received;
  CHECK(served >= least, "%ld messages packed or unpacked", served);
  return finish();
}
