// The HTTP port of a server: metrics for Prometheus, probes, and the status page, apart from the
// ports for calls.
//
// One thread does it all, and waits for nobody: it has the connections that are ready go on, in
// turn. So whatever is sent here takes one core at most, and no thread, connection or byte that
// calls for data could have had:
//
//   connections       64; the oldest that is not being answered gives way to a new one
//   a request         16 KiB, within 5 s of its first byte; no body
//   replies unsent    32 MiB in all; beyond that 503. Each has 20 s
//   metrics, status   made anew five times a second at most; who comes in between gets the last
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "proto/cluster/host_port.h"
#include "proto/telemetry/registry.h"
#include "server/http/http_connection.h"
#include "server/http/http_pages.h"
#include "server/security/credentials.h"

namespace vicinity {

struct HttpLimits {
  size_t max_connections = 64;
  size_t max_unsent_bytes = size_t{32} << 20;
  HttpTimes times;
  std::chrono::milliseconds least_age{200};  // of metrics and status before they are made anew
};

// Threads:  one of its own, which is the only one that calls the sources; any may call the methods.
// Lifetime: the destructor ends all connections; trust and what the sources use outlive it.
class HttpServer {
 public:
  // Answers when it returns. `sources` needs no check_reader: that is trust's. What
  // HttpListener::Listen says; ResourceExhausted if there is no thread.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HostPort& listen,
                                                           const ServerTrust* trust,
                                                           PageSources sources,
                                                           const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  static constexpr int kNumThreads = 1;

  const HostPort& address() const;  // with the port that was picked
  // Requests, connections, and those that gave way. It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
