// SPDX-License-Identifier: BSD-3-Clause
// These packed messages and exchanges are under way. Their requests are the MPI's own. What has
// arrived is put where the program wants it before the program is told that the request has ended;
// also if the program has freed the request.
#pragma once

#include <memory>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// Keep the memory until the request has ended.
void keep_send(MpiRequest request, std::unique_ptr<Delivery> message);
void keep_receive(MpiRequest request, std::unique_ptr<Delivery> message);
void keep_exchange(MpiRequest request, std::unique_ptr<Delivery> exchange);

}  // namespace sumac
