// SPDX-License-Identifier: BSD-3-Clause
// The listener unpacks what has arrived in a packed message before the program is told that its
// request has ended.
#pragma once

#include "interpose/requests/events.h"

namespace sumac {

RequestListener& message_listener();

}  // namespace sumac
