// What the HTTP port shows, and to whom: from a request's head to the bytes of its reply.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/telemetry/metric.h"
#include "proto/telemetry/registry.h"
#include "server/security/access_control.h"

namespace vicinity {

// Where the contents come from. All are called by one thread.
struct PageSources {
  // Whether a caller may see what this server counts: that of AccessControl::Check.
  std::function<absl::Status(const Caller& caller)> check_reader;
  std::function<std::string()> metrics;  // Prometheus' text
  std::function<std::string()> status;   // JSON
  std::function<bool()> is_ready;        // whether clients should be sent here
  // Requests must be addressed to an IP address or to localhost: on loopback a browser could be led
  // here by a name that some site has pointed at it, and would show that site what it gets.
  bool loopback_alone = false;
};

//   path           role   what
//   /              none   the status page: its frame, which asks for the next
//   /status.json   read   what it shows
//   /metrics       read   for Prometheus
//   /healthz       none   200: the process lives
//   /readyz        none   200, or 503 while clients should not be sent here
//
// Only GET and HEAD. Parsing and writing HTTP is cpp-httplib's.
//
// Threads: one at a time. Lifetime: what `sources` use outlives it.
class HttpPages {
 public:
  explicit HttpPages(PageSources sources);
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;

  struct Reply {
    std::string bytes;
    bool keep = false;  // the connection may go on
  };
  // `head` ends with its empty line; `shown` is what the connection says of its caller, who may
  // show a token beside it.
  Reply Answer(absl::string_view head, const Caller& shown);

  // A reply that is written without looking at any request, and ends its connection.
  static std::string PlainReply(int status, absl::string_view reason);

  // Requests by page and code's first digit. It must outlive the group.
  void AddMetrics(MetricRegistry::Group* group) const;

 private:
  class Server;
  const std::unique_ptr<Server> server_;
};

}  // namespace vicinity
