#include "client/shards/mapped_shard.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/shards/call_context.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/relations/listed_targets.h"
#include "sampler/relations/nonempty_cache.h"
#include "sampler/rules/matching_cache.h"
#include "sampler/rules/row_finder.h"
#include "sampler/shard_walks.h"

namespace vicinity {
namespace {

class MappedShard final : public AnswersAlike<MappedShard> {
 public:
  MappedShard(const Dataset& dataset, const Shard& shard, const ShardOverlay* overlay,
              TrafficCounters* traffic)
      : dataset_(dataset),
        id_(shard.id()),
        reader_(shard, overlay),
        traffic_(traffic),
        nonempty_cache_(dataset.schema(), kDefaultNonemptyBytes) {}

  bool remote() const override { return false; }
  const ShardReader* mapped() const override { return &reader_; }
  void CountSampledEdges(int64_t count) const override { traffic_->sampled_edges_local.Add(count); }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, const Done& done) {
    if (context.cancelled()) return done(absl::CancelledError("cancelled"));
    const absl::Status possible = CheckVersion(context.at);
    done(possible.ok() ? Answer(request) : possible);
  }

 private:
  absl::Status Answer(const ShardHop& hop) const;
  absl::Status Answer(const ShardRows& rows) const;
  absl::Status Answer(const ShardRagged& ragged) const;
  absl::Status Answer(const ShardFind& find) const;
  absl::Status Answer(const ShardKeys& keys) const;
  absl::Status Answer(const ShardDegrees& degrees) const;
  absl::Status Answer(const ShardEdgeIds& pairs) const;
  absl::Status Answer(const ShardWalks& walks) const;
  absl::Status Answer(const ShardRanking& ranking) const;
  absl::Status Answer(const ShardWrite& write) const;
  absl::Status Answer(const ShardBarrier& barrier) const;
  absl::Status Answer(const ShardChanges& changes) const;

  absl::Status CheckVersion(const ReadAt& at) const;
  absl::Status ReadOnly() const;
  ShardColumn ColumnOf(const ShardRows& rows) const;
  absl::Status CheckRows(absl::Span<const uint64_t> rows, int64_t num_rows,
                         const std::string& type) const;

  const Dataset& dataset_;
  const ShardId id_;
  const ShardReader reader_;
  TrafficCounters* const traffic_;
  mutable MatchingCache matching_cache_{kDefaultMatchingBytes};
  mutable NonemptyCache nonempty_cache_;
};

absl::Status MappedShard::Answer(const ShardHop& hop) const {
  const Schema& schema = dataset_.schema();
  ListedTargets targets(schema, reader_, &nonempty_cache_);
  for (size_t i = 0; i < hop.relations.size(); ++i) {
    const ShardHop::Relation& relation = hop.relations[i];
    const NodeTypeId target_type{schema.edge_types[relation.edge_type.value].target_type};
    OneHopOptions options =
        OptionsOf(schema, hop.draw, hop.hop, relation.edge_type, relation.spec, hop.detail);
    options.trees = relation.trees;
    options.excluded = relation.excluded;
    options.times = relation.times;
    options.matching_cache = &matching_cache_;
    const absl::Status status =
        SampleListed(reader_, relation.edge_type, target_type, relation.rows,
                     targets.Of(relation.edge_type, relation.rows), options, &hop.out[i]);
    if (!status.ok()) {
      return At(
          absl::StrCat("shard ", id_.value, ", ", schema.EdgeTypeName(relation.edge_type.value)),
          status);
    }
    traffic_->sampled_edges_local.Add(hop.out[i].sources.size());
  }
  return absl::OkStatus();
}

absl::Status MappedShard::Answer(const ShardKeys& keys) const {
  std::vector<int64_t> nodes(keys.keys.size());
  VICINITY_RETURN_IF_ERROR(reader_.FindKeys(keys.type, keys.keys, nodes.data()));
  for (size_t i = 0; i < nodes.size(); ++i) keys.out[keys.positions[i]] = nodes[i];
  return absl::OkStatus();
}

absl::Status MappedShard::Answer(const ShardDegrees& degrees) const {
  const NodeTypeId target{dataset_.schema().edge_types[degrees.edge_type.value].target_type};
  VICINITY_RETURN_IF_ERROR(CheckRows(degrees.rows, reader_.num_nodes(target),
                                     dataset_.schema().node_types[target.value].name));
  return reader_.ReadDegrees(
      degrees.edge_type, degrees.rows, [] {},
      [&](size_t i, int64_t degree) {
        degrees.out[degrees.positions[i]] = degree;
        return true;
      });
}

absl::Status MappedShard::Answer(const ShardEdgeIds& pairs) const {
  const NodeTypeId target{dataset_.schema().edge_types[pairs.edge_type.value].target_type};
  VICINITY_RETURN_IF_ERROR(CheckRows(pairs.rows, reader_.num_nodes(target),
                                     dataset_.schema().node_types[target.value].name));
  std::vector<int64_t> edge_ids(pairs.rows.size());
  VICINITY_RETURN_IF_ERROR(
      reader_.FindEdges(pairs.edge_type, pairs.sources, pairs.rows, edge_ids.data()));
  for (size_t i = 0; i < edge_ids.size(); ++i) pairs.out[pairs.positions[i]] = edge_ids[i];
  return absl::OkStatus();
}

absl::Status MappedShard::Answer(const ShardWalks& walks) const {
  WalkedSteps made;
  VICINITY_RETURN_IF_ERROR(WalkOnShard(
      dataset_.schema(), dataset_.book(), reader_, *walks.spec, walks.draw,
      {walks.walks, walks.steps, walks.rows}, walks.edge_ids != nullptr, [] { return false; },
      &made));
  traffic_->sampled_edges_local.Add(made.nodes.size());
  walks.Place(made);
  return absl::OkStatus();
}

absl::Status MappedShard::CheckRows(absl::Span<const uint64_t> rows, int64_t num_rows,
                                    const std::string& type) const {
  const auto outside = std::find_if(rows.begin(), rows.end(), [num_rows](uint64_t row) {
    return row >= static_cast<uint64_t>(num_rows);
  });
  if (outside == rows.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("shard ", id_.value, ": row ", *outside,
                                                 " of type ", type, " is not below ", num_rows));
}

ShardColumn MappedShard::ColumnOf(const ShardRows& rows) const {
  if (rows.edge_type.has_value()) return reader_.EdgeColumn(*rows.edge_type, rows.column);
  if (rows.column == kKeyColumn) return reader_.KeysColumn(rows.type);
  return reader_.NodeColumn(rows.type, rows.column);
}

absl::Status MappedShard::Answer(const ShardRows& rows) const {
  const Schema& schema = dataset_.schema();
  const ShardColumn column = ColumnOf(rows);
  const int64_t row_bytes = column.row_bytes();
  VICINITY_RETURN_IF_ERROR(CheckRows(rows.rows, column.num_rows(),
                                     rows.edge_type.has_value()
                                         ? schema.EdgeTypeName(rows.edge_type->value)
                                         : schema.node_types[rows.type.value].name));
  traffic_->rows_local.Add(rows.num_elements());
  const auto place = [&](size_t i, const char* row) {
    const int64_t position = rows.positions.empty() ? static_cast<int64_t>(i) : rows.positions[i];
    std::memcpy(rows.out + position * row_bytes, row, static_cast<size_t>(row_bytes));
  };
  if (!rows.rows.empty()) {
    return reader_.ReadRows(
        column, rows.rows, [] {}, place);
  }
  if (rows.first < 0 || rows.count < 0 || rows.first > column.num_rows() - rows.count) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", id_.value, ": rows ", rows.first,
                                                   " + ", rows.count, " of ", column.num_rows()));
  }
  if (rows.count == 0) return absl::OkStatus();
  return reader_.ReadRange(column, rows.first, rows.count, [&](const char* stored) {
    if (rows.positions.empty()) {
      std::memcpy(rows.out, stored, rows.count * row_bytes);
    } else {
      for (int64_t i = 0; i < rows.count; ++i) place(i, stored + i * row_bytes);
    }
  });
}

absl::Status MappedShard::Answer(const ShardRagged& ragged) const {
  VICINITY_RETURN_IF_ERROR(CheckRows(ragged.rows, reader_.num_nodes(ragged.type),
                                     dataset_.schema().node_types[ragged.type.value].name));
  return reader_.ReadRagged(
      ragged.type, ragged.column, ragged.rows, [] {},
      [&](size_t i, std::string_view row) {
        ragged.out[ragged.positions[i]] = std::string(row);
        return true;
      });
}

absl::Status MappedShard::Answer(const ShardFind& find) const {
  const int64_t num_rows = find.edge_type.has_value() ? reader_.num_edges(*find.edge_type)
                                                      : reader_.num_nodes(find.type);
  if (find.first < 0 || find.count < 0 || find.first > num_rows - find.count) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", id_.value, ": rows ", find.first,
                                                   " + ", find.count, " of ", num_rows));
  }
  const auto finder = find.edge_type.has_value()
                          ? std::make_unique<RowFinder>(reader_, *find.edge_type, *find.where)
                          : std::make_unique<RowFinder>(reader_, find.type, *find.where);
  for (int64_t i = 0; i < find.num_places(); ++i) {
    const int64_t begin = i * find.max_elements();
    VICINITY_RETURN_IF_ERROR(finder->Find(
        find.first + begin, std::min(find.max_elements(), find.count - begin), &find.out[i]));
  }
  return absl::OkStatus();
}

absl::Status MappedShard::Answer(const ShardRanking& ranking) const {
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

absl::Status MappedShard::Answer(const ShardWrite& /*write*/) const { return ReadOnly(); }

absl::Status MappedShard::Answer(const ShardBarrier& barrier) const {
  const Schema& schema = dataset_.schema();
  barrier.out->version = reader_.version();
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    barrier.out->num_nodes.push_back(reader_.num_nodes({static_cast<int32_t>(type)}));
  }
  for (size_t type = 0; type < schema.edge_types.size(); ++type) {
    barrier.out->num_edges.push_back(reader_.num_edges({static_cast<int32_t>(type)}));
  }
  return absl::OkStatus();
}

absl::Status MappedShard::Answer(const ShardChanges& /*changes*/) const { return ReadOnly(); }

absl::Status MappedShard::ReadOnly() const {
  return absl::UnimplementedError(absl::StrCat(
      "shard ", id_.value, " is mapped here: what is written goes to a server of a live graph"));
}

absl::Status MappedShard::CheckVersion(const ReadAt& at) const {
  const uint64_t version = reader_.version();
  const bool is_term = at.version != version || at.term.value_or(reader_.term()) == reader_.term();
  if (is_term && (at.version == version || (at.version < version && !at.exactly))) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(absl::StrCat("shard ", id_.value, " is mapped here at version ",
                                            version, ", not at ", at.version));
}

}  // namespace

std::unique_ptr<ShardAccess> MakeMappedShard(const Dataset& dataset, const Shard& shard,
                                             TrafficCounters* traffic,
                                             const ShardOverlay* overlay) {
  return std::make_unique<MappedShard>(dataset, shard, overlay, traffic);
}

}  // namespace vicinity
