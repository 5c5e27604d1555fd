#include "client/cli/output/dataset_description.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/cli/output/output.h"
#include "partition/dataset/book.h"
#include "partition/dataset/schema_proto.h"
#include "partition/schema/schema.h"
#include "proto/common/human_text.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(IdKind kind) {
  switch (kind) {
    case IdKind::kDense:
      return "dense";
    case IdKind::kInt64:
      return "int64";
    case IdKind::kString:
      return "string";
  }
  return "unknown";
}

Json ColumnsAsJson(const std::vector<ColumnSpec>& columns) {
  Json json = Json::array();
  for (const ColumnSpec& column : columns) {
    json.push_back({{"name", column.name},
                    {"dtype", std::string(DTypeName(column.dtype))},
                    {"shape", column.shape}});
    if (!column.of_source.empty()) json.back()["of_source"] = column.of_source;
  }
  return json;
}

Json RaggedAsJson(const std::vector<RaggedSpec>& columns) {
  Json json = Json::array();
  for (const RaggedSpec& column : columns) {
    json.push_back({{"name", column.name},
                    {"dtype", std::string(DTypeName(column.dtype))},
                    {"num_columns", column.num_columns}});
  }
  return json;
}

Json NodeTypeAsJson(const NodeTypeSpec& spec, NodeTypeId type, const Book& book) {
  Json by_shard = Json::array();
  for (int32_t shard = 0; shard < book.num_shards(); ++shard) {
    by_shard.push_back(book.num_nodes(type, ShardId{shard}));
  }
  return {{"name", spec.name},
          {"ids", NameOf(spec.id_kind)},
          {"num_nodes", book.num_nodes(type)},
          {"num_nodes_by_shard", by_shard},
          {"columns", ColumnsAsJson(spec.columns)},
          {"ragged_columns", RaggedAsJson(spec.ragged)},
          {"label_column", spec.label_column},
          {"num_classes", spec.num_classes},
          {"split_column", spec.split_column},
          {"target_column", spec.target_column}};
}

Json EdgeTypesAsJson(const Schema& schema, const proto::Audit& audit) {
  Json json = Json::array();
  for (size_t e = 0; e < schema.edge_types.size(); ++e) {
    Json type = {{"name", schema.EdgeTypeName(static_cast<int>(e))}};
    if (static_cast<int>(e) < audit.edge_types_size()) {
      type["num_edges"] = audit.edge_types(static_cast<int>(e)).count();
    }
    type["columns"] = ColumnsAsJson(schema.edge_types[e].columns);
    json.push_back(std::move(type));
  }
  return json;
}

Json RankingAsJson(const proto::Ranking& ranking) {
  Json homes = Json::array();
  for (const proto::Ranking::Home& home : ranking.homes()) homes.push_back(home.shards());
  return {{"name", ranking.name()},
          {"seeds", ranking.seeds()},
          {"batch_size", ranking.batch_size()},
          {"fanouts", ranking.fanouts()},
          {"replace", ranking.replace()},
          {"expansion", ranking.new_nodes_only() ? "new" : "all"},
          {"homes", homes}};
}

// "features float32[256], label int32"; of edges also "time int64 (source's time)"
std::string ColumnsAsText(const Json& columns) {
  std::string text;
  for (const Json& column : columns) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", column["name"].get<std::string>(), " ",
                    column["dtype"].get<std::string>());
    if (!column["shape"].empty()) absl::StrAppend(&text, column["shape"].dump());
    if (column.contains("of_source")) {
      absl::StrAppend(&text, " (source's ", column["of_source"].get<std::string>(), ")");
    }
  }
  return text.empty() ? "none" : text;
}

// "title uint8[...], words float32[sparse, 8898]" behind those of all rows alike
std::string NodeColumnsAsText(const Json& type) {
  std::string text = type["columns"].empty() ? "" : ColumnsAsText(type["columns"]);
  for (const Json& column : type["ragged_columns"]) {
    const auto num_columns = column["num_columns"].get<int64_t>();
    absl::StrAppend(&text, text.empty() ? "" : ", ", column["name"].get<std::string>(), " ",
                    column["dtype"].get<std::string>(),
                    num_columns > 0 ? absl::StrCat("[sparse, ", num_columns, "]") : "[...]");
  }
  return text.empty() ? "none" : text;
}

std::string RolesAsText(const Json& type) {
  std::string text;
  if (const auto label = type["label_column"].get<std::string>(); !label.empty()) {
    absl::StrAppend(&text, label, ": ", type["num_classes"].get<int32_t>(), " classes");
  }
  if (const auto target = type["target_column"].get<std::string>(); !target.empty()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", target, ": target");
  }
  if (const auto split = type["split_column"].get<std::string>(); !split.empty()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", split, ": splits");
  }
  return text;
}

void PrintTypes(const Json& description, std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  Table nodes({{"NODE TYPE"}, {"NODES", kRight}, {"IDS"}, {"COLUMNS"}, {"ROLES"}});
  for (const Json& type : description["node_types"]) {
    nodes.AddRow({type["name"], HumanCount(type["num_nodes"]), type["ids"], NodeColumnsAsText(type),
                  RolesAsText(type)});
  }
  nodes.Print(out);
  out << '\n';
  Table edges({{"EDGE TYPE"}, {"EDGES", kRight}, {"COLUMNS"}});
  for (const Json& type : description["edge_types"]) {
    edges.AddRow({type["name"], type.contains("num_edges") ? HumanCount(type["num_edges"]) : "?",
                  ColumnsAsText(type["columns"])});
  }
  edges.Print(out);
  out << '\n';
}

void PrintShards(const Json& description, std::ostream& out) {
  std::vector<Table::Column> titles = {{"SHARD", Table::Align::kRight}};
  for (const Json& type : description["node_types"]) {
    titles.push_back({type["name"], Table::Align::kRight});
  }
  Table shards(titles);
  for (size_t shard = 0; shard < description["num_shards"].get<size_t>(); ++shard) {
    std::vector<std::string> cells = {absl::StrCat(shard)};
    for (const Json& type : description["node_types"]) {
      cells.push_back(HumanCount(type["num_nodes_by_shard"][shard]));
    }
    shards.AddRow(std::move(cells));
  }
  shards.Print(out);
}

void PrintRankings(const Json& rankings, std::ostream& out) {
  Table table(
      {{"RANKING"}, {"SEEDS"}, {"BATCH"}, {"FANOUTS"}, {"REPLACE"}, {"EXPANSION"}, {"HOMES"}});
  for (const Json& ranking : rankings) {
    table.AddRow({ranking["name"], ranking["seeds"], HumanCount(ranking["batch_size"]),
                  ranking["fanouts"].dump(), ranking["replace"].get<bool>() ? "yes" : "no",
                  ranking["expansion"], ranking["homes"].dump()});
  }
  table.Print(out);
}

}  // namespace

proto::DescribeReply DescriptionOf(const proto::Manifest& manifest) {
  proto::DescribeReply description;
  description.set_dataset(manifest.name());
  description.set_fingerprint(manifest.fingerprint());
  *description.mutable_schema() = manifest.schema();
  *description.mutable_book() = manifest.book();
  *description.mutable_rankings() = manifest.rankings();
  *description.mutable_audit() = manifest.audit();
  description.set_provenance(manifest.provenance());
  return description;
}

absl::StatusOr<nlohmann::ordered_json> DescriptionAsJson(const proto::DescribeReply& description) {
  const auto schema = SchemaFromProto(description.schema());
  if (!schema.ok()) return absl::InternalError(schema.status().message());
  const auto book = Book::FromProto(description.book());
  if (!book.ok()) return absl::InternalError(book.status().message());
  if (book->num_node_types() != static_cast<int64_t>(schema->node_types.size())) {
    return absl::InternalError(absl::StrCat("a book of ", book->num_node_types(),
                                            " node types for a schema of ",
                                            schema->node_types.size()));
  }
  Json json = {{"dataset", description.dataset()},
               {"fingerprint", absl::StrFormat("%016x", description.fingerprint())},
               {"provenance", description.provenance()},
               {"num_shards", book->num_shards()}};
  json["node_types"] = Json::array();
  for (int32_t type = 0; type < book->num_node_types(); ++type) {
    json["node_types"].push_back(NodeTypeAsJson(schema->node_types[type], NodeTypeId{type}, *book));
  }
  json["edge_types"] = EdgeTypesAsJson(*schema, description.audit());
  json["rankings"] = Json::array();
  for (const proto::Ranking& ranking : description.rankings()) {
    json["rankings"].push_back(RankingAsJson(ranking));
  }
  return json;
}

void PrintDescription(const nlohmann::ordered_json& description, std::ostream& out) {
  std::string provenance = description["provenance"];
  absl::StrReplaceAll({{"\n", "\n             "}}, &provenance);
  out << "dataset      " << description["dataset"].get<std::string>() << '\n'
      << "fingerprint  " << description["fingerprint"].get<std::string>() << '\n'
      << "provenance   " << provenance << "\n\n";
  PrintTypes(description, out);
  PrintShards(description, out);
  if (description["rankings"].empty()) return;
  out << '\n';
  PrintRankings(description["rankings"], out);
}

}  // namespace vicinity::cli
