#include "partition/writing/audit.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/node_keys.h"
#include "partition/dataset/row_range.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_files.h"
#include "partition/writing/shard_checks.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/mutex.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// What is fed to the hash; docs/formats.md tells the same.
struct HashedEdge {
  uint64_t source_key;
  uint64_t target_key;
  uint64_t edge_id;
};
static_assert(sizeof(HashedEdge) == 24);

constexpr uint64_t kEdgeSeeds = uint64_t{1} << 32;  // apart from those of node types

template <typename T>
uint64_t HashOf(const T& value, uint64_t seed) {
  return Checksum({reinterpret_cast<const char*>(&value), sizeof(value)}, seed);
}

// Sums of one type's hashes.
struct Sums {
  uint64_t count = 0;
  uint64_t things = 0;  // nodes' ids or edges' ends
  std::vector<uint64_t> columns;
  std::vector<uint64_t> ragged;

  void Add(const Sums& other) {
    count += other.count;
    things += other.things;
    AddEach(other.columns, &columns);
    AddEach(other.ragged, &ragged);
  }

 private:
  static void AddEach(const std::vector<uint64_t>& from, std::vector<uint64_t>* to) {
    to->resize(std::max(to->size(), from.size()));
    for (size_t c = 0; c < from.size(); ++c) (*to)[c] += from[c];
  }
};

Sums HashNodes(const Dataset& dataset, const RowRange& range) {
  const NodeTable& table = range.shard->nodes(NodeTypeId{range.type});
  const bool named = dataset.schema().node_types[range.type].id_kind == IdKind::kString;
  Sums sums;
  sums.columns.resize(table.columns.size());
  sums.ragged.resize(table.ragged.size());
  for (int64_t row = range.begin; row < range.end; ++row) {
    const uint64_t node = HashOf(table.keys[row], static_cast<uint64_t>(range.type));
    sums.things += named ? Checksum(table.names.row(row), node) : node;
    for (size_t c = 0; c < table.columns.size(); ++c) {
      sums.columns[c] += Checksum(table.columns[c].row(row), node);
    }
    for (size_t c = 0; c < table.ragged.size(); ++c) {
      sums.ragged[c] += Checksum(table.ragged[c].row(row), node);
    }
  }
  sums.count = static_cast<uint64_t>(range.end - range.begin);
  return sums;
}

// Hashes the in-edges of one target after the other.
class EdgeHasher {
 public:
  EdgeHasher(const Dataset& dataset, EdgeTypeId type)
      : dataset_(dataset),
        type_(type),
        source_type_{dataset.schema().edge_types[type.value].source_type},
        target_type_{dataset.schema().edge_types[type.value].target_type},
        source_keys_(dataset, source_type_) {}

  absl::StatusOr<Sums> Hash(const RowRange& range) const {
    const EdgeTable& edges = range.shard->edges(type_);
    const absl::Span<const uint64_t> target_keys = range.shard->nodes(target_type_).keys;
    Sums sums;
    sums.columns.resize(edges.columns.size());
    for (int64_t row = range.begin; row < range.end; ++row) {
      const uint64_t begin = edges.offsets[row];
      const uint64_t end = edges.offsets[row + 1];
      if (begin > end || end > static_cast<uint64_t>(edges.num_edges())) {
        return Damage(OffsetsPath(dataset_.schema(), range.shard->id(), type_), row,
                      absl::StrCat("offsets go from ", begin, " to ", end));
      }
      for (int64_t i = begin; i < static_cast<int64_t>(end); ++i) {
        const GlobalNode source = {edges.sources[i]};
        if (!dataset_.book().Contains(source_type_, source)) {
          return Damage(SourcesPath(dataset_.schema(), range.shard->id(), type_), i,
                        absl::StrCat("source ", source.value, " is outside the book"));
        }
        const HashedEdge edge = {source_keys_[source], target_keys[row],
                                 static_cast<uint64_t>(edges.edge_ids[i])};
        const uint64_t hash = HashOf(edge, kEdgeSeeds + static_cast<uint64_t>(type_.value));
        sums.things += hash;
        for (size_t c = 0; c < edges.columns.size(); ++c) {
          sums.columns[c] += Checksum(edges.columns[c].row(i), hash);
        }
      }
      sums.count += end - begin;
    }
    return sums;
  }

 private:
  absl::Status Damage(const std::string& path, int64_t position, const std::string& what) const {
    return absl::DataLossError(
        absl::StrCat(dataset_.directory(), "/", path, ": at ", position, ": ", what));
  }

  const Dataset& dataset_;
  const EdgeTypeId type_;
  const NodeTypeId source_type_;
  const NodeTypeId target_type_;
  const NodeKeys source_keys_;
};

// One Sums a type, added to by several threads.
class Totals {
 public:
  explicit Totals(size_t num_types) : sums_(num_types) {}
  void Add(int32_t type, const Sums& sums) {
    const MutexLock lock(&mu_);
    sums_[type].Add(sums);
  }
  std::vector<Sums> Take() {
    const MutexLock lock(&mu_);
    return std::move(sums_);
  }

 private:
  Mutex mu_;
  std::vector<Sums> sums_ ABSL_GUARDED_BY(mu_);
};

absl::Status AuditNodes(const Dataset& dataset, Progress* progress, proto::Audit* audit) {
  const std::vector<RowRange> ranges = NodeRanges(dataset);
  Totals totals(dataset.schema().node_types.size());
  int64_t num_nodes = 0;
  for (const RowRange& range : ranges) num_nodes += range.end - range.begin;
  progress->Begin("auditing nodes", num_nodes, "nodes");
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(ranges.size(), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        totals.Add(ranges[i].type, HashNodes(dataset, ranges[i]));
        return ranges[i].end - ranges[i].begin;
      }));
  progress->End();
  for (const Sums& sums : totals.Take()) {
    proto::Audit::Nodes* nodes = audit->add_node_types();
    nodes->set_count(sums.count);
    nodes->set_ids(sums.things);
    nodes->mutable_columns()->Add(sums.columns.begin(), sums.columns.end());
    nodes->mutable_ragged_columns()->Add(sums.ragged.begin(), sums.ragged.end());
  }
  return absl::OkStatus();
}

absl::Status AuditEdges(const Dataset& dataset, Progress* progress, proto::Audit* audit) {
  const std::vector<RowRange> ranges = EdgeRanges(dataset);
  const int32_t num_types = static_cast<int32_t>(dataset.schema().edge_types.size());
  Totals totals(num_types);
  std::vector<std::unique_ptr<EdgeHasher>> hashers;
  int64_t num_edges = 0;
  for (int32_t e = 0; e < num_types; ++e) {
    hashers.push_back(std::make_unique<EdgeHasher>(dataset, EdgeTypeId{e}));
    for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
      num_edges += shard->edges(EdgeTypeId{e}).num_edges();
    }
  }
  progress->Begin("auditing edges", num_edges, "edges");
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(ranges.size(), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_ASSIGN_OR_RETURN(const Sums sums, hashers[ranges[i].type]->Hash(ranges[i]));
        totals.Add(ranges[i].type, sums);
        return static_cast<int64_t>(sums.count);
      }));
  progress->End();
  for (const Sums& sums : totals.Take()) {
    proto::Audit::Edges* edges = audit->add_edge_types();
    edges->set_count(sums.count);
    edges->set_ends(sums.things);
    edges->mutable_columns()->Add(sums.columns.begin(), sums.columns.end());
  }
  return absl::OkStatus();
}

absl::Status Compare(const std::string& what, uint64_t expected, uint64_t found) {
  if (expected == found) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("audit: ", what, ": expected ", expected, ", found ", found));
}

template <typename Spec>
absl::Status CompareColumns(const std::string& where, const std::vector<Spec>& columns,
                            const google::protobuf::RepeatedField<uint64_t>& expected,
                            const google::protobuf::RepeatedField<uint64_t>& found) {
  VICINITY_RETURN_IF_ERROR(
      Compare(absl::StrCat(where, ": number of columns"), expected.size(), found.size()));
  for (int c = 0; c < expected.size(); ++c) {
    const std::string name =
        c < static_cast<int>(columns.size()) ? columns[c].name : absl::StrCat(c);
    VICINITY_RETURN_IF_ERROR(
        Compare(absl::StrCat(where, ": column ", name), expected[c], found[c]));
  }
  return absl::OkStatus();
}

absl::Status CheckFiles(const Dataset& dataset, Progress* progress) {
  std::vector<const proto::FileEntry*> files;
  int64_t num_bytes = 0;
  for (int32_t s = 0; s < dataset.manifest().shards_size(); ++s) {
    for (const proto::FileEntry* file : FilesOfShard(dataset.manifest(), {s})) {
      files.push_back(file);
    }
  }
  for (const proto::Ranking& ranking : dataset.manifest().rankings()) {
    for (const proto::FileEntry& file : ranking.files()) files.push_back(&file);
  }
  for (const proto::FileEntry* file : files) num_bytes += static_cast<int64_t>(file->size());
  progress->Begin("checking files", num_bytes, "bytes");
  VICINITY_RETURN_IF_ERROR(
      ForEachInParallel(files.size(), progress, [&](int64_t i) -> absl::StatusOr<int64_t> {
        VICINITY_RETURN_IF_ERROR(CheckFile(dataset.directory(), *files[i]));
        return static_cast<int64_t>(files[i]->size());
      }));
  progress->End();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<proto::Audit> ComputeAudit(const Dataset& dataset, Progress* progress) {
  if (!dataset.whole()) {
    return absl::FailedPreconditionError(
        absl::StrCat(dataset.directory(), ": ", dataset.shards().size(), " of ",
                     dataset.book().num_shards(), " shards are open; an audit needs all"));
  }
  proto::Audit audit;
  VICINITY_RETURN_IF_ERROR(AuditNodes(dataset, progress, &audit));
  VICINITY_RETURN_IF_ERROR(AuditEdges(dataset, progress, &audit));
  return audit;
}

absl::Status CompareAudits(const Schema& schema, const proto::Audit& expected,
                           const proto::Audit& found) {
  VICINITY_RETURN_IF_ERROR(Compare("node types in expected audit", schema.node_types.size(),
                                   expected.node_types_size()));
  VICINITY_RETURN_IF_ERROR(
      Compare("node types", expected.node_types_size(), found.node_types_size()));
  VICINITY_RETURN_IF_ERROR(Compare("edge types in expected audit", schema.edge_types.size(),
                                   expected.edge_types_size()));
  VICINITY_RETURN_IF_ERROR(
      Compare("edge types", expected.edge_types_size(), found.edge_types_size()));
  for (int t = 0; t < expected.node_types_size(); ++t) {
    const NodeTypeSpec& spec = schema.node_types[t];
    const proto::Audit::Nodes& a = expected.node_types(t);
    const proto::Audit::Nodes& b = found.node_types(t);
    const std::string where = absl::StrCat("node type ", spec.name);
    VICINITY_RETURN_IF_ERROR(Compare(where + ": count", a.count(), b.count()));
    VICINITY_RETURN_IF_ERROR(Compare(where + ": ids", a.ids(), b.ids()));
    VICINITY_RETURN_IF_ERROR(CompareColumns(where, spec.columns, a.columns(), b.columns()));
    VICINITY_RETURN_IF_ERROR(
        CompareColumns(where, spec.ragged, a.ragged_columns(), b.ragged_columns()));
  }
  for (int e = 0; e < expected.edge_types_size(); ++e) {
    const proto::Audit::Edges& a = expected.edge_types(e);
    const proto::Audit::Edges& b = found.edge_types(e);
    const std::string where = absl::StrCat("edge type ", schema.EdgeTypeName(e));
    VICINITY_RETURN_IF_ERROR(Compare(where + ": count", a.count(), b.count()));
    VICINITY_RETURN_IF_ERROR(Compare(where + ": ends", a.ends(), b.ends()));
    VICINITY_RETURN_IF_ERROR(
        CompareColumns(where, schema.edge_types[e].columns, a.columns(), b.columns()));
  }
  return absl::OkStatus();
}

absl::Status VerifyDataset(const std::string& directory, Progress* progress) {
  Dataset::Options options;
  options.check_bytes = 0;  // CheckFiles takes them all
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset,
                            Dataset::Open(directory, options));
  VICINITY_RETURN_IF_ERROR(CheckFiles(*dataset, progress));
  VICINITY_RETURN_IF_ERROR(CheckShards(*dataset, progress));
  VICINITY_ASSIGN_OR_RETURN(const proto::Audit found, ComputeAudit(*dataset, progress));
  return At(directory, CompareAudits(dataset->schema(), dataset->manifest().audit(), found));
}

}  // namespace vicinity
