#include "proto/cluster/cluster_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr char kGood[] = R"(data: "graph"
num_shards: 3
servers { name: "a" listen: "127.0.0.1:7500" shards: [2, 0] }
servers {
  name: "b"
  listen: "0.0.0.0:7501"
  advertise: "b.example.org:7501"
  shards: 1
}
)";

TEST_CASE("a cluster file tells which server serves which shards", "[cluster_file]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile file, ParseClusterFile("/etc/x/c.txt", kGood));
  CHECK(file.data == "/etc/x/graph");
  CHECK(file.num_shards == 3);
  REQUIRE(file.servers.size() == 2);
  CHECK(file.servers[0].listen.ToString() == "127.0.0.1:7500");
  CHECK(file.servers[0].advertise == "127.0.0.1:7500");
  CHECK(file.servers[0].shards == std::vector<ShardId>{{0}, {2}});
  CHECK(file.servers[1].advertise == "b.example.org:7501");
  CHECK(file.FindServer("b") == &file.servers[1]);
  CHECK(file.FindServer("c") == nullptr);
  CHECK(file.ServersOf(ShardId{2}) == std::vector<int>{0});
  CHECK(file.ServersOf(ShardId{1}) == std::vector<int>{1});
  CHECK(file.ServersOf(ShardId{3}).empty());
}

TEST_CASE("an absolute data directory stays as it is", "[cluster_file]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile file,
                                ParseClusterFile("sub/c.txt", R"(data: "/srv/graph" num_shards: 1
                                       servers { name: "a" listen: "[::1]:0" shards: 0 })"));
  CHECK(file.data == "/srv/graph");
  CHECK(file.servers[0].listen.host == "::1");
  CHECK(file.servers[0].listen.ToString() == "[::1]:0");
  CHECK(file.servers[0].advertise.empty());
}

TEST_CASE("a cluster file is read from disk, and its absence is told", "[cluster_file]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(WriteFileAtomically(folder.File("c.txt"), kGood));
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile file, ReadClusterFile(folder.File("c.txt")));
  CHECK(file.data == folder.File("graph"));
  VICINITY_CHECK_CODE(ReadClusterFile(folder.File("d.txt")), absl::StatusCode::kNotFound);
}

TEST_CASE("of a live graph the file tells who writes a shard first, and where changes lie",
          "[cluster_file]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ClusterFile file,
      ParseClusterFile("/etc/x/c.txt", R"(data: "graph" num_shards: 3 changes: "changes"
          servers { name: "a" listen: "h:1" shards: [0, 1, 2] }
          servers { name: "b" listen: "h:2" shards: [0, 1] writes: 1 changes: "/mnt/b" })"));
  CHECK(file.servers[0].changes == "/etc/x/changes");
  CHECK(file.servers[1].changes == "/mnt/b");
  CHECK(file.FirstWriterOf(ShardId{0}) == 0);
  CHECK(file.FirstWriterOf(ShardId{1}) == 1);
  CHECK(file.FirstWriterOf(ShardId{2}) == 0);
  CHECK(file.FirstWriterOf(ShardId{3}) == -1);
}

TEST_CASE("the file says where bulk channels are, for all servers and for one", "[cluster_file]") {
  const std::string servers =
      "servers { name: 'a' listen: 'h:1' shards: 0 } "
      "servers { name: 'b' listen: 'h:2' shards: 1 bulk: 'none' }"
      "servers { name: 'c' listen: 'h:3' shards: 2 bulk: '[::1]:7510' }";
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ClusterFile file,
      ParseClusterFile("c.txt", "data: 'g' num_shards: 3 bulk: 'auto' " + servers));
  CHECK(file.servers[0].bulk == "auto");
  CHECK(file.servers[1].bulk == "none");
  CHECK(file.servers[2].bulk == "[::1]:7510");
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile silent,
                                ParseClusterFile("c.txt", "data: 'g' num_shards: 3 " + servers));
  CHECK(silent.servers[0].bulk.empty());
}

// The fault is in `line` (0: of the whole file), and the error names `value`.
struct BadFile {
  const char* what;
  const char* text;
  int line;
  const char* value;
};

TEST_CASE("faults of a cluster file are told with line and value", "[cluster_file]") {
  const BadFile bad = GENERATE(values<BadFile>({
      {"not text format", "data: \"g\"\nnum_shards 1\n", 2, "\"1\""},
      {"unknown field", "data: \"g\"\n\ncolour: 3\n", 3, "colour"},
      {"no data", "num_shards: 1\nservers { name: \"a\" listen: \"h:1\" shards: 0 }", 0, "data"},
      {"no shards", "data: \"g\"\nnum_shards: 0\n", 2, "0"},
      {"negative shards", "data: \"g\"\nnum_shards: -4\n", 2, "-4"},
      {"absurdly many shards", "data: \"g\"\nnum_shards: 2000000000\n", 2, "2000000000"},
      {"no servers", "data: \"g\"\nnum_shards: 1\n", 0, "no servers"},
      {"writes what it has not",
       "data: \"g\" num_shards: 2\nservers { name: \"a\" listen: \"h:1\" shards: [0, 1] }\n"
       "servers { name: \"b\" listen: \"h:2\" shards: 0\n writes: 1 }",
       4, "writes shard 1"},
      {"two first writers",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\" shards: 0 writes: 0 }\n"
       "servers { name: \"b\" listen: \"h:2\" shards: 0 writes: 0 }",
       3, "as server \"a\" does"},
      {"a port that others cannot know",
       "data: \"g\" num_shards: 1 changes: \"c\"\nservers { name: \"a\" listen: \"h:1\" shards: 0 "
       "}\n"
       "servers { name: \"b\" listen: \"h:0\" shards: 0 }",
       3, "picks a port"},
      {"one live server",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\" shards: 0\n changes: "
       "\"c\" }",
       3, "live on all its servers or on none"},
      {"no place for a bulk channel",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\" shards: 0\n bulk: "
       "\"unix\" }",
       3, "none, local, auto or host:port"},
      {"no place for bulk channels",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\" shards: 0 }\nbulk: "
       "\"7510\"",
       3, "7510"},
      {"nameless server", "data: \"g\" num_shards: 1\nservers { listen: \"h:1\" shards: 0 }", 2,
       "server 1"},
      {"doubled name",
       "data: \"g\" num_shards: 2\nservers { name: \"a\" listen: \"h:1\" shards: 0 }\n"
       "servers {\n  name: \"a\" listen: \"h:2\" shards: 1 }",
       4, "\"a\""},
      {"no listen", "data: \"g\" num_shards: 1\nservers { name: \"a\" shards: 0 }", 2, "\"a\""},
      {"address without port",
       "data: \"g\" num_shards: 1\nservers { name: \"a\"\n listen: \"host\" shards: 0 }", 3,
       "\"host\""},
      {"port out of range",
       "data: \"g\" num_shards: 1\nservers { name: \"a\"\n listen: \"h:65536\" shards: 0 }", 3,
       "65536"},
      {"wildcard that nobody can dial",
       "data: \"g\" num_shards: 1\nservers { name: \"a\"\n listen: \"0.0.0.0:1\" shards: 0 }", 3,
       "0.0.0.0:1"},
      {"advertised port 0",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\"\n advertise: \"h:0\" "
       "shards: 0 }",
       3, "h:0"},
      {"server without shards",
       "data: \"g\" num_shards: 1\nservers { name: \"a\" listen: \"h:1\" }", 2, "\"a\""},
      {"shard out of range",
       "data: \"g\" num_shards: 2\nservers { name: \"a\" listen: \"h:1\"\n shards: 0\n shards: 2 }",
       4, "shard 2"},
      {"negative shard",
       "data: \"g\" num_shards: 2\nservers { name: \"a\" listen: \"h:1\"\n shards: [0, -1] }", 3,
       "shard -1"},
      {"shard listed twice",
       "data: \"g\" num_shards: 2\nservers { name: \"a\" listen: \"h:1\"\n shards: [0, 1, 1] }", 3,
       "shard 1"},
      {"shard missing",
       "data: \"g\"\nnum_shards: 3\nservers { name: \"a\" listen: \"h:1\" shards: [0, 2] }", 2,
       "shard 1"},
  }));
  CAPTURE(bad.what);
  const absl::Status status = ParseClusterFile("c.txt", bad.text).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  const std::string place =
      bad.line == 0 ? std::string("c.txt: ") : absl::StrCat("c.txt:", bad.line, ":");
  CHECK_THAT(std::string(status.message()), Catch::StartsWith(place));
  CHECK_THAT(std::string(status.message()), Catch::Contains(bad.value));
}

TEST_CASE("a cluster file says how its connections are secured", "[cluster_file]") {
  const std::string server = "data: 'g' num_shards: 1 servers { name: 'a' listen: 'h:1' shards: 0 ";
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile plain, ParseClusterFile("d/c.txt", server + "}"));
  CHECK(plain.tls.certificate.empty());
  CHECK(plain.access.empty());
  CHECK_FALSE(plain.open);
  CHECK(plain.servers[0].admin.empty());
  CHECK(plain.servers[0].http.empty());
  const std::string rest =
      "admin: '127.0.0.1:7600' }\n"
      "tls { certificate: 'tls/s.pem' key: '/k' ca: 'ca.pem' revoked: 'revoked.pem' }\n"
      "access: 'access.textproto' open: true";
  VICINITY_ASSERT_OK_AND_ASSIGN(const ClusterFile secured,
                                ParseClusterFile("d/c.txt", server + rest));
  CHECK(secured.tls.certificate == "d/tls/s.pem");
  CHECK(secured.tls.key == "/k");
  CHECK(secured.tls.ca == "d/ca.pem");
  CHECK(secured.tls.revoked == "d/revoked.pem");
  CHECK(secured.access == "d/access.textproto");
  CHECK(secured.open);
  CHECK(secured.servers[0].admin == "127.0.0.1:7600");
  for (const char* bad : {"admin: 'h' }", "http: 'h' }", "}\ntls { certificate: 'c' key: 'k' }"}) {
    VICINITY_CHECK_CODE(ParseClusterFile("c.txt", server + bad),
                        absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a shard may be served by several servers", "[cluster_file]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const ClusterFile file,
      ParseClusterFile("c.txt",
                       "data: 'g' num_shards: 2 servers { name: 'a' listen: 'h:1' shards: [1, 0] }"
                       "servers { name: 'b' listen: 'h:2' shards: 1 }"));
  CHECK(file.ServersOf(ShardId{0}) == std::vector<int>{0});
  CHECK(file.ServersOf(ShardId{1}) == std::vector<int>{0, 1});
}

}  // namespace
}  // namespace vicinity
