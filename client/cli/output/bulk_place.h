// A server's bulk channel as its metrics tell of it, for `status` and `top`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/service.pb.h"

namespace vicinity::cli {

struct BulkPlace {
  int64_t port = 0;  // of TCP; 0: not there
  bool over_unix = false;
  int64_t tcp_connections = 0;  // that are open
  int64_t unix_connections = 0;

  bool is_there() const { return port != 0 || over_unix; }
};

// Of an answer with metrics.
BulkPlace BulkPlaceOf(const proto::StatusReply& status);

// "port 7510 (4), unix (2)", each with its connections; "-": there is none.
std::string BulkText(const BulkPlace& place);
// {"port", "unix", "tcp_connections", "unix_connections"}; null: there is none.
nlohmann::ordered_json BulkJson(const BulkPlace& place);

}  // namespace vicinity::cli
