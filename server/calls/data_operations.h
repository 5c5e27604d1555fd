// The RPCs of a server's data port.
#pragma once

#include "server/calls/operations.h"

namespace vicinity {

// Those of proto/service.proto, the health service's Check, and reflection.
Operations DataOperations();

}  // namespace vicinity
