#include "partition/fold/fold.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "partition/fold/edge_copy.h"
#include "partition/fold/kept_nodes.h"
#include "partition/fold/node_copy.h"
#include "partition/overlay/failpoint.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/bus_errors.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity {
namespace {

// Of rows, lists and blocks that have changed: each is read a few times at most.
constexpr int64_t kCacheBytes = int64_t{192} << 20;

FoldedType FoldedNodes(const FoldSource& source, const KeptNodes& kept, NodeTypeId type) {
  const NodeTypeSpec& spec = source.schema().node_types[type.value];
  FoldedType folded;
  folded.name = spec.name;
  folded.in_files = source.book().num_nodes(type);
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    folded.kept += kept.NewRow({s}, type, source.book().num_nodes(type, {s}));
  }
  folded.added = kept.num_kept(type) - folded.kept;
  folded.no_longer_dense = spec.id_kind == IdKind::kDense && !kept.has_dense_keys(type);
  return folded;
}

FoldReport ReportOf(const FoldSource& source, const KeptNodes& kept) {
  FoldReport report;
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    report.versions.push_back(source.reader({s}).version());
  }
  for (int32_t t = 0; t < source.book().num_node_types(); ++t) {
    report.node_types.push_back(FoldedNodes(source, kept, {t}));
  }
  for (const proto::Ranking& ranking : source.dataset().manifest().rankings()) {
    report.rankings.push_back(ranking.name());
  }
  report.num_indexes = source.dataset().manifest().indexes_size();
  return report;
}

Schema NewSchema(const FoldSource& source, const FoldReport& report) {
  Schema schema = source.schema();
  for (size_t t = 0; t < schema.node_types.size(); ++t) {
    if (report.node_types[t].no_longer_dense) schema.node_types[t].id_kind = IdKind::kInt64;
  }
  return schema;
}

std::string Provenance(const FoldSource& source, const FoldReport& report) {
  return absl::StrCat("vicinity fold of ",
                      absl::Hex(source.dataset().fingerprint(), absl::kZeroPad16), " at versions ",
                      absl::StrJoin(report.versions, ","));
}

proto::FoldedFrom FoldedFromOf(const FoldSource& source) {
  proto::FoldedFrom folded_from;
  folded_from.set_fingerprint(source.dataset().fingerprint());
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    folded_from.add_versions(source.reader({s}).version());
    folded_from.add_terms(source.term({s}));
  }
  return folded_from;
}

int64_t EdgesInFiles(const FoldSource& source, EdgeTypeId type) {
  int64_t edges = 0;
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    edges += source.dataset().shard({s})->edges(type).num_edges();
  }
  return edges;
}

// Of every shard, so that none is taken for unchanged whose changes lie elsewhere.
absl::Status CheckAreThere(const std::string& changes, int32_t num_shards) {
  for (int32_t s = 0; s < num_shards; ++s) {
    const std::string folder = absl::StrCat(changes, absl::StrFormat("/shard-%05d", s));
    std::error_code error;
    if (std::filesystem::exists(absl::StrCat(folder, "/high-water"), error)) continue;
    return absl::NotFoundError(absl::StrCat(
        folder, ": holds no changes; bring the folders of all ", num_shards,
        " shards together, from whichever servers wrote them (each has one, written or not)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FoldReport> WriteFolded(const FoldSource& source, const std::string& directory,
                                       Progress* progress) {
  GuardAgainstBusErrors();
  VICINITY_ASSIGN_OR_RETURN(const KeptNodes kept, KeptNodes::Find(source, progress));
  FoldReport report = ReportOf(source, kept);
  VICINITY_ASSIGN_OR_RETURN(Book book, kept.NewBook());
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<DatasetWriter> writer,
                            DatasetWriter::Create(directory, source.dataset().manifest().name(),
                                                  NewSchema(source, report), std::move(book)));
  writer->SetFoldedFrom(FoldedFromOf(source));
  Pass(Failpoint::kFoldBegun);
  VICINITY_ASSIGN_OR_RETURN(const WrittenNodes nodes,
                            CopyNodes(source, kept, writer.get(), progress));
  Pass(Failpoint::kFoldNodesCopied);
  for (int32_t e = 0; e < static_cast<int32_t>(source.schema().edge_types.size()); ++e) {
    VICINITY_ASSIGN_OR_RETURN(const CopiedEdges copied,
                              CopyEdges(source, kept, nodes, {e}, writer.get(), progress));
    Pass(Failpoint::kFoldEdgesCopied);
    report.edge_types.push_back(
        {source.schema().EdgeTypeName(e), EdgesInFiles(source, {e}), copied.kept, copied.added});
  }
  Pass(Failpoint::kFoldFinishing);
  VICINITY_RETURN_IF_ERROR(writer->Finish(nullptr, Provenance(source, report)));
  Pass(Failpoint::kFoldFinished);
  return report;
}

absl::StatusOr<FoldReport> FoldChanges(const Dataset& dataset, const std::string& changes,
                                       const std::string& directory, Progress* progress) {
  if (!dataset.whole()) return absl::InvalidArgumentError("the dataset is not open as a whole");
  VICINITY_RETURN_IF_ERROR(CheckAreThere(changes, dataset.book().num_shards()));
  LiveDatasetOptions options;
  options.cache_bytes = kCacheBytes;
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<LiveDataset> live,
                            LiveDataset::Open(dataset, changes, options));
  std::vector<std::shared_ptr<LiveShard>> shards;
  std::vector<uint64_t> versions;
  for (int32_t s = 0; s < dataset.book().num_shards(); ++s) {
    VICINITY_ASSIGN_OR_RETURN(shards.emplace_back(), live->Find({s}));
    versions.push_back(shards.back()->version());
  }
  VICINITY_ASSIGN_OR_RETURN(const FoldSource source, FoldSource::At(dataset, shards, versions));
  return WriteFolded(source, directory, progress);
}

}  // namespace vicinity
