#include "server/handlers/sample_handler.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/relations/listed_targets.h"
#include "sampler/rules/draw_spec.h"
#include "sampler/rules/draw_spec_proto.h"
#include "sampler/rules/list_rule.h"
#include "sampler/sampled_graph.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

using Relation = proto::SampleRequest::Relation;

// Of lists that are gone through, some milliseconds' work.
constexpr int64_t kEdgesBetweenLooks = int64_t{1} << 20;

absl::Status CheckTimes(const Schema& schema, const Relation& relation) {
  const proto::DrawSpec& spec = relation.spec();
  const std::vector<ColumnSpec>& columns = schema.edge_types[relation.edge_type()].columns;
  if (spec.last() && (spec.time_column() == 0 || spec.replace() || spec.weighted())) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", relation.edge_type(),
                     " asks for the last edges: needs a time column, no weights, no replacement"));
  }
  if (spec.labor() && (spec.last() || spec.replace())) {
    return absl::InvalidArgumentError(
        absl::StrCat("edge type ", relation.edge_type(),
                     " asks for LABOR's draws: by chance, and without replacement"));
  }
  if (spec.time_column() == 0) return absl::OkStatus();
  const int64_t column = int64_t{spec.time_column()} - 1;
  if (column >= 0 && column < static_cast<int64_t>(columns.size()) && HoldsTimes(columns[column])) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("column ", column, " of edge type ",
                                                 schema.EdgeTypeName(relation.edge_type()),
                                                 " is none of times, one INT64 a row"));
}

absl::Status CheckRelation(const Schema& schema, const Relation& relation, size_t num_targets) {
  if (relation.edge_type() < 0 ||
      relation.edge_type() >= static_cast<int64_t>(schema.edge_types.size())) {
    return absl::InvalidArgumentError(absl::StrCat("edge type ", relation.edge_type(),
                                                   " does not exist, there are ",
                                                   schema.edge_types.size()));
  }
  const int64_t fanout = relation.spec().fanout();
  if (fanout != kAllNeighbors && (fanout < 1 || fanout > kMaxFanout)) {
    return absl::InvalidArgumentError(absl::StrCat("fanout ", fanout, " of edge type ",
                                                   relation.edge_type(), ", should be from 1 to ",
                                                   kMaxFanout, ", or ", kAllNeighbors, " for all"));
  }
  if (relation.spec().weighted() && schema.edge_types[relation.edge_type()].weight_column.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "edge type ", schema.EdgeTypeName(relation.edge_type()), " has no weight column"));
  }
  VICINITY_RETURN_IF_ERROR(CheckTimes(schema, relation));
  const auto spec = FromProto(relation.spec(), schema.edge_types[relation.edge_type()].columns);
  if (!spec.ok()) return At(schema.EdgeTypeName(relation.edge_type()), spec.status());
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
                          const ShardReader& reader, absl::Span<const uint64_t> targets) {
  const Schema& schema = state.dataset->schema();
  // More relations than edge types have doubles; found before each is looked at.
  if (static_cast<size_t>(request.relations_size()) > schema.edge_types.size()) {
    return absl::InvalidArgumentError(absl::StrCat(request.relations_size(), " relations for ",
                                                   schema.edge_types.size(), " edge types"));
  }
  int64_t num_sampled = 0;  // at most 2^32 targets x 2^20 a relation: checked before it overflows
  for (const Relation& relation : request.relations()) {
    VICINITY_RETURN_IF_ERROR(CheckRelation(schema, relation, targets.size()));
    num_sampled += int64_t{relation.num_targets()} * std::max<int64_t>(relation.spec().fanout(), 1);
    if (num_sampled > state.limits.max_sampled) {
      return absl::InvalidArgumentError(
          absl::StrCat("targets x fanout is ", num_sampled, " with edge type ",
                       relation.edge_type(), ", a request may have ", state.limits.max_sampled));
    }
  }
  VICINITY_RETURN_IF_ERROR(CheckRanges(schema, request));
  for (const Relation& relation : request.relations()) {
    const int32_t type = schema.edge_types[relation.edge_type()].target_type;
    VICINITY_RETURN_IF_ERROR(CheckRows(
        targets.subspan(relation.first_target(), relation.num_targets()),
        reader.num_nodes(NodeTypeId{type}), reader.shard(), schema.node_types[type].name));
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

// Of each target between what times its edges are, where draws go by them.
absl::StatusOr<std::vector<TimeBounds>> ReadTimes(const proto::SampleRequest& request,
                                                  size_t num_targets) {
  std::vector<TimeBounds> times;
  const bool by_time =
      std::any_of(request.relations().begin(), request.relations().end(),
                  [](const Relation& relation) { return relation.spec().time_column() != 0; });
  if (!by_time) return times;
  const std::string& latest = request.latest();
  const std::string& earliest = request.earliest();
  const size_t bytes = num_targets * sizeof(int64_t);
  if (latest.size() != bytes || (!earliest.empty() && earliest.size() != bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "draws by time need the latest of each of ", num_targets, " targets: ", latest.size(),
        " bytes, and ", earliest.size(), " of the earliest"));
  }
  times.resize(num_targets);
  for (size_t i = 0; i < num_targets; ++i) {
    const size_t at = i * sizeof(int64_t);
    std::memcpy(&times[i].until, latest.data() + at, sizeof(int64_t));
    if (!earliest.empty()) std::memcpy(&times[i].from, earliest.data() + at, sizeof(int64_t));
  }
  return times;
}

// Edges that are not to be drawn, those of each relation by rising target. How many there are is
// bounded by the request's size.
absl::StatusOr<std::vector<ExcludedEdge>> ReadExcluded(const proto::SampleRequest& request) {
  const std::string& targets = request.excluded_targets();
  const std::string& sources = request.excluded_sources();
  const size_t count = targets.size() / sizeof(uint32_t);
  if (targets.size() != count * sizeof(uint32_t) || sources.size() != count * sizeof(uint64_t)) {
    return absl::InvalidArgumentError(absl::StrCat("excluded edges: ", targets.size(),
                                                   " bytes of targets and ", sources.size(),
                                                   " of sources, should be 4 and 8 for each"));
  }
  std::vector<ExcludedEdge> excluded(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&excluded[i].target, targets.data() + i * sizeof(uint32_t), sizeof(uint32_t));
    std::memcpy(&excluded[i].source, sources.data() + i * sizeof(uint64_t), sizeof(uint64_t));
  }
  return excluded;
}

absl::Status CheckExcluded(const proto::SampleRequest& request,
                           absl::Span<const ExcludedEdge> excluded) {
  for (const Relation& relation : request.relations()) {
    const uint64_t first = relation.first_excluded();
    if (first + relation.num_excluded() > excluded.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "edge type ", relation.edge_type(), " is without the excluded edges [", first, ", ",
          first + relation.num_excluded(), "), there are ", excluded.size()));
    }
    uint32_t last = 0;
    for (const ExcludedEdge& edge : excluded.subspan(first, relation.num_excluded())) {
      if (edge.target >= last && edge.target < relation.num_targets()) {
        last = edge.target;
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("edge type ", relation.edge_type(), ": an excluded edge of target ",
                       edge.target, " behind one of ", last, ", of ", relation.num_targets()));
    }
  }
  return absl::OkStatus();
}

// Appends `count` values of `values` from `first` on, as little-endian words of `Word`.
template <typename Word, typename Value>
void AppendWords(const std::vector<Value>& values, size_t first, size_t count, std::string* out) {
  static_assert(sizeof(Word) == sizeof(Value));
  out->append(reinterpret_cast<const char*>(values.data() + first), count * sizeof(Word));
}

// What a request asks for, whatever the relation: those have ranges of it.
struct AllTargets {
  absl::Span<const uint64_t> rows;
  absl::Span<const uint32_t> trees;  // empty: all of tree 0
  absl::Span<const ExcludedEdge> excluded;
  absl::Span<const TimeBounds> times;  // empty: no draws by time
};

// Samples one relation, a group of targets at a time, and cuts the result into chunks.
class RelationSampler {
 public:
  // `reader` outlives it.
  RelationSampler(const ServerState& state, const proto::SampleRequest& request,
                  const ShardReader& reader, const AllTargets& all, ListedTargets* listed,
                  int index)
      : relation_(request.relations(index)),
        index_(index),
        reader_(reader),
        edge_type_{relation_.edge_type()},
        target_type_{state.dataset->schema().edge_types[relation_.edge_type()].target_type},
        targets_(all.rows.subspan(relation_.first_target(), relation_.num_targets())),
        trees_(all.trees.empty()
                   ? all.trees
                   : all.trees.subspan(relation_.first_target(), relation_.num_targets())),
        times_(all.times.empty()
                   ? all.times
                   : all.times.subspan(relation_.first_target(), relation_.num_targets())),
        excluded_(all.excluded.subspan(relation_.first_excluded(), relation_.num_excluded())),
        listed_(listed->Of(edge_type_, targets_)),
        chunk_bytes_(state.limits.max_chunk_bytes),
        options_(OptionsOf(state, request, relation_)),
        neighbor_bytes_(8 + (options_.want_edge_ids ? 8 : 0) +
                        (options_.want_edge_positions ? 8 : 0) +
                        (options_.want_edge_times ? 8 : 0)),
        rule_(options_) {}

  // True once all targets are answered.
  bool IsOver() const { return first_ == targets_.size(); }

  // Makes the next chunk; not to be called when it is over.
  absl::Status Next(proto::SampleChunk* chunk) {
    StartChunk(chunk);
    if (group_ == 0) VICINITY_RETURN_IF_ERROR(StartGroup());
    if (takes_whole_list_) return AddPartOfList(chunk);
    AddSampled(chunk);
    return absl::OkStatus();
  }

 private:
  static OneHopOptions OptionsOf(const ServerState& state, const proto::SampleRequest& request,
                                 const Relation& relation) {
    const Schema& schema = state.dataset->schema();
    const EdgeTypeId type{relation.edge_type()};
    const proto::Draw& draw = request.draw();
    EdgeDetail detail(request.want_edge_ids(), request.want_edge_positions());
    detail.times = request.want_edge_times();
    OneHopOptions options = vicinity::OptionsOf(
        schema, {draw.run_seed(), draw.epoch(), draw.batch()}, static_cast<int>(draw.hop()), type,
        *FromProto(relation.spec(), schema.edge_types[type.value].columns),  // has been checked
        detail);
    options.matching_cache = state.matching;
    return options;
  }

  // How many targets from `first` on fit one chunk, at least one. 0: the list of target
  // `first` is taken whole and is longer than a chunk.
  absl::StatusOr<size_t> GroupSize(size_t first) const {
    if (options_.fanout != kAllNeighbors) {
      const int64_t target_bytes = 4 + options_.fanout * neighbor_bytes_;
      const size_t count = std::min<size_t>(targets_.size() - first,
                                            std::max<int64_t>(chunk_bytes_ / target_bytes, 1));
      const bool reads_lists = Filters(options_) || DrawsByLayer(options_) || !excluded_.empty();
      return reads_lists ? ReadBetweenLooks(first, count) : count;
    }
    int64_t bytes = 0;
    size_t count = 0;
    VICINITY_RETURN_IF_ERROR(reader_.ReadDegrees(
        edge_type_, targets_.subspan(first, chunk_bytes_ / 4 + 1),
        [&] {
          bytes = 0;
          count = 0;
        },
        [&](size_t, int64_t degree) {
          if (degree > chunk_bytes_ / neighbor_bytes_) return false;
          bytes += 4 + degree * neighbor_bytes_;
          if (bytes > chunk_bytes_ && count > 0) return false;
          ++count;
          return true;
        }));
    return count;
  }

  // As many of so many targets as have lists that are read whole before somebody looks whether the
  // caller is still there; at least one. Each term of a condition is a pass over a list.
  absl::StatusOr<size_t> ReadBetweenLooks(size_t first, size_t most) const {
    const int64_t passes =
        options_.where == nullptr ? 1 : 1 + static_cast<int64_t>(options_.where->terms.size());
    int64_t edges = 0;
    size_t count = 0;
    VICINITY_RETURN_IF_ERROR(reader_.ReadDegrees(
        edge_type_, targets_.subspan(first, most),
        [&] {
          edges = 0;
          count = 0;
        },
        [&](size_t, int64_t degree) {
          edges += degree * passes;
          if (edges > kEdgesBetweenLooks && count > 0) return false;
          ++count;
          return true;
        }));
    return count;
  }

  // Samples the next group of targets, or finds the list that is taken whole.
  absl::Status StartGroup() {
    VICINITY_ASSIGN_OR_RETURN(group_, GroupSize(first_));
    takes_whole_list_ = group_ == 0;
    list_at_ = 0;
    if (takes_whole_list_) {
      group_ = 1;
      without_.clear();
      for (const ExcludedEdge& edge : ExcludedOfTargets(first_, 1)) without_.insert(edge.source);
      return absl::OkStatus();
    }
    neighbors_.Clear();
    if (!trees_.empty()) options_.trees = trees_.subspan(first_, group_);
    if (!times_.empty()) options_.times = times_.subspan(first_, group_);
    const std::vector<ExcludedEdge> excluded = ExcludedOfTargets(first_, group_);
    options_.excluded = excluded;
    const std::vector<uint32_t> listed = ListedOfTargets(first_, group_);
    VICINITY_RETURN_IF_ERROR(SampleListed(
        reader_, edge_type_, target_type_, targets_.subspan(first_, group_),
        listed_.has_value() ? std::optional(absl::MakeConstSpan(listed)) : std::nullopt, options_,
        &neighbors_));
    answered_ = 0;
    next_edge_ = 0;
    left_ = neighbors_.counts[0];
    return absl::OkStatus();
  }

  // Of so many targets from `first` on, by their index among those.
  std::vector<ExcludedEdge> ExcludedOfTargets(size_t first, size_t count) const {
    const auto before = [](const ExcludedEdge& edge, size_t target) {
      return edge.target < target;
    };
    const auto begin = std::lower_bound(excluded_.begin(), excluded_.end(), first, before);
    const auto end = std::lower_bound(begin, excluded_.end(), first + count, before);
    std::vector<ExcludedEdge> excluded(begin, end);
    for (ExcludedEdge& edge : excluded) edge.target -= static_cast<uint32_t>(first);
    return excluded;
  }

  // Likewise, of those that may have edges.
  std::vector<uint32_t> ListedOfTargets(size_t first, size_t count) const {
    std::vector<uint32_t> listed;
    if (!listed_.has_value()) return listed;
    const auto begin = std::lower_bound(listed_->begin(), listed_->end(), first);
    const auto end = std::lower_bound(begin, listed_->end(), first + count);
    for (auto at = begin; at < end; ++at) listed.push_back(*at - static_cast<uint32_t>(first));
    return listed;
  }

  void EndGroup() {
    first_ += group_;
    group_ = 0;
  }

  void AddSampled(proto::SampleChunk* chunk) {
    chunk->set_first_target(static_cast<uint32_t>(first_ + answered_));
    chunk->mutable_counts()->reserve((group_ - answered_) * sizeof(uint32_t));
    const size_t first_edge = next_edge_;
    int64_t room = chunk_bytes_;
    const size_t edges_left = neighbors_.sources.size() - next_edge_;
    if (static_cast<int64_t>((group_ - answered_) * 4 + edges_left * neighbor_bytes_) <= room) {
      AddCount(left_, chunk);
      AppendWords<uint32_t>(neighbors_.counts, answered_ + 1, group_ - answered_ - 1,
                            chunk->mutable_counts());
      next_edge_ += edges_left;
      answered_ = group_;
      left_ = 0;
    }
    while (answered_ < group_ && room >= 4 + (left_ > 0 ? neighbor_bytes_ : 0)) {
      const uint32_t taken = std::min<int64_t>(left_, (room - 4) / neighbor_bytes_);
      AddCount(taken, chunk);
      next_edge_ += taken;
      room -= 4 + taken * neighbor_bytes_;
      left_ -= taken;
      if (left_ > 0) {
        chunk->set_more(true);
        break;
      }
      if (++answered_ < group_) left_ = neighbors_.counts[answered_];
    }
    const size_t count = next_edge_ - first_edge;
    AppendWords<uint64_t>(neighbors_.sources, first_edge, count, chunk->mutable_sources());
    if (options_.want_edge_ids) {
      AppendWords<uint64_t>(neighbors_.edge_ids, first_edge, count, chunk->mutable_edge_ids());
    }
    if (options_.want_edge_positions) {
      AppendWords<uint64_t>(neighbors_.edge_positions, first_edge, count,
                            chunk->mutable_edge_positions());
    }
    if (options_.want_edge_times) {
      AppendWords<int64_t>(neighbors_.edge_times, first_edge, count, chunk->mutable_edge_times());
    }
    if (answered_ == group_) EndGroup();
  }

  absl::Status AddPartOfList(proto::SampleChunk* chunk) {
    const int64_t most = std::max<int64_t>((chunk_bytes_ - 4) / neighbor_bytes_, 1);
    int64_t taken = 0;
    bool more = false;
    const TimeBounds within = options_.time_column >= 0 ? times_[first_] : TimeBounds();
    absl::StatusOr<AllowedEdges> allowed = AllowedEdges();
    VICINITY_RETURN_IF_ERROR(
        reader_.ReadList(edge_type_, targets_[first_], list_at_, most, [&](const ListPart& part) {
          taken = part.size();
          more = part.has_more();
          allowed = rule_.ReadAndJudge(reader_, edge_type_, part, within);
          if (allowed.ok()) CopyPartOfList(part, *allowed, chunk);
        }));
    VICINITY_RETURN_IF_ERROR(allowed.status());
    list_at_ += taken;
    chunk->set_more(more);
    if (!more) EndGroup();
    return absl::OkStatus();
  }

  void CopyPartOfList(const ListPart& part, const AllowedEdges& allowed,
                      proto::SampleChunk* chunk) const {
    StartChunk(chunk);
    chunk->set_first_target(static_cast<uint32_t>(first_));
    const size_t bytes = part.size() * sizeof(uint64_t);
    chunk->mutable_sources()->reserve(bytes);
    if (options_.want_edge_ids) chunk->mutable_edge_ids()->reserve(bytes);
    if (options_.want_edge_positions) chunk->mutable_edge_positions()->reserve(bytes);
    if (options_.want_edge_times) chunk->mutable_edge_times()->reserve(bytes);
    uint32_t count = 0;
    for (int64_t i = 0; i < part.size(); ++i) {
      if (options_.weighted && !part.has_weight(i)) continue;
      if (!without_.empty() && without_.contains(part.source(i))) continue;
      if (!allowed.Has(i)) continue;
      ++count;
      AppendId(part.source(i), chunk->mutable_sources());
      if (options_.want_edge_ids) AppendId(part.edge_id(i), chunk->mutable_edge_ids());
      if (options_.want_edge_positions) {
        AppendId(part.position(i), chunk->mutable_edge_positions());
      }
      if (options_.want_edge_times) AppendId(allowed.times[i], chunk->mutable_edge_times());
    }
    AddCount(count, chunk);
  }

  // clear() keeps the strings' memory where their taker left it. Who fills them reserves what they
  // need: strings that grow copy what is in them.
  void StartChunk(proto::SampleChunk* chunk) const {
    chunk->set_relation(index_);
    chunk->set_more(false);
    chunk->mutable_counts()->clear();
    chunk->mutable_sources()->clear();
    chunk->mutable_edge_ids()->clear();
    chunk->mutable_edge_positions()->clear();
    chunk->mutable_edge_times()->clear();
  }
  static void AddCount(uint32_t count, proto::SampleChunk* chunk) {
    chunk->mutable_counts()->append(reinterpret_cast<const char*>(&count), sizeof(count));
  }
  static void AppendId(int64_t id, std::string* out) {
    out->append(reinterpret_cast<const char*>(&id), sizeof(id));
  }

  const Relation& relation_;
  const int index_;
  const ShardReader& reader_;
  const EdgeTypeId edge_type_;
  const NodeTypeId target_type_;
  const absl::Span<const uint64_t> targets_;
  const absl::Span<const uint32_t> trees_;
  const absl::Span<const TimeBounds> times_;
  const absl::Span<const ExcludedEdge> excluded_;
  const std::optional<absl::Span<const uint32_t>> listed_;  // of the targets those with edges
  const int64_t chunk_bytes_;
  OneHopOptions options_;
  const int64_t neighbor_bytes_;
  ListRule rule_;
  // Targets [first_, first_ + group_) are being answered, [.., first_) have been; a group of none:
  // the next one is still to be started.
  size_t first_ = 0;
  size_t group_ = 0;
  bool takes_whole_list_ = false;
  // Of a sampled group: targets answered, and what is left of the next one's neighbours.
  Neighbors neighbors_;
  size_t answered_ = 0;
  size_t next_edge_ = 0;
  uint32_t left_ = 0;
  int64_t list_at_ = 0;                   // of a list that is taken whole, the next edge
  absl::flat_hash_set<int64_t> without_;  // sources that are excluded of it
};

// Relation by relation.
class SampleSource final : public ChunkSource<proto::SampleChunk> {
 public:
  // `targets` in the request or in `copy`.
  SampleSource(const ServerState& state, const proto::SampleRequest& request, ShardReader reader,
               std::vector<uint64_t> copy, absl::Span<const uint64_t> targets,
               std::vector<uint32_t> trees, std::vector<ExcludedEdge> excluded,
               std::vector<TimeBounds> times)
      : state_(state),
        request_(request),
        copy_(std::move(copy)),
        targets_(targets),
        trees_(std::move(trees)),
        excluded_(std::move(excluded)),
        times_(std::move(times)),
        reader_(std::move(reader)),
        listed_(state.dataset->schema(), reader_, state.nonempty) {
    SkipWhatIsOver();
  }

  absl::StatusOr<Piece> Next(proto::SampleChunk* chunk, IsGone) override {
    if (!sampler_.has_value()) return Piece::kNothing;
    chunk->set_version(reader_.version());
    chunk->set_term(reader_.term());
    VICINITY_RETURN_IF_ERROR(sampler_->Next(chunk));
    SkipWhatIsOver();
    return sampler_.has_value() ? Piece::kMore : Piece::kLast;
  }

 private:
  // On to the next relation that has targets left; to none if there is none.
  void SkipWhatIsOver() {
    while (!sampler_.has_value() || sampler_->IsOver()) {
      sampler_.reset();
      if (next_relation_ == request_.relations_size()) return;
      sampler_.emplace(state_, request_, reader_, AllTargets{targets_, trees_, excluded_, times_},
                       &listed_, next_relation_++);
    }
  }

  const ServerState& state_;
  const proto::SampleRequest& request_;
  const std::vector<uint64_t> copy_;
  const absl::Span<const uint64_t> targets_;
  const std::vector<uint32_t> trees_;
  const std::vector<ExcludedEdge> excluded_;
  const std::vector<TimeBounds> times_;
  const ShardReader reader_;
  ListedTargets listed_;
  std::optional<RelationSampler> sampler_;
  int next_relation_ = 0;
};

constexpr int64_t kCountBytes = 4;

// Neighbours that a target has on average, rounded up; 0 where there are none.
int64_t MeanDegree(const Dataset& dataset, int32_t shard, int32_t edge_type) {
  const Shard* const found = dataset.shard(ShardId{shard});
  if (found == nullptr) return 0;
  const ShardReader reader(*found);
  const int64_t num_targets = reader.num_targets(EdgeTypeId{edge_type});
  if (num_targets <= 0) return 0;
  return (reader.num_edges(EdgeTypeId{edge_type}) + num_targets - 1) / num_targets;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::SampleChunk>>> SampleNeighbors(
    const ServerState& state, const proto::SampleRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> targets,
                            ReadIds("targets", request.targets(), state.limits, &copy));
  VICINITY_ASSIGN_OR_RETURN(std::vector<uint32_t> trees,
                            ReadTrees(request.trees(), targets.size()));
  VICINITY_ASSIGN_OR_RETURN(std::vector<ExcludedEdge> excluded, ReadExcluded(request));
  VICINITY_RETURN_IF_ERROR(CheckRequest(state, request, reader, targets));
  VICINITY_RETURN_IF_ERROR(CheckExcluded(request, excluded));
  VICINITY_ASSIGN_OR_RETURN(std::vector<TimeBounds> times, ReadTimes(request, targets.size()));
  return std::make_unique<SampleSource>(state, request, std::move(reader), std::move(copy), targets,
                                        std::move(trees), std::move(excluded), std::move(times));
}

int64_t ReplyBytes(const ServerState& state, const proto::SampleRequest& request) {
  const Dataset& dataset = *state.dataset;
  const WideBytes neighbor_bytes =
      kIdBytes * (1 + (request.want_edge_ids() ? 1 : 0) + (request.want_edge_positions() ? 1 : 0) +
                  (request.want_edge_times() ? 1 : 0));
  const auto num_types = static_cast<int64_t>(dataset.schema().edge_types.size());
  WideBytes bytes = 0;
  for (const proto::SampleRequest::Relation& relation : request.relations()) {
    if (relation.edge_type() < 0 || relation.edge_type() >= num_types) return 0;
    const int64_t neighbors = relation.spec().fanout() == kAllNeighbors
                                  ? MeanDegree(dataset, request.shard(), relation.edge_type())
                                  : std::clamp<int64_t>(relation.spec().fanout(), 0, kMaxFanout);
    bytes += WideBytes{relation.num_targets()} * (kCountBytes + neighbors * neighbor_bytes);
  }
  return ClampBytes(bytes);
}

}  // namespace vicinity
