// SPDX-License-Identifier: BSD-3-Clause
// What has arrived in a packed message is unpacked before the program is told that its request has
// ended.
#pragma once

#include "interpose/requests/events.h"

namespace sumac {

RequestListener& message_listener();

}  // namespace sumac
