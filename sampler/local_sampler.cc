#include "sampler/local_sampler.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "sampler/excluded_edges.h"
#include "sampler/filtered_lists.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/one_hop.h"
#include "sampler/owner_groups.h"
#include "sampler/rules/list_rule.h"
#include "sampler/rules/matching_cache.h"
#include "sampler/rules/matching_edges.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

namespace {

// Of lists that are as in the files.
absl::Status SampleFiles(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out) {
  const NeighborsSize before(*out);
  return reader.ReadLists(edge_type, target_type, rows, [&](const auto& edges, const auto& keys) {
    before.Restore(out);
    return SampleOneHop(edges, keys, rows, options, out);
  });
}

// Longer lists that have changed are drawn from where they are; the others are cheaper to copy
// behind each other than to begin with one by one.
constexpr size_t kLongList = 512;

// Some of a call's targets, taken apart by where their lists are: all are drawn from alike.
struct ChangedTargets {
  OwnerGroup in_files;
  OwnerGroup changed;
  ChangedLists lists;           // by target of `changed`
  std::vector<OwnerGroup> far;  // of one target each
  std::vector<ChangedListPtr> long_lists;
};

absl::StatusOr<ChangedTargets> FindChanged(const ShardReader& reader, EdgeTypeId edge_type,
                                           absl::Span<const uint64_t> rows,
                                           absl::Span<const uint32_t> trees) {
  ChangedTargets targets;
  for (size_t i = 0; i < rows.size(); ++i) {
    VICINITY_ASSIGN_OR_RETURN(ChangedListPtr list, reader.FindChangedList(edge_type, rows[i]));
    OwnerGroup* group = &targets.in_files;
    if (list != nullptr && list->sources.size() > kLongList) {
      group = &targets.far.emplace_back();
      targets.long_lists.push_back(std::move(list));
    } else if (list != nullptr) {
      group = &targets.changed;
      targets.lists.Add(*list);
    }
    group->rows.push_back(rows[i]);
    group->positions.push_back(static_cast<uint32_t>(i));
    if (!trees.empty()) group->trees.push_back(trees[i]);
  }
  return targets;
}

// From the lists of a table: row i is that of the group's i-th target.
absl::Status SampleTable(const ShardReader& reader, NodeTypeId target_type, const EdgeTable& table,
                         absl::Span<const int64_t> positions, const OwnerGroup& group,
                         OneHopOptions options, Neighbors* out) {
  std::vector<uint64_t> keys(group.rows.size());
  std::vector<uint64_t> lists(group.rows.size());
  std::iota(lists.begin(), lists.end(), 0);
  VICINITY_RETURN_IF_ERROR(reader.ReadRows(
      reader.KeysColumn(target_type), group.rows, [] {},
      [&](size_t i, const char* key) { std::memcpy(&keys[i], key, sizeof(keys[i])); }));
  options.trees = group.trees;
  VICINITY_RETURN_IF_ERROR(SampleOneHop(table, keys, lists, options, out));
  for (int64_t& position : out->edge_positions) position = positions[position];
  return absl::OkStatus();
}

absl::Status SampleLong(const ShardReader& reader, NodeTypeId target_type, const ChangedList& list,
                        const OwnerGroup& group, const OneHopOptions& options, Neighbors* out) {
  const uint64_t offsets[] = {0, list.sources.size()};
  EdgeTable table;
  table.offsets = offsets;
  table.sources = IdArray(absl::MakeConstSpan(list.sources));
  table.edge_ids = IdArray(absl::MakeConstSpan(list.edge_ids));
  table.weights = list.weights;
  return SampleTable(reader, target_type, table, list.positions, group, options, out);
}

void Append(const Neighbors& from, Neighbors* to) {
  to->counts.insert(to->counts.end(), from.counts.begin(), from.counts.end());
  to->sources.insert(to->sources.end(), from.sources.begin(), from.sources.end());
  to->edge_ids.insert(to->edge_ids.end(), from.edge_ids.begin(), from.edge_ids.end());
  to->edge_positions.insert(to->edge_positions.end(), from.edge_positions.begin(),
                            from.edge_positions.end());
  to->edge_times.insert(to->edge_times.end(), from.edge_times.begin(), from.edge_times.end());
}

// What meets the condition, where that is all there is to know and it is known; else null.
std::shared_ptr<const MatchingEdges> FindMatching(const ShardReader& reader, EdgeTypeId edge_type,
                                                  absl::Span<const uint64_t> rows,
                                                  const OneHopOptions& options) {
  if (options.matching_cache == nullptr || !DrawsByMatching(options)) return nullptr;
  if (reader.ChangesLists(edge_type, rows)) return nullptr;
  const ListRule rule(options);
  for (const int32_t column : rule.columns()) {
    if (!reader.IsUnchanged(reader.EdgeColumn(edge_type, column))) return nullptr;
  }
  return options.matching_cache->Find(reader.shard(), edge_type, options.where);
}

// All targets, where the lists of all of them are drawn from in one way.
OwnerGroup AllOf(absl::Span<const uint64_t> rows, const OneHopOptions& options) {
  OwnerGroup group;
  group.rows.assign(rows.begin(), rows.end());
  group.trees.assign(options.trees.begin(), options.trees.end());
  if (options.times.size() == rows.size()) {
    group.times.assign(options.times.begin(), options.times.end());
  }
  return group;
}

// Of draws that go through lists: what SampleOneHop says of the request, which is its way to draw
// all others.
absl::Status CheckDraws(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                        const OneHopOptions& options) {
  OneHopOptions plain = options;
  plain.trees = {};
  Neighbors none;
  return SampleOneHop(reader.shard().edges(edge_type), reader.shard().nodes(target_type).keys, {},
                      plain, &none);
}

// Lists of which some edges may not be drawn go one way, those that are taken as they are, or whose
// matching edges are known, the other.
absl::Status SampleSome(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                        absl::Span<const uint64_t> rows, const OneHopOptions& options,
                        Neighbors* out) {
  const auto matching = FindMatching(reader, edge_type, rows, options);
  const absl::Span<const ExcludedEdge> excluded = options.excluded;
  if (Filters(options) && matching == nullptr) {
    VICINITY_RETURN_IF_ERROR(CheckDraws(reader, edge_type, target_type, options));
    return SampleFiltered(reader, edge_type, target_type, AllOf(rows, options), excluded, options,
                          out);
  }
  OwnerGroup whole;
  OwnerGroup filtered;
  for (size_t i = 0, next = 0; i < rows.size(); ++i) {
    const bool has_some = next < excluded.size() && excluded[next].target == i;
    while (next < excluded.size() && excluded[next].target == i) ++next;
    OwnerGroup& group = has_some ? filtered : whole;
    group.rows.push_back(rows[i]);
    group.positions.push_back(static_cast<uint32_t>(i));
    if (!options.trees.empty()) group.trees.push_back(options.trees[i]);
    if (options.times.size() == rows.size()) group.times.push_back(options.times[i]);
  }
  std::vector<Neighbors> answers(2);
  OneHopOptions plain = options;
  plain.excluded = {};
  plain.time_column = -1;
  plain.want_edge_times = false;
  plain.where = nullptr;
  plain.matching = matching.get();
  plain.trees = whole.trees;
  VICINITY_RETURN_IF_ERROR(
      SampleLists(reader, edge_type, target_type, whole.rows, plain, &answers[0]));
  VICINITY_RETURN_IF_ERROR(SampleFiltered(reader, edge_type, target_type, filtered,
                                          ExcludedOf(filtered, excluded), options, &answers[1]));
  Neighbors together;
  VICINITY_RETURN_IF_ERROR(MergeByOwner({whole, filtered}, absl::MakeSpan(answers),
                                        static_cast<int64_t>(rows.size()), &together));
  Append(together, out);
  return absl::OkStatus();
}

}  // namespace

absl::Status SampleLists(const ShardReader& reader, EdgeTypeId edge_type, NodeTypeId target_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out) {
  const bool sound = options.trees.empty() || options.trees.size() == rows.size();
  if (sound && (!options.excluded.empty() || Filters(options))) {
    return SampleSome(reader, edge_type, target_type, rows, options, out);
  }
  if (!sound || !reader.ChangesLists(edge_type, rows)) {
    return SampleFiles(reader, edge_type, target_type, rows, options, out);
  }
  VICINITY_ASSIGN_OR_RETURN(const ChangedTargets targets,
                            FindChanged(reader, edge_type, rows, options.trees));
  std::vector<OwnerGroup> groups = targets.far;
  std::vector<Neighbors> answers(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    VICINITY_RETURN_IF_ERROR(
        SampleLong(reader, target_type, *targets.long_lists[i], groups[i], options, &answers[i]));
  }
  if (!targets.in_files.rows.empty()) {
    OneHopOptions of_group = options;
    of_group.trees = targets.in_files.trees;
    groups.push_back(targets.in_files);
    VICINITY_RETURN_IF_ERROR(SampleFiles(reader, edge_type, target_type, targets.in_files.rows,
                                         of_group, &answers.emplace_back()));
  }
  if (!targets.changed.rows.empty()) {
    groups.push_back(targets.changed);
    VICINITY_RETURN_IF_ERROR(SampleTable(reader, target_type, targets.lists.table(),
                                         targets.lists.positions(), targets.changed, options,
                                         &answers.emplace_back()));
  }
  Neighbors together;
  VICINITY_RETURN_IF_ERROR(
      MergeByOwner(groups, absl::MakeSpan(answers), static_cast<int64_t>(rows.size()), &together));
  Append(together, out);
  return absl::OkStatus();
}

absl::Status SampleShard(const Schema& schema, const ShardReader& reader, EdgeTypeId edge_type,
                         absl::Span<const uint64_t> rows, const OneHopOptions& options,
                         Neighbors* out) {
  const NodeTypeId target{schema.edge_types[edge_type.value].target_type};
  const absl::Status status = SampleLists(reader, edge_type, target, rows, options, out);
  if (status.ok()) return status;
  return At(
      absl::StrCat("shard ", reader.shard().id().value, ", ", schema.EdgeTypeName(edge_type.value)),
      status);
}

LocalNeighborSource::LocalNeighborSource(const Dataset& dataset, const MinibatchDraw& draw)
    : dataset_(dataset), draw_(draw) {}

absl::Status LocalNeighborSource::Sample(int hop, absl::Span<const RelationRequest> relations,
                                         absl::Span<Neighbors> neighbors) {
  for (size_t i = 0; i < relations.size(); ++i) {
    VICINITY_RETURN_IF_ERROR(SampleRelation(hop, relations[i], &neighbors[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<const Shard*> LocalNeighborSource::Find(ShardId id) const {
  const Shard* const shard = dataset_.shard(id);
  if (shard != nullptr) return shard;
  return absl::FailedPreconditionError(absl::StrCat("shard ", id.value, " is not mapped here"));
}

absl::Status LocalNeighborSource::CountEdges(absl::Span<const RelationRequest> relations,
                                             absl::Span<std::vector<int64_t>> degrees) {
  for (size_t i = 0; i < relations.size(); ++i) {
    const EdgeTypeId edge_type = relations[i].edge_type;
    const NodeTypeId target{dataset_.schema().edge_types[edge_type.value].target_type};
    degrees[i].resize(relations[i].targets.size());
    for (const OwnerGroup& group : GroupByOwner(dataset_.book(), target, relations[i].targets)) {
      VICINITY_ASSIGN_OR_RETURN(const Shard* shard, Find(group.shard));
      VICINITY_RETURN_IF_ERROR(ShardReader(*shard).ReadDegrees(
          edge_type, group.rows, [] {},
          [&](size_t k, int64_t degree) {
            degrees[i][group.positions[k]] = degree;
            return true;
          }));
    }
  }
  return absl::OkStatus();
}

absl::Status LocalNeighborSource::SampleRelation(int hop, const RelationRequest& relation,
                                                 Neighbors* out) const {
  const Schema& schema = dataset_.schema();
  const NodeTypeId target{schema.edge_types[relation.edge_type.value].target_type};
  OneHopOptions options =
      OptionsOf(schema, draw_, hop, relation.edge_type, relation.spec, relation.detail);
  options.excluded = relation.excluded;
  if (dataset_.book().num_shards() == 1 && dataset_.shard({0}) != nullptr) {
    // Global ids are local rows: they need not be taken apart, nor even copied.
    options.trees = relation.trees;
    options.times = relation.times;
    const absl::Span<const uint64_t> rows(
        reinterpret_cast<const uint64_t*>(relation.targets.data()), relation.targets.size());
    return SampleShard(schema, ShardReader(*dataset_.shard({0})), relation.edge_type, rows, options,
                       out);
  }
  const std::vector<OwnerGroup> groups =
      GroupByOwner(dataset_.book(), target, relation.targets, relation.trees, relation.times);
  std::vector<Neighbors> answers(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    VICINITY_ASSIGN_OR_RETURN(const Shard* shard, Find(groups[g].shard));
    options.trees = groups[g].trees;
    options.times = groups[g].times;
    const std::vector<ExcludedEdge> excluded = ExcludedOf(groups[g], relation.excluded);
    options.excluded = excluded;
    VICINITY_RETURN_IF_ERROR(SampleShard(schema, ShardReader(*shard), relation.edge_type,
                                         groups[g].rows, options, &answers[g]));
  }
  return MergeByOwner(groups, absl::MakeSpan(answers), relation.targets.size(), out);
}

absl::StatusOr<SampledGraph> SampleLocal(const Dataset& dataset, NodeTypeId seed_type,
                                         absl::Span<const int64_t> seeds, const SamplingSpec& spec,
                                         const MinibatchDraw& draw, EdgeDetail detail) {
  LocalNeighborSource source(dataset, draw);
  MinibatchSampler sampler(dataset.schema(), dataset.book());
  return sampler.Sample(spec, seed_type, seeds, detail, &source);
}

}  // namespace vicinity
