// SPDX-License-Identifier: BSD-3-Clause
// This file serves MPI_Send, MPI_Recv, MPI_Sendrecv, MPI_Isend and MPI_Irecv of types with gaps. It
// leaves all other messages to the MPI, also those of synchronous, buffered, ready, persistent and
// matched calls.
#include "interpose/messages/packing_calls.h"

#include "interpose/messages/kept_messages.h"
#include "interpose/messages/packed_data.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"

namespace sumac {
namespace {

// The MPI is given this for a message: its packed bytes, or what the program gave.
struct Given {
  std::unique_ptr<PackedMessage> message;
  MessageData data;

  Given(const MessageData& from, int peer)
      : message(peer == kMpi.proc_null ? nullptr : PackedMessage::make(from)), data(from) {
    if (message) data = {message->packed(), message->bytes(), kMpi.packed, from.comm};
  }
  // Must be called after the MPI's call.
  void note(int error, int peer) const {
    if (!message && error == kMpiSuccess && peer != kMpi.proc_null) note_message(data);
  }
};

int send(const void* in, int count, MpiDatatype type, int to, int tag, MpiComm comm) {
  const Given given({const_cast<void*>(in), count, type, comm}, to);
  if (given.message) given.message->pack();
  const MessageData& data = given.data;
  const int error = mpi.Send(data.address, data.count, data.type, to, tag, comm);
  given.note(error, to);
  return error;
}

int receive(void* out, int count, MpiDatatype type, int from, int tag, MpiComm comm,
            StatusPointer status) {
  const Given given({out, count, type, comm}, from);
  const MessageData& data = given.data;
  MpiStatus own;
  if (given.message && status == status_ignore()) status = own.pointer();
  const int error = mpi.Recv(data.address, data.count, data.type, from, tag, comm, status);
  if (given.message && error == kMpiSuccess) given.message->deliver(status);
  given.note(error, from);
  return error;
}

int send_receive(const void* in, int in_count, MpiDatatype in_type, int to, int send_tag, void* out,
                 int out_count, MpiDatatype out_type, int from, int receive_tag, MpiComm comm,
                 StatusPointer status) {
  const Given sent({const_cast<void*>(in), in_count, in_type, comm}, to);
  const Given received({out, out_count, out_type, comm}, from);
  if (sent.message) sent.message->pack();
  MpiStatus own;
  if (received.message && status == status_ignore()) status = own.pointer();
  const int error = mpi.Sendrecv(sent.data.address, sent.data.count, sent.data.type, to, send_tag,
                                 received.data.address, received.data.count, received.data.type,
                                 from, receive_tag, comm, status);
  if (received.message && error == kMpiSuccess) received.message->deliver(status);
  sent.note(error, to);
  received.note(error, from);
  return error;
}

int begin_send(const void* in, int count, MpiDatatype type, int to, int tag, MpiComm comm,
               RequestPointer request) {
  Given given({const_cast<void*>(in), count, type, comm}, to);
  if (given.message) given.message->pack();
  const MessageData& data = given.data;
  const int error = mpi.Isend(data.address, data.count, data.type, to, tag, comm, request);
  given.note(error, to);
  if (given.message && error == kMpiSuccess) keep_send(*request, std::move(given.message));
  return error;
}

int begin_receive(void* out, int count, MpiDatatype type, int from, int tag, MpiComm comm,
                  RequestPointer request) {
  Given given({out, count, type, comm}, from);
  const MessageData& data = given.data;
  const int error = mpi.Irecv(data.address, data.count, data.type, from, tag, comm, request);
  given.note(error, from);
  if (given.message && error == kMpiSuccess) keep_receive(*request, std::move(given.message));
  return error;
}

}  // namespace

void redirect_messages(const sumac_stub& stub) {
  in_front.Send = send;
  in_front.Recv = receive;
  in_front.Sendrecv = send_receive;
  in_front.Isend = begin_send;
  in_front.Irecv = begin_receive;
  for (int call = SUMAC_CALL_Send; call <= SUMAC_CALL_Irecv; ++call) {
    put_in_front(stub, static_cast<sumac_call>(call));
  }
}

}  // namespace sumac
