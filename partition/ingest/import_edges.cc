#include "partition/ingest/import_edges.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "partition/dataset/schema_proto.h"
#include "partition/ingest/formats/problem_list.h"
#include "partition/ingest/formats/text_reader.h"
#include "partition/ingest/node_ids.h"
#include "partition/schema/reverse_type.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "partition/writing/weight_table.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr int64_t kChunkRows = 1 << 16;

// For messages.
std::string SourceName(const ImportColumn& column) {
  return column.source == nullptr ? absl::StrCat("of_source ", column.spec.of_source)
                                  : column.source->name();
}

// Row i of `out` becomes that of row_of(i).
template <typename RowOf>
absl::Status Gather(const char* rows, const OutputArray& out, const RowOf& row_of,
                    Progress* progress) {
  const size_t row_bytes = static_cast<size_t>(out.row_bytes);
  return ForEachInParallel((out.num_rows + kChunkRows - 1) / kChunkRows, progress,
                           [&](int64_t chunk) -> absl::StatusOr<int64_t> {
                             const int64_t begin = chunk * kChunkRows;
                             const int64_t end = std::min(begin + kChunkRows, out.num_rows);
                             for (int64_t i = begin; i < end; ++i) {
                               std::memcpy(out.data + static_cast<size_t>(i) * row_bytes,
                                           rows + row_of(i) * row_bytes, row_bytes);
                             }
                             return end - begin;
                           });
}

// Ids of ends -> nodes, of one node type.
class Resolver {
 public:
  explicit Resolver(NodeImport* nodes)
      : nodes_(*nodes), ids_(nodes->ids()), insert_(nodes->ids_from_edges()) {}

  // NodeIds::kUnknown: no such node.
  int64_t Resolve(int64_t id) const {
    if (!insert_) return ids_->FindInt(id);
    const bool impossible = ids_->kind() == IdKind::kDense && (id < 0 || id >= kMostNodes);
    return impossible ? NodeIds::kUnknown : ids_->InsertInt(id);
  }
  int64_t Resolve(absl::string_view id) const {
    if (!insert_) return ids_->Find(id);
    if (ids_->kind() == IdKind::kString) return ids_->InsertName(id);
    int64_t value = 0;
    return ParseInteger(id, &value) ? Resolve(value) : NodeIds::kUnknown;
  }

  bool wants_text() const { return ids_->kind() == IdKind::kString; }

  // Why an id could not be resolved.
  std::string Complaint(absl::string_view end, const std::string& id) const {
    if (ids_->kind() == IdKind::kDense && !insert_) {
      return absl::StrCat(end, " ", id, " is not in 0 .. ", ids_->size() - 1, " (node type '",
                          nodes_.name(), "')");
    }
    return absl::StrCat(end, " ", id, " is no node of type '", nodes_.name(), "'");
  }

 private:
  // One slip of the pen should not make a dataset of 2^60 nodes.
  static constexpr int64_t kMostNodes = int64_t{1} << 40;

  const NodeImport& nodes_;
  NodeIds* const ids_;
  const bool insert_;
};

// Reads ends in chunks, as text where the ids are text.
class EndsReader {
 public:
  EndsReader(ArraySource* ends, NodeImport* source_nodes, NodeImport* target_nodes)
      : ends_(*ends),
        source_(source_nodes),
        target_(target_nodes),
        text_(ends->is_text() || source_.wants_text() || target_.wants_text()) {}

  // The next edges; none: the end. Those with unknown ends are left out and noted.
  absl::StatusOr<int64_t> Next(std::vector<Edge>* edges, ProblemList* problems) {
    edges->clear();
    VICINITY_ASSIGN_OR_RETURN(const int64_t rows, text_ ? ends_.ReadFields(kChunkRows, &fields_)
                                                        : ends_.ReadInts(kChunkRows, &values_));
    for (int64_t i = 0; i < rows; ++i) {
      const Edge edge =
          text_ ? Edge{source_.Resolve(fields_.field(i, 0)), target_.Resolve(fields_.field(i, 1))}
                : Edge{source_.Resolve(value(i, 0)), target_.Resolve(value(i, 1))};
      if (edge.source != NodeIds::kUnknown && edge.target != NodeIds::kUnknown) {
        edges->push_back(edge);
        continue;
      }
      problems->Add([&] {
        const std::string complaint = edge.source == NodeIds::kUnknown
                                          ? source_.Complaint("source", IdText(i, 0))
                                          : target_.Complaint("target", IdText(i, 1));
        return absl::StrCat(ends_.Place(i), ": ", complaint);
      });
    }
    return rows;
  }

 private:
  int64_t value(int64_t row, int end) const { return values_[static_cast<size_t>(2 * row + end)]; }
  std::string IdText(int64_t row, int end) const {
    return text_ ? absl::StrCat("'", EscapedText(fields_.field(row, end)), "'")
                 : absl::StrCat(value(row, end));
  }

  ArraySource& ends_;
  const Resolver source_;
  const Resolver target_;
  const bool text_;
  FieldTable fields_;
  std::vector<int64_t> values_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EdgeImport>> EdgeImport::Open(const proto::EdgeSource& source,
                                                             const ArraySource::Options& options,
                                                             NodeImport* source_nodes,
                                                             NodeImport* target_nodes) {
  auto edges =
      std::unique_ptr<EdgeImport>(new EdgeImport(source, options, source_nodes, target_nodes));
  VICINITY_RETURN_IF_ERROR(At(edges->owner_, edges->OpenAll()));
  return edges;
}

EdgeImport::EdgeImport(const proto::EdgeSource& source, const ArraySource::Options& options,
                       NodeImport* source_nodes, NodeImport* target_nodes)
    : source_(source),
      options_(options),
      source_nodes_(source_nodes),
      target_nodes_(target_nodes),
      name_(absl::StrCat(source.source(), ":", source.relation(), ":", source.target())),
      owner_(absl::StrCat("edge type '", name_, "'")) {}

absl::Status EdgeImport::OpenAll() {
  if (!source_.has_ends()) return absl::InvalidArgumentError("has no `ends`");
  ArraySource::Options options = options_;
  options.transposed = source_.transposed();
  VICINITY_ASSIGN_OR_RETURN(ends_, ArraySource::Open(source_.ends(), options));
  // The width of a text file without rows is nobody's mistake.
  const bool empty_text = ends_->is_text() && ends_->row_shape().empty() && !ends_->HasRows();
  if (!empty_text && ends_->row_shape() != std::vector<int64_t>{2}) {
    return absl::InvalidArgumentError(absl::StrCat(
        ends_->name(), ": has ", ends_->values_per_row(), " values a row, and an edge has two",
        source_.transposed() ? "" : " (text: choose `columns`; [2, E]: say `transposed`)"));
  }
  for (const proto::ColumnSource& column : source_.columns()) {
    if (!column.of_source().empty()) {
      VICINITY_ASSIGN_OR_RETURN(ImportColumn copy, OpenCopy(column));
      columns_.push_back(std::move(copy));
      continue;
    }
    VICINITY_ASSIGN_OR_RETURN(ImportColumn opened, OpenColumn(column, options_));
    // Weights that happen to be whole are written without a point.
    const bool whole = opened.source->is_text() && opened.spec.dtype == DType::kInt64;
    if (whole && column.name() == source_.weight_column() &&
        column.cast() == proto::DTYPE_UNSPECIFIED) {
      opened.spec.dtype = DType::kFloat64;
    }
    columns_.push_back(std::move(opened));
  }
  VICINITY_RETURN_IF_ERROR(CheckWeightColumn());
  VICINITY_RETURN_IF_ERROR(CheckTimeOrder());
  for (const ImportColumn& column : columns_) {
    if (ends_->num_rows() == ArraySource::kUnknown) break;
    if (column.source == nullptr) continue;
    VICINITY_RETURN_IF_ERROR(CheckNumRows(*column.source, "it", ends_->num_rows()));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImportColumn> EdgeImport::OpenCopy(const proto::ColumnSource& column) const {
  const std::string& name = column.name().empty() ? column.of_source() : column.name();
  const std::string where = absl::StrCat("column '", name, "': of_source ", column.of_source());
  if (column.has_array() || column.cast() != proto::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": a copy has neither `array` nor `cast`"));
  }
  std::optional<ColumnSpec> spec = source_nodes_->FindColumn(column.of_source());
  if (!spec.has_value()) {
    const auto add_name = [](std::string* out, const ColumnSpec& each) { out->append(each.name); };
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": node type '", source_nodes_->name(),
        "' has no such column; it has: ", absl::StrJoin(source_nodes_->Columns(), ", ", add_name)));
  }
  spec->of_source = std::exchange(spec->name, name);
  return ImportColumn{*std::move(spec), nullptr};
}

absl::Status EdgeImport::CheckWeightColumn() const {
  if (source_.weight_column().empty()) return absl::OkStatus();
  for (const ImportColumn& column : columns_) {
    if (column.spec.name != source_.weight_column()) continue;
    const bool is_float =
        column.spec.dtype == DType::kFloat32 || column.spec.dtype == DType::kFloat64;
    if (is_float && column.spec.num_values() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(SourceName(column), ": weight_column ", source_.weight_column(),
                     ": not one float32 or float64 an edge, but ", column.spec.num_values(), " ",
                     absl::string_view(DTypeName(column.spec.dtype).data()), " (choose `cast`)"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("weight_column ", source_.weight_column(), ": no such column"));
}

absl::Status EdgeImport::CheckTimeOrder() const {
  if (source_.time_order().empty()) return absl::OkStatus();
  for (const ImportColumn& column : columns_) {
    if (column.spec.name != source_.time_order()) continue;
    if (HoldsTimes(column.spec)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(SourceName(column), ": time_order ", source_.time_order(),
                     ": not one int64 an edge, but ", column.spec.num_values(), " ",
                     absl::string_view(DTypeName(column.spec.dtype).data()), " (choose `cast`)"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("time_order ", source_.time_order(), ": no such column"));
}

absl::Status EdgeImport::CheckWeights(const ImportColumn& column, const Rows& rows) const {
  ProblemList problems;
  for (int64_t edge = 0; edge < edges_.size(); ++edge) {
    const double weight =
        LoadWeight(column.spec.dtype, rows.bytes.data() + edge * column.spec.row_bytes());
    if (IsWeight(weight)) continue;
    problems.Add(
        [&] { return absl::StrCat(column.source->name(), ": edge ", edge, ": ", weight); });
  }
  return problems.ToStatus("weights that are not finite or below 0");
}

absl::Status EdgeImport::ReadEnds(Progress* progress) {
  const int64_t total = std::max<int64_t>(ends_->num_rows(), 0);
  progress->Begin(absl::StrCat("reading ", owner_), total, "edges");
  const absl::Status status = At(owner_, DoReadEnds(progress));
  progress->End();
  return status;
}

absl::Status EdgeImport::DoReadEnds(Progress* progress) {
  // Types that edges themselves fill are of unknown size until the last one is read.
  const bool growing = source_nodes_->ids_from_edges() || target_nodes_->ids_from_edges();
  const int64_t num_nodes =
      growing ? std::numeric_limits<int64_t>::max()
              : std::max(source_nodes_->ids()->size(), target_nodes_->ids()->size());
  VICINITY_ASSIGN_OR_RETURN(spool_, EdgeSpool::Create(options_.spool_directory, num_nodes));
  EndsReader reader(ends_.get(), source_nodes_, target_nodes_);
  std::vector<Edge> edges;
  ProblemList problems;
  for (int64_t read = 0, rows = -1; rows != 0; progress->Update(read += rows)) {
    VICINITY_ASSIGN_OR_RETURN(rows, reader.Next(&edges, &problems));
    // With problems there will be no dataset: reading goes on to count them.
    if (problems.count() == 0) VICINITY_RETURN_IF_ERROR(spool_->Append(edges));
  }
  VICINITY_RETURN_IF_ERROR(problems.ToStatus("unknown ends"));
  ends_.reset();
  VICINITY_ASSIGN_OR_RETURN(edges_, spool_->Finish());
  return absl::OkStatus();
}

absl::Status EdgeImport::ReadColumns(Progress* progress) {
  for (ImportColumn& column : columns_) {
    if (column.source == nullptr) {
      rows_.emplace_back();
      continue;
    }
    absl::StatusOr<Rows> rows = ReadRows(&column, progress);
    if (!rows.ok()) return At(owner_, rows.status());
    if (column.spec.name == source_.weight_column()) {
      VICINITY_RETURN_IF_ERROR(At(owner_, CheckWeights(column, *rows)));
    }
    rows_.push_back(*std::move(rows));
  }
  return absl::OkStatus();
}

absl::StatusOr<EdgeImport::Rows> EdgeImport::ReadRows(ImportColumn* column,
                                                      Progress* progress) const {
  VICINITY_RETURN_IF_ERROR(CheckNumRows(*column->source, "it", edges_.size()));
  Rows rows;
  VICINITY_ASSIGN_OR_RETURN(const auto direct, column->source->Direct(column->spec.dtype));
  if (direct.has_value()) {
    rows.bytes = *direct;
    return rows;
  }
  VICINITY_ASSIGN_OR_RETURN(rows.spool, SpoolFile::Create(options_.spool_directory));
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<char> bytes,
                            rows.spool->MapFixed(edges_.size() * column->spec.row_bytes()));
  VICINITY_RETURN_IF_ERROR(WriteRows(column, "it", edges_.size(), bytes.data(), progress));
  rows.bytes = {bytes.data(), bytes.size()};
  return rows;
}

proto::EdgeType EdgeImport::Type(bool reversed) const {
  proto::EdgeType type;
  type.set_source(reversed ? source_.target() : source_.source());
  type.set_relation(reversed ? ReverseRelation(source_.relation()) : source_.relation());
  type.set_target(reversed ? source_.source() : source_.target());
  for (const ImportColumn& column : columns_) {
    const std::optional<ColumnSpec> spec = SpecOf(column, reversed);
    if (!spec.has_value()) continue;
    *type.add_columns() = ColumnToProto(*spec);
    if (spec->name == source_.weight_column()) type.set_weight_column(spec->name);
    if (spec->name == source_.time_order()) type.set_time_order(spec->name);
  }
  return type;
}

std::optional<ColumnSpec> EdgeImport::SpecOf(const ImportColumn& column, bool reversed) const {
  if (column.source != nullptr) return column.spec;
  std::optional<ColumnSpec> copied = sources(reversed).FindColumn(column.spec.of_source);
  if (!copied.has_value()) return std::nullopt;
  copied->name = column.spec.name;
  copied->of_source = column.spec.of_source;
  return copied;
}

std::function<int64_t(uint64_t, uint64_t)> EdgeImport::TimeOf(bool reversed) const {
  const auto load = [](const char* times, uint64_t row) {
    int64_t time = 0;
    std::memcpy(&time, times + row * sizeof(time), sizeof(time));
    return time;
  };
  for (size_t c = 0; c < columns_.size(); ++c) {
    const std::optional<ColumnSpec> spec = SpecOf(columns_[c], reversed);
    if (!spec.has_value() || spec->name != source_.time_order()) continue;
    if (!spec->of_source.empty()) {
      const char* const times = sources(reversed).written(spec->of_source).data;
      return [=](uint64_t source, uint64_t) { return load(times, source); };
    }
    const char* const times = rows_[c].bytes.data();
    const auto num_edges = static_cast<uint64_t>(edges_.size());
    return [=](uint64_t, uint64_t edge_id) { return load(times, edge_id % num_edges); };
  }
  return nullptr;
}

absl::Status EdgeImport::WriteColumns(EdgeTypeId type, bool reversed, const CscResult& csc,
                                      DatasetWriter* writer, Progress* progress) const {
  const uint64_t num_edges = static_cast<uint64_t>(edges_.size());
  int index = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const std::optional<ColumnSpec> spec = SpecOf(columns_[c], reversed);
    if (!spec.has_value()) continue;
    VICINITY_ASSIGN_OR_RETURN(const OutputArray out,
                              writer->EdgeColumn(kShard, type, index++, csc.stored));
    progress->Begin(absl::StrCat("writing ", owner_, ", ", spec->name), csc.stored, "edges");
    const absl::Status status =
        spec->of_source.empty()
            ? Gather(
                  rows_[c].bytes.data(), out,
                  [&](int64_t i) { return LoadId(csc.edge_ids, i) % num_edges; }, progress)
            : Gather(
                  sources(reversed).written(spec->of_source).data, out,
                  [&](int64_t i) { return LoadId(csc.sources, i); }, progress);
    progress->End();
    VICINITY_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace vicinity
