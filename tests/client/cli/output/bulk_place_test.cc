#include "client/cli/output/bulk_place.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/service.pb.h"

namespace vicinity::cli {
namespace {

void Add(const std::string& name, const std::string& socket, double value,
         proto::StatusReply* status) {
  proto::MetricStatus* const metric = status->add_metrics();
  metric->set_name(name);
  metric->set_value(value);
  if (socket.empty()) return;
  proto::MetricLabel* const label = metric->add_labels();
  label->set_name("socket");
  label->set_value(socket);
}

proto::StatusReply Status(double port, double sockets) {
  proto::StatusReply status;
  Add("vicinity_server_bulk_connections", "tcp", 4, &status);
  Add("vicinity_server_bulk_connections", "unix", 2, &status);
  Add("vicinity_server_bulk_port", "", port, &status);
  Add("vicinity_server_bulk_unix_sockets", "", sockets, &status);
  Add("vicinity_server_connections", "", 9, &status);
  return status;
}

TEST_CASE("the bulk channel is told by its places, with the connections of each", "[bulk_place]") {
  CHECK(BulkText(BulkPlaceOf(Status(7510, 1))) == "port 7510 (4), unix (2)");
  CHECK(BulkText(BulkPlaceOf(Status(7510, 0))) == "port 7510 (4)");
  CHECK(BulkText(BulkPlaceOf(Status(0, 1))) == "unix (2)");
  CHECK(BulkJson(BulkPlaceOf(Status(7510, 1))) ==
        nlohmann::ordered_json::parse(
            R"({"port": 7510, "unix": true, "tcp_connections": 4, "unix_connections": 2})"));
}

TEST_CASE("a server without the bulk channel, or of a version before it, has none",
          "[bulk_place]") {
  CHECK(BulkText(BulkPlaceOf({})) == "-");
  CHECK(BulkJson(BulkPlaceOf({})).is_null());
}

}  // namespace
}  // namespace vicinity::cli
