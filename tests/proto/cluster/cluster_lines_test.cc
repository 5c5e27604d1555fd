#include "proto/cluster/cluster_lines.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

constexpr char kText[] = R"(data: "g"
num_shards: 3
servers { name: "a" shards: [0, 1] }
servers {
  name: "b"
  shards: 2
  shards: 0
}
)";

TEST_CASE("fields of the file are found by their line", "[cluster_lines]") {
  const ClusterLines lines("c.txt", kText);
  CHECK(lines.OfField("data") == 0);
  CHECK(lines.OfField("num_shards") == 1);
  CHECK(lines.OfField("tls") == ClusterLines::kNoLine);
}

TEST_CASE("fields of a server are found by their line, or by the server's", "[cluster_lines]") {
  const ClusterLines lines("c.txt", kText);
  CHECK(lines.OfServer(0) == 2);
  CHECK(lines.OfServer(1) == 3);
  CHECK(lines.OfServerField(1, "name") == 4);
  CHECK(lines.OfServerField(1, "listen") == 3);
}

TEST_CASE("each value of a list has its line, and all have one in brackets", "[cluster_lines]") {
  const ClusterLines lines("c.txt", kText);
  CHECK(lines.OfServerField(1, "shards", 0) == 5);
  CHECK(lines.OfServerField(1, "shards", 1) == 6);
  CHECK(lines.OfServerField(0, "shards", 0) == 2);
  CHECK(lines.OfServerField(0, "shards", 1) == 2);
}

TEST_CASE("a fault has the path, and the line as people count it", "[cluster_lines]") {
  const ClusterLines lines("c.txt", kText);
  const absl::Status status = lines.Fault(lines.OfField("num_shards"), "is odd");
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "c.txt:2: is odd");
  CHECK(lines.Fault(ClusterLines::kNoLine, "is odd").message() == "c.txt: is odd");
}

}  // namespace
}  // namespace vicinity
