// How a server is told of its bulk channel.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/cluster/host_port.h"

namespace vicinity {

struct BulkOptions {
  bool local = false;           // a Unix socket
  std::optional<HostPort> tcp;  // none: not over TCP
  uint32_t max_calls = 100;     // of a connection at once

  bool is_there() const { return local || tcp.has_value(); }
};

}  // namespace vicinity
