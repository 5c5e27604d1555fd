#include "client/cli/output/bulk_place.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace vicinity::cli {

BulkPlace BulkPlaceOf(const proto::StatusReply& status) {
  BulkPlace place;
  for (const proto::MetricStatus& metric : status.metrics()) {
    const int64_t value = std::llround(metric.value());
    if (metric.name() == "vicinity_server_bulk_port") place.port = value;
    if (metric.name() == "vicinity_server_bulk_unix_sockets") place.over_unix = value > 0;
    if (metric.name() != "vicinity_server_bulk_connections") continue;
    for (const proto::MetricLabel& label : metric.labels()) {
      if (label.value() == "tcp") place.tcp_connections = value;
      if (label.value() == "unix") place.unix_connections = value;
    }
  }
  return place;
}

std::string BulkText(const BulkPlace& place) {
  if (!place.is_there()) return "-";
  std::string text;
  if (place.port != 0) {
    text = absl::StrCat("port ", place.port, " (", place.tcp_connections, ")");
  }
  if (place.over_unix) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "unix (", place.unix_connections, ")");
  }
  return text;
}

nlohmann::ordered_json BulkJson(const BulkPlace& place) {
  if (!place.is_there()) return nullptr;
  return {{"port", place.port},
          {"unix", place.over_unix},
          {"tcp_connections", place.tcp_connections},
          {"unix_connections", place.unix_connections}};
}

}  // namespace vicinity::cli
