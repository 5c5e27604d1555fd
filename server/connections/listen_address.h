// Tells why an address cannot be listened on, which gRPC itself does not.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/cluster/cluster_file.h"

namespace vicinity {

// Binds and lets go again. Unavailable if the port is in use, with the process that holds it where
// the kernel tells; InvalidArgument if it is no address of this host, with those that are, or no
// known name; PermissionDenied for a port that this user may not have. Texts name the address and
// what the system said.
absl::Status CheckListenAddress(const HostPort& address);

// Names of the processes that listen on a TCP port ("pid 4711 (vicinityd)"), as far as this user
// may look; empty if none is found.
std::string ListenersOn(int port);

}  // namespace vicinity
