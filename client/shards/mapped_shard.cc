#include "client/shards/mapped_shard.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/ranking.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"

namespace vicinity {
MappedShard::MappedShard(const Dataset& dataset, const Shard& shard, TrafficCounters* traffic)
    : dataset_(dataset), shard_(shard), reader_(shard), traffic_(traffic) {}

void MappedShard::SampleHop(const ShardHop& hop, absl::Span<Neighbors> out,
                            Cancellation* /*cancel*/, Done done) {
  for (size_t i = 0; i < hop.relations.size(); ++i) {
    const ShardHop::Relation& relation = hop.relations[i];
    RelationRequest request;
    request.edge_type = relation.edge_type;
    request.fanout = relation.fanout;
    request.replace = hop.replace;
    request.weighted = relation.weighted;
    request.detail = hop.detail;
    OneHopOptions options = OptionsOf(hop.draw, hop.hop, request);
    options.trees = relation.trees;
    const absl::Status status =
        SampleShard(dataset_.schema(), shard_, relation.edge_type, relation.rows, options, &out[i]);
    if (!status.ok()) return done(status);
    traffic_->sampled_edges_local.fetch_add(out[i].sources.size(), std::memory_order_relaxed);
  }
  done(absl::OkStatus());
}

void MappedShard::FetchRows(const ShardRows& rows, Cancellation* /*cancel*/, Done done) {
  done(CopyRows(rows));
}

void MappedShard::FetchNames(const ShardNames& names, Cancellation* /*cancel*/, Done done) {
  done(CopyNames(names));
}

void MappedShard::ResolveKeys(const ShardKeys& keys, Cancellation* /*cancel*/, Done done) {
  std::vector<int64_t> nodes(keys.keys.size());
  const absl::Status status = reader_.FindKeys(keys.type, keys.keys, nodes.data());
  for (size_t i = 0; status.ok() && i < nodes.size(); ++i) keys.out[keys.positions[i]] = nodes[i];
  done(status);
}

void MappedShard::FetchRanking(const ShardRanking& ranking, Cancellation* /*cancel*/, Done done) {
  done(CopyRanking(ranking));
}

absl::Status MappedShard::CheckRows(absl::Span<const uint64_t> rows, int64_t num_rows,
                                    const std::string& type) const {
  const auto outside = std::find_if(rows.begin(), rows.end(), [num_rows](uint64_t row) {
    return row >= static_cast<uint64_t>(num_rows);
  });
  if (outside == rows.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("shard ", shard_.id().value, ": row ", *outside,
                                                 " of type ", type, " is not below ", num_rows));
}

std::optional<ColumnView> MappedShard::Mapped(NodeTypeId type, int32_t column) const {
  const NodeTable& table = shard_.nodes(type);
  return column == kKeyColumn ? KeysColumn(table) : table.columns[column];
}

absl::Status MappedShard::CopyRows(const ShardRows& rows) const {
  const Schema& schema = dataset_.schema();
  const ColumnView column = rows.edge_type.has_value()
                                ? shard_.edges(*rows.edge_type).columns[rows.column]
                                : *Mapped(rows.type, rows.column);
  VICINITY_RETURN_IF_ERROR(CheckRows(rows.rows, column.num_rows,
                                     rows.edge_type.has_value()
                                         ? schema.EdgeTypeName(rows.edge_type->value)
                                         : schema.node_types[rows.type.value].name));
  traffic_->rows_local.fetch_add(rows.num_rows(), std::memory_order_relaxed);
  if (!rows.rows.empty()) {
    const auto bytes = static_cast<size_t>(column.row_bytes);
    return reader_.ReadRows(
        column, rows.rows, [] {},
        [&](size_t i, const char* row) {
          const int64_t position =
              rows.positions.empty() ? static_cast<int64_t>(i) : rows.positions[i];
          std::memcpy(rows.out + position * column.row_bytes, row, bytes);
        });
  }
  if (rows.first < 0 || rows.count < 0 || rows.first > column.num_rows - rows.count) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", shard_.id().value, ": rows ",
                                                   rows.first, " + ", rows.count, " of ",
                                                   column.num_rows));
  }
  if (rows.count == 0) return absl::OkStatus();
  return reader_.ReadRange(column, rows.first, rows.count, [&](const char* stored) {
    std::memcpy(rows.out, stored, rows.count * column.row_bytes);
  });
}

absl::Status MappedShard::CopyNames(const ShardNames& names) const {
  const NodeTable& table = shard_.nodes(names.type);
  VICINITY_RETURN_IF_ERROR(CheckRows(names.rows, table.num_nodes(),
                                     dataset_.schema().node_types[names.type.value].name));
  return reader_.ReadNames(
      names.type, names.rows, [] {},
      [&](size_t i, std::string_view name) {
        names.out[names.positions[i]] = std::string(name);
        return true;
      });
}

absl::Status MappedShard::CopyRanking(const ShardRanking& ranking) const {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Ranking> stored,
                            Ranking::Open(dataset_, ranking.name, ranking.home, ranking.type));
  const int64_t count =
      ranking.count == 0 ? stored->size() : std::min(ranking.count, stored->size());
  std::vector<int64_t> nodes;
  std::vector<float> probabilities;
  VICINITY_RETURN_IF_ERROR(stored->Read(0, count, &nodes, &probabilities));
  std::vector<int64_t>* const all = &ranking.out->nodes;
  all->insert(all->end(), nodes.begin(), nodes.end());
  ranking.out->probabilities.insert(ranking.out->probabilities.end(), probabilities.begin(),
                                    probabilities.end());
  return absl::OkStatus();
}

}  // namespace vicinity
