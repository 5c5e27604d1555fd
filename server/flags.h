// The flags of vicinityd, before the cluster file has its say.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/server_config.h"

namespace CLI {
class App;
}

namespace vicinity {

// Those whose text or unit is not what the server works with.
struct Flags {
  std::string cluster;
  std::string name;
  std::string data;
  std::string shards;
  std::string listen = "127.0.0.1:7500";
  std::string log_format = "text";
  std::string log_level = "info";
  ServerSecurity security;  // what is set goes before the cluster file
  std::string admin_listen;
  std::string http;
  std::string bulk = "auto";
  double drain_seconds = 5;
  double announce_seconds = 1;
  int64_t check_mib_per_second = 32;
  int64_t changes_cache_mib = 768;
  int64_t changes_free_mib = 1024;
  double keep_retired_seconds = 1800;
  int64_t changes_warn_mib = 4096;
  int64_t changes_reserve_mib = 64;
  int64_t condition_mib = kDefaultMatchingBytes >> 20;
  int64_t reply_mib = 1024;
  int64_t client_reply_mib = 512;
  double client_mib_rate = 0;
  double write_timeout_seconds = 20;
  double slow_call_ms = 10'000;
};

// Declares all flags with the ranges of their values; those that need no more go to `config` at
// once. Both must live as long as `app` parses.
void DeclareFlags(CLI::App* app, Flags* flags, ServerConfig* config);

// The rest of `flags`, in the server's units, but for what the cluster file may say as well: which
// data, shards and addresses. InvalidArgument naming what is wrong.
absl::Status Convert(const Flags& flags, ServerConfig* config);

}  // namespace vicinity
