#include "server/sample_handler.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset.h"
#include "partition/sampling_spec.h"
#include "partition/schema.h"
#include "partition/shard.h"
#include "proto/common/ids.h"
#include "proto/common/random.h"
#include "proto/common/status.h"
#include "sampler/one_hop.h"
#include "server/request_checks.h"

namespace vicinity {
namespace {

using Relation = proto::SampleRequest::Relation;

absl::Status CheckRelation(const Schema& schema, const Relation& relation, size_t num_targets) {
  if (relation.edge_type() < 0 ||
      relation.edge_type() >= static_cast<int64_t>(schema.edge_types.size())) {
    return absl::InvalidArgumentError(absl::StrCat("edge type ", relation.edge_type(),
                                                   " does not exist, there are ",
                                                   schema.edge_types.size()));
  }
  if (relation.fanout() != kAllNeighbors &&
      (relation.fanout() < 1 || relation.fanout() > kMaxFanout)) {
    return absl::InvalidArgumentError(absl::StrCat("fanout ", relation.fanout(), " of edge type ",
                                                   relation.edge_type(), ", should be from 1 to ",
                                                   kMaxFanout, ", or ", kAllNeighbors, " for all"));
  }
  if (relation.weighted() && schema.edge_types[relation.edge_type()].weight_column.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "edge type ", schema.EdgeTypeName(relation.edge_type()), " has no weight column"));
  }
  if (uint64_t{relation.first_target()} + relation.num_targets() > num_targets) {
    return absl::InvalidArgumentError(absl::StrCat(
        "edge type ", relation.edge_type(), " asks for targets [", relation.first_target(), ", ",
        uint64_t{relation.first_target()} + relation.num_targets(), "), there are ", num_targets));
  }
  return absl::OkStatus();
}

// Relations that end in one node type share a range; others have ranges of their own.
absl::Status CheckRanges(const Schema& schema, const proto::SampleRequest& request) {
  std::vector<const Relation*> by_range;
  std::set<int32_t> edge_types;
  for (const Relation& relation : request.relations()) {
    if (!edge_types.insert(relation.edge_type()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("edge type ", relation.edge_type(), " is asked for twice"));
    }
    if (relation.num_targets() > 0) by_range.push_back(&relation);
  }
  std::sort(by_range.begin(), by_range.end(), [](const Relation* a, const Relation* b) {
    return std::pair(a->first_target(), a->num_targets()) <
           std::pair(b->first_target(), b->num_targets());
  });
  for (size_t i = 1; i < by_range.size(); ++i) {
    const Relation& a = *by_range[i - 1];
    const Relation& b = *by_range[i];
    if (b.first_target() >= uint64_t{a.first_target()} + a.num_targets()) continue;
    const bool same_range =
        a.first_target() == b.first_target() && a.num_targets() == b.num_targets();
    if (same_range && schema.edge_types[a.edge_type()].target_type ==
                          schema.edge_types[b.edge_type()].target_type) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("the targets of edge types ", a.edge_type(),
                                                   " and ", b.edge_type(), " overlap at ",
                                                   b.first_target()));
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const ServerState& state, const proto::SampleRequest& request,
                          const Shard& shard, absl::Span<const uint64_t> targets) {
  const Schema& schema = state.dataset->schema();
  // More relations than edge types have doubles; found before each is looked at.
  if (static_cast<size_t>(request.relations_size()) > schema.edge_types.size()) {
    return absl::InvalidArgumentError(absl::StrCat(request.relations_size(), " relations for ",
                                                   schema.edge_types.size(), " edge types"));
  }
  int64_t num_sampled = 0;  // at most 2^32 targets x 2^20 a relation: checked before it overflows
  for (const Relation& relation : request.relations()) {
    VICINITY_RETURN_IF_ERROR(CheckRelation(schema, relation, targets.size()));
    num_sampled += int64_t{relation.num_targets()} * std::max<int64_t>(relation.fanout(), 1);
    if (num_sampled > state.limits.max_sampled) {
      return absl::InvalidArgumentError(
          absl::StrCat("targets x fanout is ", num_sampled, " with edge type ",
                       relation.edge_type(), ", a request may have ", state.limits.max_sampled));
    }
  }
  VICINITY_RETURN_IF_ERROR(CheckRanges(schema, request));
  for (const Relation& relation : request.relations()) {
    const int32_t type = schema.edge_types[relation.edge_type()].target_type;
    VICINITY_RETURN_IF_ERROR(
        CheckRows(targets.subspan(relation.first_target(), relation.num_targets()),
                  shard.nodes(NodeTypeId{type}).num_nodes(), shard, schema.node_types[type].name));
  }
  return absl::OkStatus();
}

// Of each target its tree; empty: all of tree 0.
absl::StatusOr<std::vector<uint32_t>> ReadTrees(const std::string& bytes, size_t num_targets) {
  std::vector<uint32_t> trees(bytes.size() / sizeof(uint32_t));
  if (!bytes.empty() && bytes.size() != num_targets * sizeof(uint32_t)) {
    return absl::InvalidArgumentError(
        absl::StrCat("trees: ", bytes.size(), " bytes for ", num_targets, " targets"));
  }
  if (!bytes.empty()) std::memcpy(trees.data(), bytes.data(), bytes.size());
  return trees;
}

// Appends `count` values of `values` from `first` on, as little-endian words of `Word`.
template <typename Word, typename Value>
void AppendWords(const std::vector<Value>& values, size_t first, size_t count, std::string* out) {
  static_assert(sizeof(Word) == sizeof(Value));
  out->append(reinterpret_cast<const char*>(values.data() + first), count * sizeof(Word));
}

// Samples one relation, a group of targets at a time, and cuts the result into chunks.
class RelationSampler {
 public:
  RelationSampler(const ServerState& state, const proto::SampleRequest& request, const Shard& shard,
                  absl::Span<const uint64_t> all_targets, absl::Span<const uint32_t> all_trees,
                  int index, ChunkSink<proto::SampleChunk> emit)
      : relation_(request.relations(index)),
        index_(index),
        edges_(shard.edges(EdgeTypeId{relation_.edge_type()})),
        keys_(shard
                  .nodes(NodeTypeId{
                      state.dataset->schema().edge_types[relation_.edge_type()].target_type})
                  .keys),
        targets_(all_targets.subspan(relation_.first_target(), relation_.num_targets())),
        trees_(all_trees.empty()
                   ? all_trees
                   : all_trees.subspan(relation_.first_target(), relation_.num_targets())),
        chunk_bytes_(state.limits.max_chunk_bytes),
        neighbor_bytes_(8 + (request.want_edge_ids() ? 8 : 0) +
                        (request.want_edge_positions() ? 8 : 0)),
        emit_(emit) {
    options_.fanout = relation_.fanout();
    options_.replace = request.replace();
    options_.weighted = relation_.weighted();
    options_.want_edge_ids = request.want_edge_ids();
    options_.want_edge_positions = request.want_edge_positions();
    options_.stream =
        StreamKey({request.draw().run_seed(), request.draw().epoch(), request.draw().batch(),
                   request.draw().hop(), relation_.edge_type()});
  }

  absl::Status Run() {
    for (size_t first = 0; first < targets_.size();) {
      const size_t count = GroupSize(first);
      if (count == 0) {
        VICINITY_RETURN_IF_ERROR(SendWholeList(first));
        ++first;
        continue;
      }
      neighbors_.Clear();
      if (!trees_.empty()) options_.trees = trees_.subspan(first, count);
      VICINITY_RETURN_IF_ERROR(
          SampleOneHop(edges_, keys_, targets_.subspan(first, count), options_, &neighbors_));
      VICINITY_RETURN_IF_ERROR(SendSampled(first));
      first += count;
    }
    return absl::OkStatus();
  }

 private:
  // How many targets from `first` on fit one chunk, at least one. 0: the list of target
  // `first` is taken whole and is longer than a chunk.
  size_t GroupSize(size_t first) const {
    if (options_.fanout != kAllNeighbors) {
      const int64_t target_bytes = 4 + options_.fanout * neighbor_bytes_;
      return std::min<size_t>(targets_.size() - first,
                              std::max<int64_t>(chunk_bytes_ / target_bytes, 1));
    }
    int64_t bytes = 0;
    size_t count = 0;
    for (; first + count < targets_.size(); ++count) {
      // A damaged list may look negative here; the sampler tells.
      const int64_t degree = std::max<int64_t>(edges_.degree(targets_[first + count]), 0);
      if (degree > chunk_bytes_ / neighbor_bytes_) break;
      bytes += 4 + degree * neighbor_bytes_;
      if (bytes > chunk_bytes_ && count > 0) break;
    }
    return count;
  }

  absl::Status SendSampled(size_t first) {
    size_t edge = 0;
    uint32_t left = neighbors_.counts.empty() ? 0 : neighbors_.counts[0];
    for (size_t i = 0; i < neighbors_.counts.size();) {
      StartChunk(first + i);
      chunk_.mutable_counts()->reserve((neighbors_.counts.size() - i) * sizeof(uint32_t));
      const size_t first_edge = edge;
      int64_t room = chunk_bytes_;
      while (i < neighbors_.counts.size() && room >= 4 + (left > 0 ? neighbor_bytes_ : 0)) {
        const uint32_t taken = std::min<int64_t>(left, (room - 4) / neighbor_bytes_);
        AddCount(taken);
        edge += taken;
        room -= 4 + taken * neighbor_bytes_;
        left -= taken;
        if (left > 0) {
          chunk_.set_more(true);
          break;
        }
        if (++i < neighbors_.counts.size()) left = neighbors_.counts[i];
      }
      AppendWords<uint64_t>(neighbors_.sources, first_edge, edge - first_edge,
                            chunk_.mutable_sources());
      if (options_.want_edge_ids) {
        AppendWords<uint64_t>(neighbors_.edge_ids, first_edge, edge - first_edge,
                              chunk_.mutable_edge_ids());
      }
      if (options_.want_edge_positions) {
        AppendWords<uint64_t>(neighbors_.edge_positions, first_edge, edge - first_edge,
                              chunk_.mutable_edge_positions());
      }
      if (!emit_(&chunk_)) return GoneError();
    }
    return absl::OkStatus();
  }

  absl::Status SendWholeList(size_t target) {
    const uint64_t row = targets_[target];
    const uint64_t end = edges_.offsets[row + 1];
    if (end > static_cast<uint64_t>(edges_.sources.size())) {
      return absl::DataLossError(absl::StrCat("edge type ", relation_.edge_type(),
                                              ": the list of row ", row, " ends at ", end, " of ",
                                              edges_.sources.size()));
    }
    const uint64_t most = std::max<int64_t>((chunk_bytes_ - 4) / neighbor_bytes_, 1);
    for (uint64_t at = edges_.offsets[row]; at < end;) {
      const uint64_t stop = std::min(end, at + most);
      StartChunk(target);
      uint32_t count = 0;
      const size_t bytes = (stop - at) * sizeof(uint64_t);
      chunk_.mutable_sources()->reserve(bytes);
      if (options_.want_edge_ids) chunk_.mutable_edge_ids()->reserve(bytes);
      if (options_.want_edge_positions) chunk_.mutable_edge_positions()->reserve(bytes);
      for (; at < stop; ++at) {
        if (options_.weighted && !edges_.weights[at].has_weight()) continue;
        ++count;
        AppendId(edges_.sources[at], chunk_.mutable_sources());
        if (options_.want_edge_ids) AppendId(edges_.edge_ids[at], chunk_.mutable_edge_ids());
        if (options_.want_edge_positions) {
          AppendId(static_cast<int64_t>(at), chunk_.mutable_edge_positions());
        }
      }
      chunk_.set_more(stop < end);
      AddCount(count);
      if (!emit_(&chunk_)) return GoneError();
    }
    return absl::OkStatus();
  }

  // clear() keeps the strings' memory where the sink left it. Who fills them reserves what they
  // need: strings that grow copy what is in them.
  void StartChunk(size_t first_target) {
    chunk_.set_relation(index_);
    chunk_.set_first_target(static_cast<uint32_t>(first_target));
    chunk_.set_more(false);
    chunk_.mutable_counts()->clear();
    chunk_.mutable_sources()->clear();
    chunk_.mutable_edge_ids()->clear();
    chunk_.mutable_edge_positions()->clear();
  }
  void AddCount(uint32_t count) {
    chunk_.mutable_counts()->append(reinterpret_cast<const char*>(&count), sizeof(count));
  }
  static void AppendId(int64_t id, std::string* out) {
    out->append(reinterpret_cast<const char*>(&id), sizeof(id));
  }

  const Relation& relation_;
  const int index_;
  const EdgeTable& edges_;
  const absl::Span<const uint64_t> keys_;
  const absl::Span<const uint64_t> targets_;
  const absl::Span<const uint32_t> trees_;
  const int64_t chunk_bytes_;
  const int64_t neighbor_bytes_;
  const ChunkSink<proto::SampleChunk> emit_;
  OneHopOptions options_;
  Neighbors neighbors_;
  proto::SampleChunk chunk_;
};

}  // namespace

absl::Status SampleNeighbors(const ServerState& state, const proto::SampleRequest& request,
                             ChunkSink<proto::SampleChunk> emit) {
  VICINITY_ASSIGN_OR_RETURN(const Shard* shard,
                            FindShard(state, request.fingerprint(), request.shard()));
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> targets,
                            ReadIds("targets", request.targets(), state.limits, &copy));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<uint32_t> trees,
                            ReadTrees(request.trees(), targets.size()));
  VICINITY_RETURN_IF_ERROR(CheckRequest(state, request, *shard, targets));
  for (int i = 0; i < request.relations_size(); ++i) {
    VICINITY_RETURN_IF_ERROR(
        RelationSampler(state, request, *shard, targets, trees, i, emit).Run());
  }
  return absl::OkStatus();
}

}  // namespace vicinity
