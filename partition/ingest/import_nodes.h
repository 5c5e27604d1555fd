// One node type of an import: its ids, labels, splits and columns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/import_column.h"
#include "partition/ingest/import_ragged.h"
#include "partition/ingest/import_roles.h"
#include "partition/ingest/ingest_report.h"
#include "partition/ingest/node_ids.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"

namespace vicinity {

// The steps in their order: Open, ReadIds, (with ids_from_edges: ids are inserted), ReadRoles,
// Type, Write. InvalidArgument, beginning with the node type's name, is the answer to bad input.
//
// Threads: for one; what is written may be read by several.
// Memory:  the ids (NodeIds), and 9 bytes a node for labels and splits.
class NodeImport {
 public:
  // Opens the files of ids, columns and labels.
  static absl::StatusOr<std::unique_ptr<NodeImport>> Open(const proto::NodeSource& source,
                                                          const ArraySource::Options& options);

  const std::string& name() const { return source_.name(); }
  // Edges insert their ends rather than look them up.
  bool ids_from_edges() const { return source_.ids_from_edges(); }
  NodeIds* ids() { return ids_.get(); }

  // The columns that the nodes will have, label and split as well, in the order stored.
  std::vector<ColumnSpec> Columns() const;
  std::optional<ColumnSpec> FindColumn(absl::string_view name) const;

  absl::Status ReadIds(Progress* progress);
  // Labels and splits, and whether all columns have a row a node. Once all ids are known.
  absl::Status ReadRoles(Progress* progress);
  proto::NodeType Type() const;
  absl::Status Write(NodeTypeId type, DatasetWriter* writer, Progress* progress);
  // All rows of one of Columns(), as they were written: a mapped file, as long as the writer.
  const OutputArray& written(const std::string& column) const { return written_.at(column); }
  IngestReport::Nodes Report() const;  // all but `isolated`

 private:
  NodeImport(const proto::NodeSource& source, const ArraySource::Options& options);
  absl::Status OpenAll();
  absl::Status OpenIds();
  absl::Status OpenLabel();
  absl::Status CheckTarget() const;
  absl::Status DoReadIds();
  absl::Status DoReadRoles();
  absl::Status DoWrite(NodeTypeId type, DatasetWriter* writer, Progress* progress);
  absl::Status WriteNames(NodeTypeId type, DatasetWriter* writer);
  bool has_splits() const {
    return source_.has_train() || source_.has_validation() || source_.has_test();
  }

  const proto::NodeSource source_;
  const ArraySource::Options options_;
  const std::string owner_;  // "node type 'paper'"
  std::unique_ptr<ArraySource> id_source_;
  std::unique_ptr<NodeIds> ids_;
  std::vector<ImportColumn> columns_;
  std::vector<ImportRagged> ragged_;
  std::unique_ptr<ImportColumn> label_;
  Labels labels_;
  std::vector<uint8_t> splits_;  // by node; empty: none
  std::map<std::string, OutputArray> written_;
};

}  // namespace vicinity
