// Servers that are known by name, and on addresses of IPv6: the rest of NET-4 of the reliability
// plan.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/graph.h"
#include "client/types/result.h"
#include "proto/common/file.h"
#include "tests/integration/fixtures/certified_reader.h"
#include "tests/integration/fixtures/network_fixture.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/hosts/network_hosts.h"
#include "tests/testing/hosts/testbed.h"
#include "tests/testing/slow_build.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr int kPort = 7461;
constexpr milliseconds kFound(10'000 * testing::kSlower);

class NamesTest : public NetworkTest {
 protected:
  // A cluster of one server of all shards, which is known by the address alone.
  GraphOptions NamedAs(const std::string& address) const {
    const std::string path = absl::StrCat(testbed_->cluster_file(), ".named");
    VICINITY_REQUIRE_OK(WriteFileAtomically(
        path, absl::StrCat("data: '", testbed_->directory(),
                           "'\nnum_shards: 3\nopen: true\nservers { name: 's' listen: '", address,
                           "' shards: [0, 1, 2] }\n")));
    GraphOptions where = Served();
    where.cluster_file = path;
    where.call_budget = seconds(30 * testing::kSlower);
    return where;
  }
  // Some rows, and how long they took.
  milliseconds Fetch(const Graph& graph) const {
    const testing::CertifiedGraph& truth = testbed_->graph();
    std::vector<int64_t> nodes;
    for (int64_t id = 0; id < truth.shape().num_nodes; id += 7) nodes.push_back(truth.GlobalOf(id));
    const Clock::time_point begin = Clock::now();
    const Result<Rows> rows = graph.Fetch(0, "features", nodes);
    const milliseconds took = Since(begin);
    INFO(rows.error().message());
    REQUIRE(rows.ok());
    for (size_t n = 0; n < nodes.size(); ++n) {
      const std::string_view row(rows->bytes.data() + n * truth.shape().row_bytes,
                                 truth.shape().row_bytes);
      REQUIRE(truth.CheckRow(static_cast<int64_t>(n) * 7, row) == testing::RowFault::kNone);
    }
    return took;
  }
  bool Names(const std::string& lines) const {
    const absl::Status status = hosts_->SetNames(lines);
    if (absl::IsFailedPrecondition(status)) {
      WARN("skipped: " << status.message());
      return false;
    }
    VICINITY_REQUIRE_OK(status);
    return true;
  }
};

TEST_CASE_METHOD(NamesTest, "a server whose name leads elsewhere is found there", "[network]") {
  if (!Start(kNumHosts, false, kPort)) return;
  const auto at = [this](int host) {
    return absl::StrCat(hosts_->address(host), " moving.test\n");
  };
  if (!Names(at(0))) return;
  const std::unique_ptr<Graph> graph = OpenGraph(NamedAs(absl::StrCat("moving.test:", kPort)));
  Fetch(*graph);
  const int64_t before = CallsAt(1);
  // It ends here and begins there.
  REQUIRE(Names(at(1)));
  VICINITY_REQUIRE_OK(testbed_->Kill(0));
  const milliseconds moved = Fetch(*graph);
  CHECK(CallsAt(1) > before);
  // There its host loses its power, and it comes back here.
  VICINITY_REQUIRE_OK(testbed_->Restart(0));
  REQUIRE(Names(at(0)));
  VICINITY_REQUIRE_OK(hosts_->Lose(1, testing::LostWay::kBoth, 100));
  const milliseconds lost = Fetch(*graph);
  VICINITY_REQUIRE_OK(hosts_->Heal(1));
  WARN("a fetch took " << moved.count() << " ms when the server had moved, " << lost.count()
                       << " ms when its host had lost its power and it had moved");
  CHECK(moved < kFound);
  CHECK(lost < kFound);
}

TEST_CASE_METHOD(NamesTest, "a server on an IPv6 address is served from by address and by name",
                 "[network]") {
  if (access("/proc/net/if_inet6", R_OK) != 0) {
    WARN("skipped: this kernel has no IPv6");
    return;
  }
  if (!StartHere("::1")) return;
  CHECK(testbed_->address(0).ToString() == absl::StrCat("[::1]:", testbed_->address(0).port));
  GraphOptions files;
  files.directory = testbed_->directory();
  const testing::Reading served = Open(Served())->Read(0);
  CHECK(served.error.message() == "");
  CHECK(served.digests == Open(files)->Read(0).digests);
  if (!Names("::1 six.test\n")) return;
  Fetch(*OpenGraph(NamedAs(absl::StrCat("six.test:", testbed_->address(0).port))));
}

}  // namespace
}  // namespace vicinity
