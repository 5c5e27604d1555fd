#include "client/cli/output/index_list.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output/output.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

struct IndexTotal {
  int64_t entries = 0;
  int64_t bytes = 0;
  std::set<int32_t> shards{};
};
using TypeAndColumn = std::pair<std::string, std::string>;
using IndexTotals = std::map<TypeAndColumn, IndexTotal>;

Json AsJson(const IndexTotals& indexes) {
  Json json = Json::array();
  for (const auto& [column, total] : indexes) {
    json.push_back({{"type", column.first},
                    {"column", column.second},
                    {"kind", "sorted"},
                    {"entries", total.entries},
                    {"bytes", total.bytes},
                    {"shards", total.shards}});
  }
  return json;
}

TypeAndColumn NameOf(const proto::Schema& schema, const proto::Index& index) {
  if (!index.of_edges()) {
    const proto::NodeType& type = schema.node_types(index.type());
    return {type.name(), type.columns(index.column()).name()};
  }
  const proto::EdgeType& type = schema.edge_types(index.type());
  return {absl::StrCat(type.source(), ":", type.relation(), ":", type.target()),
          type.columns(index.column()).name()};
}

int64_t RowsOfType(const proto::Audit& audit, const proto::Index& index) {
  return static_cast<int64_t>(index.of_edges() ? audit.edge_types(index.type()).count()
                                               : audit.node_types(index.type()).count());
}

// What a server says of one index of one shard.
struct IndexMetric {
  TypeAndColumn column;
  int32_t shard = -1;
};

IndexMetric ReadLabels(const proto::MetricStatus& metric) {
  IndexMetric read;
  for (const proto::MetricLabel& label : metric.labels()) {
    if (label.name() == "type") read.column.first = label.value();
    if (label.name() == "column") read.column.second = label.value();
    if (label.name() == "shard" && !absl::SimpleAtoi(label.value(), &read.shard)) read.shard = -1;
  }
  return read;
}

}  // namespace

Json IndexesAsJson(const proto::Manifest& manifest) {
  IndexTotals indexes;
  for (const proto::Index& index : manifest.indexes()) {
    IndexTotal& total = indexes[NameOf(manifest.schema(), index)];
    total.entries = RowsOfType(manifest.audit(), index);
    for (int32_t shard = 0; shard < index.files_size(); ++shard) {
      total.bytes += static_cast<int64_t>(index.files(shard).size());
      total.shards.insert(shard);
    }
  }
  return AsJson(indexes);
}

Json IndexesAsJson(const std::vector<proto::StatusReply>& servers) {
  IndexTotals indexes;
  for (const proto::StatusReply& server : servers) {
    std::set<std::pair<TypeAndColumn, int32_t>> news;
    for (const proto::MetricStatus& metric : server.metrics()) {
      const bool is_bytes = metric.name() == "vicinity_server_index_bytes";
      if (!is_bytes && metric.name() != "vicinity_server_index_rows") continue;
      const IndexMetric read = ReadLabels(metric);
      IndexTotal& total = indexes[read.column];
      if (total.shards.count(read.shard) > 0) continue;  // a replica has said so
      (is_bytes ? total.bytes : total.entries) += static_cast<int64_t>(metric.value());
      news.insert({read.column, read.shard});
    }
    for (const auto& [column, shard] : news) indexes[column].shards.insert(shard);
  }
  return AsJson(indexes);
}

void PrintIndexes(const Json& indexes, std::ostream& out) {
  if (indexes.empty()) return;
  constexpr auto kRight = Table::Align::kRight;
  Table table(
      {{"INDEX OF"}, {"COLUMN"}, {"KIND"}, {"ENTRIES", kRight}, {"SIZE", kRight}, {"SHARDS"}});
  for (const Json& index : indexes) {
    table.AddRow({index["type"], index["column"], index["kind"], HumanCount(index["entries"]),
                  HumanBytes(index["bytes"]), index["shards"].dump()});
  }
  out << '\n';
  table.Print(out);
}

}  // namespace vicinity::cli
