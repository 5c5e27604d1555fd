#include "tests/client/cli/admin_site.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/file.h"
#include "server/logging/log_ring.h"
#include "server/logging/logging.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

AdminSite::AdminSite(std::vector<proto::FlagValue> flags) {
  const MemoryGraph graph = RandomGraph({});
  VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 5), folder_.File("graph")));
  const auto ring = std::make_shared<LogRing>();
  log_ = MakeLogger(LogFormat::kText, spdlog::level::info, ring);
  ServerOptions options;
  options.name = "a";
  options.data = folder_.File("graph");
  options.shards = {ShardId{0}};
  options.admin = HostPort{"127.0.0.1", 0};
  options.drain = [this] { ++drains_; };
  options.log = log_;
  options.log_ring = ring;
  options.flags = std::move(flags);
  auto server = Server::Start(options);
  VICINITY_REQUIRE_OK(server);
  server_ = *std::move(server);
  VICINITY_REQUIRE_OK(WriteFileAtomically(
      cluster(), absl::StrCat("data: 'graph' num_shards: 3\nservers { name: 'a' listen: '",
                              server_->address().ToString(), "' shards: 0 admin: '",
                              server_->admin_address()->ToString(),
                              "' }\nservers { name: 'b' listen: '127.0.0.1:2' shards: 1 "
                              "admin: '127.0.0.1:1' }\n"
                              "servers { name: 'c' listen: '127.0.0.1:3' shards: 2 }\n")));
}

}  // namespace vicinity::testing
