#include "client/mapped_shard.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "partition/ranking.h"
#include "proto/common/row_prefetch.h"
#include "proto/common/status.h"
#include "sampler/local_sampler.h"

namespace vicinity {
namespace {

void Gather(const ColumnView& column, const ShardRows& rows) {
  const auto bytes = static_cast<size_t>(column.row_bytes);
  const auto ahead = static_cast<size_t>(PrefetchDistance(column.row_bytes));
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (i + ahead < rows.rows.size()) {
      PrefetchRow(column.data + rows.rows[i + ahead] * bytes, column.row_bytes);
    }
    const int64_t position = rows.positions.empty() ? static_cast<int64_t>(i) : rows.positions[i];
    std::memcpy(rows.out + position * column.row_bytes, column.data + rows.rows[i] * bytes, bytes);
  }
}

}  // namespace

MappedShard::MappedShard(const Dataset& dataset, const Shard& shard, TrafficCounters* traffic)
    : dataset_(dataset), shard_(shard), traffic_(traffic) {}

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
  const NodeTable& table = shard_.nodes(keys.type);
  for (size_t i = 0; i < keys.keys.size(); ++i) {
    const auto found =
        std::lower_bound(table.directory_keys.begin(), table.directory_keys.end(), keys.keys[i]);
    const bool known = found != table.directory_keys.end() && *found == keys.keys[i];
    keys.out[keys.positions[i]] =
        known ? table.directory_nodes[found - table.directory_keys.begin()] : -1;
  }
  done(absl::OkStatus());
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
  if (column != kKeyColumn) return table.columns[column];
  return ColumnView{reinterpret_cast<const char*>(table.keys.data()), table.num_nodes(),
                    sizeof(uint64_t)};
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
    Gather(column, rows);
    return absl::OkStatus();
  }
  if (rows.first < 0 || rows.count < 0 || rows.first > column.num_rows - rows.count) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", shard_.id().value, ": rows ",
                                                   rows.first, " + ", rows.count, " of ",
                                                   column.num_rows));
  }
  if (rows.count > 0) {
    std::memcpy(rows.out, column.data + rows.first * column.row_bytes,
                rows.count * column.row_bytes);
  }
  return absl::OkStatus();
}

absl::Status MappedShard::CopyNames(const ShardNames& names) const {
  const NodeTable& table = shard_.nodes(names.type);
  VICINITY_RETURN_IF_ERROR(CheckRows(names.rows, table.num_nodes(),
                                     dataset_.schema().node_types[names.type.value].name));
  for (size_t i = 0; i < names.rows.size(); ++i) {
    names.out[names.positions[i]] = std::string(table.name(static_cast<int64_t>(names.rows[i])));
  }
  return absl::OkStatus();
}

absl::Status MappedShard::CopyRanking(const ShardRanking& ranking) const {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Ranking> stored,
                            Ranking::Open(dataset_, ranking.name, ranking.home, ranking.type));
  const int64_t count =
      ranking.count == 0 ? stored->size() : std::min(ranking.count, stored->size());
  for (int64_t i = 0; i < count; ++i) {
    ranking.out->nodes.push_back(stored->node(i).value);
    ranking.out->probabilities.push_back(stored->probability(i));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
