// One edge type of an import: its ends, resolved to nodes, and its columns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/ingest/csc_builder.h"
#include "partition/ingest/edge_spool.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/formats/spool_file.h"
#include "partition/ingest/import_column.h"
#include "partition/ingest/import_nodes.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"

namespace vicinity {

// The steps in their order: Open, ReadEnds, ReadColumns, then, once both node types are written,
// any number of times WriteColumns. InvalidArgument, beginning with the edge type's name, is the
// answer to bad input.
//
// Threads:  for one.
// Lifetime: both node types must outlive it.
// Memory:   one chunk; edges and columns lie in temporary files, copies of node columns are made of
//           the files that those were written to.
class EdgeImport {
 public:
  // Opens the files of ends and columns.
  static absl::StatusOr<std::unique_ptr<EdgeImport>> Open(const proto::EdgeSource& source,
                                                          const ArraySource::Options& options,
                                                          NodeImport* source_nodes,
                                                          NodeImport* target_nodes);

  // "source:relation:target".
  const std::string& name() const { return name_; }

  // Ends that are no nodes are refused, up to ten listed with their places and all counted.
  absl::Status ReadEnds(Progress* progress);
  const EdgeList& edges() const { return edges_; }

  // Once the ends are read.
  absl::Status ReadColumns(Progress* progress);

  // What the schema says of it, or, reversed, of its reverse, which has no copy of what the nodes
  // that it comes from do not have.
  proto::EdgeType Type(bool reversed) const;

  // CscSpec::time_of of Type(reversed), once both node types are written; null where that has no
  // time_order. Good as long as this is.
  std::function<int64_t(uint64_t source, uint64_t edge_id)> TimeOf(bool reversed) const;

  // The columns of Type(reversed), whose edges are those of `csc`. The row of the edge at position
  // i is that of edge_ids[i] modulo the number of edges; in copies, of node sources[i].
  absl::Status WriteColumns(EdgeTypeId type, bool reversed, const CscResult& csc,
                            DatasetWriter* writer, Progress* progress) const;

 private:
  // All rows of a column in the type to be stored, wherever they lie.
  struct Rows {
    std::string_view bytes;
    std::unique_ptr<SpoolFile> spool;
  };

  EdgeImport(const proto::EdgeSource& source, const ArraySource::Options& options,
             NodeImport* source_nodes, NodeImport* target_nodes);
  absl::Status OpenAll();
  absl::StatusOr<ImportColumn> OpenCopy(const proto::ColumnSource& column) const;
  const NodeImport& sources(bool reversed) const {
    return reversed ? *target_nodes_ : *source_nodes_;
  }
  // What the schema says of a column; nullopt: reversed edges go without.
  std::optional<ColumnSpec> SpecOf(const ImportColumn& column, bool reversed) const;
  // That there is such a column, and what it may hold; once it is read, what it does hold.
  absl::Status CheckWeightColumn() const;
  absl::Status CheckTimeOrder() const;
  absl::Status CheckWeights(const ImportColumn& column, const Rows& rows) const;
  absl::Status DoReadEnds(Progress* progress);
  absl::StatusOr<Rows> ReadRows(ImportColumn* column, Progress* progress) const;

  const proto::EdgeSource source_;
  const ArraySource::Options options_;
  NodeImport* const source_nodes_;
  NodeImport* const target_nodes_;
  const std::string name_;
  const std::string owner_;  // "edge type 'a:r:b'"
  std::unique_ptr<ArraySource> ends_;
  std::unique_ptr<EdgeSpool> spool_;
  EdgeList edges_;
  std::vector<ImportColumn> columns_;
  std::vector<Rows> rows_;  // of columns_; none of copies
};

}  // namespace vicinity
