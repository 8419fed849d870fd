// SPDX-License-Identifier: BSD-3-Clause
// The tests use handles and statuses in memory that has the MPI's layout. They are compiled against
// headers whose handles are pointers and against one whose handles are ints; both have constants
// that need no library.
#include "interpose/mpi/handle_types.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "interpose/family/native.h"

namespace sumac {
namespace {

constexpr std::uintptr_t kNumber = sizeof(::MPI_Request) == 4 ? 0x98765432 : 0x987654321abcull;

::MPI_Request native(std::uintptr_t bits) { return (::MPI_Request)(bits); }

TEST(HandleTypes, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(kMpi.comm_world.bits, bits_of(MPI_COMM_WORLD));
  EXPECT_EQ(kMpi.request_null.bits, bits_of(MPI_REQUEST_NULL));
  EXPECT_EQ(kMpi.band.bits, bits_of(MPI_BAND));
  EXPECT_EQ(kMpi.err_in_status, MPI_ERR_IN_STATUS);
  EXPECT_EQ(kMpi.in_place, MPI_IN_PLACE);
}

TEST(HandleTypes, AHandlePassesThroughTheMpisTypesUnchanged) {
  const MpiRequest handle{kNumber};
  EXPECT_EQ(from_native<MpiRequest>(to_native(handle)), handle);
  EXPECT_EQ(bits_of(native(kNumber)), kNumber);
}

// The neighbours of a handle in the program's memory are not touched.
TEST(HandleTypes, APointerReadsAndWritesOneHandle) {
  ::MPI_Request requests[] = {native(1), native(2), native(3), native(4)};
  const RequestPointer pointer(requests);
  EXPECT_EQ(pointer[2].bits, 3u);
  (pointer + 1).set({kNumber});
  EXPECT_EQ(requests[0], native(1));
  EXPECT_EQ(requests[1], native(kNumber));
  EXPECT_EQ(requests[2], native(3));
  EXPECT_EQ(*(pointer + 1), MpiRequest{kNumber});
  EXPECT_TRUE(std::any_of(pointer, pointer + 4, [](MpiRequest r) { return r.bits == 4; }));
  EXPECT_FALSE(RequestPointer(nullptr));
}

// The MPI writes a handle of its own size.
TEST(HandleTypes, AnOwnHandleIsWrittenByTheMpi) {
  MpiRequest own = kMpi.request_null;
  *static_cast<::MPI_Request*>(one(own).address()) = native(kNumber);
  EXPECT_EQ(own.bits, kNumber);
}

TEST(HandleTypes, AnArrayHasTheMpisLayout) {
  HandleArray<MpiRequest> array(2, kMpi.request_null);
  array.push_back({kNumber});
  EXPECT_EQ(array.size(), 3u);
  const auto* const natives = static_cast<const ::MPI_Request*>(array.data().address());
  EXPECT_EQ(natives[1], MPI_REQUEST_NULL);
  EXPECT_EQ(natives[2], native(kNumber));
  HandleArray<MpiRequest> copy;
  copy.assign(array.data() + 1, 2);
  EXPECT_EQ(copy[0], kMpi.request_null);
  EXPECT_EQ(copy[1], MpiRequest{kNumber});
}

TEST(HandleTypes, AStatusIsReadAndWrittenInItsFields) {
  ::MPI_Status statuses[3] = {};
  const StatusPointer pointer = StatusPointer(statuses) + 1;
  pointer.set_error(7);
  pointer.set_source(8);
  pointer.set_tag(9);
  EXPECT_EQ(statuses[1].MPI_ERROR, 7);
  EXPECT_EQ(statuses[1].MPI_SOURCE, 8);
  EXPECT_EQ(statuses[1].MPI_TAG, 9);
  EXPECT_EQ(pointer.error(), 7);
  EXPECT_EQ(pointer.source(), 8);
  (pointer + 1).copy_from(pointer);
  EXPECT_EQ(statuses[2].MPI_TAG, 9);
  EXPECT_EQ(statuses[0].MPI_TAG, 0);
  EXPECT_TRUE(StatusPointer(MPI_STATUS_IGNORE).is_ignored());
  EXPECT_TRUE(status_at(StatusPointer(MPI_STATUSES_IGNORE), 2).is_ignored());
  EXPECT_EQ(status_at(StatusPointer(statuses), 1), pointer);
}

}  // namespace
}  // namespace sumac
