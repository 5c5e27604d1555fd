#include "partition/ingest/import_nodes.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "partition/dataset/schema_proto.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr const char* kSplitColumn = "split";
constexpr const char* kLabelColumn = "label";

// Text and floating-point numbers are what a file holds, not what a class is.
DType LabelType(const ArraySource& source) {
  switch (source.type()) {
    case ValueType::kInt8:
    case ValueType::kUint8:
    case ValueType::kInt16:
    case ValueType::kInt32:
    case ValueType::kInt64:
      return static_cast<DType>(source.type());
    default:
      return DType::kInt32;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<NodeImport>> NodeImport::Open(const proto::NodeSource& source,
                                                             const ArraySource::Options& options) {
  auto nodes = std::unique_ptr<NodeImport>(new NodeImport(source, options));
  VICINITY_RETURN_IF_ERROR(At(nodes->owner_, nodes->OpenAll()));
  return nodes;
}

NodeImport::NodeImport(const proto::NodeSource& source, const ArraySource::Options& options)
    : source_(source), options_(options), owner_(absl::StrCat("node type '", source.name(), "'")) {}

absl::Status NodeImport::OpenAll() {
  VICINITY_RETURN_IF_ERROR(OpenIds());
  for (const proto::ColumnSource& column : source_.columns()) {
    VICINITY_ASSIGN_OR_RETURN(ImportColumn opened, OpenColumn(column, options_));
    columns_.push_back(std::move(opened));
  }
  for (const proto::RaggedSource& column : source_.ragged_columns()) {
    VICINITY_ASSIGN_OR_RETURN(ImportRagged opened, OpenRagged(column, options_));
    ragged_.push_back(std::move(opened));
  }
  VICINITY_RETURN_IF_ERROR(CheckTarget());
  if (source_.num_classes() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("num_classes is ", source_.num_classes()));
  }
  return source_.has_label() ? OpenLabel() : absl::OkStatus();
}

absl::Status NodeImport::CheckTarget() const {
  const std::string& target = source_.target_column();
  const bool known =
      target.empty() || absl::c_any_of(columns_, [&target](const ImportColumn& column) {
        return column.spec.name == target;
      });
  if (known) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("target_column ", target, ": none of `columns` is named so"));
}

absl::Status NodeImport::OpenIds() {
  if (source_.count() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("count is ", source_.count()));
  }
  if (source_.has_ids() && ids_from_edges()) {
    return absl::InvalidArgumentError("has both `ids` and `ids_from_edges`");
  }
  if (!proto::IdKind_IsValid(source_.id_kind())) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown id_kind ", static_cast<int>(source_.id_kind())));
  }
  proto::IdKind kind = source_.id_kind();
  if (source_.has_ids()) {
    VICINITY_ASSIGN_OR_RETURN(id_source_, ArraySource::Open(source_.ids(), options_));
    if (kind == proto::DENSE) {
      return absl::InvalidArgumentError(
          "is DENSE, and has `ids`: give a count, or another id_kind");
    }
    if (kind == proto::ID_KIND_UNSPECIFIED) {
      kind = id_source_->LooksInteger() ? proto::INTEGER : proto::STRING;
    }
  } else if (kind == proto::ID_KIND_UNSPECIFIED) {
    kind = proto::DENSE;
  }
  if (kind != proto::DENSE && !source_.has_ids() && !ids_from_edges()) {
    return absl::InvalidArgumentError(
        absl::StrCat("is ", proto::IdKind_Name(kind), ", and has no `ids`"));
  }
  ids_ = std::make_unique<NodeIds>(static_cast<IdKind>(kind));
  return absl::OkStatus();
}

absl::Status NodeImport::OpenLabel() {
  proto::ColumnSource label = source_.label();
  if (label.name().empty()) label.set_name(kLabelColumn);
  // The type is ours to choose unless told; OpenColumn needs one that columns can have.
  const bool told = label.cast() != proto::DTYPE_UNSPECIFIED;
  if (!told) label.set_cast(proto::INT32);
  VICINITY_ASSIGN_OR_RETURN(ImportColumn opened, OpenColumn(label, options_));
  if (opened.source->values_per_row() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(opened.source->name(), ": has ", opened.source->values_per_row(),
                     " values a row, and a label is one class: several are a "
                     "column that `target_column` names (--targets)"));
  }
  if (!told) opened.spec.dtype = LabelType(*opened.source);
  opened.spec.shape.clear();
  label_ = std::make_unique<ImportColumn>(std::move(opened));
  return absl::OkStatus();
}

absl::Status NodeImport::ReadIds(Progress* progress) {
  progress->Begin(absl::StrCat("reading ids of ", owner_), 0, "nodes");
  const absl::Status status = At(owner_, DoReadIds());
  progress->End();
  return status;
}

absl::Status NodeImport::DoReadIds() {
  if (id_source_ == nullptr) {
    if (!ids_from_edges() && source_.count() > 0) ids_->InsertInt(source_.count() - 1);
    return absl::OkStatus();
  }
  if (source_.count() != 0) {
    VICINITY_RETURN_IF_ERROR(CheckNumRows(*id_source_, "`count`", source_.count()));
  }
  VICINITY_RETURN_IF_ERROR(ids_->InsertAll(id_source_.get()));
  if (source_.count() != 0 && source_.count() != ids_->size()) {
    return absl::InvalidArgumentError(absl::StrCat(id_source_->name(), ": has ", ids_->size(),
                                                   " ids, and count is ", source_.count()));
  }
  id_source_.reset();
  return absl::OkStatus();
}

absl::Status NodeImport::ReadRoles(Progress* progress) {
  progress->Begin(absl::StrCat("reading labels and splits of ", owner_), 0, "nodes");
  const absl::Status status = At(owner_, DoReadRoles());
  progress->End();
  return status;
}

absl::Status NodeImport::DoReadRoles() {
  if (ids_from_edges() && ids_->size() < source_.count()) {
    // Dense nodes without an edge have no other sign of theirs than the count.
    if (ids_->kind() != IdKind::kDense) {
      return absl::InvalidArgumentError(
          absl::StrCat("edges name ", ids_->size(), " nodes, and count is ", source_.count()));
    }
    ids_->InsertInt(source_.count() - 1);
  }
  if (ids_from_edges() && source_.count() != 0 && ids_->size() > source_.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("edges name ", ids_->size(), " nodes, and count is ", source_.count()));
  }
  for (const ImportColumn& column : columns_) {
    VICINITY_RETURN_IF_ERROR(CheckNumRows(*column.source, "it", ids_->size()));
  }
  if (label_ != nullptr) {
    VICINITY_ASSIGN_OR_RETURN(labels_,
                              ReadLabels(label_.get(), "it", ids_->size(), source_.num_classes()));
  }
  VICINITY_ASSIGN_OR_RETURN(splits_, ReadSplits(source_, options_, *ids_, "it"));
  return absl::OkStatus();
}

std::vector<ColumnSpec> NodeImport::Columns() const {
  std::vector<ColumnSpec> columns;
  for (const ImportColumn& column : columns_) columns.push_back(column.spec);
  if (label_ != nullptr) columns.push_back(label_->spec);
  if (has_splits()) columns.push_back({kSplitColumn, DType::kUint8, {}});
  return columns;
}

std::optional<ColumnSpec> NodeImport::FindColumn(absl::string_view name) const {
  for (const ColumnSpec& column : Columns()) {
    if (column.name == name) return column;
  }
  return std::nullopt;
}

proto::NodeType NodeImport::Type() const {
  proto::NodeType type;
  type.set_name(source_.name());
  type.set_id_kind(static_cast<proto::IdKind>(ids_->kind()));
  type.set_key_salt(ids_->salt());
  for (const ColumnSpec& column : Columns()) *type.add_columns() = ColumnToProto(column);
  for (const ImportRagged& column : ragged_) {
    *type.add_ragged_columns() = RaggedToProto(column.spec);
  }
  type.set_target_column(source_.target_column());
  if (label_ != nullptr) {
    type.set_label_column(label_->spec.name);
    type.set_num_classes(labels_.num_classes);
  }
  if (has_splits()) type.set_split_column(kSplitColumn);
  return type;
}

absl::Status NodeImport::Write(NodeTypeId type, DatasetWriter* writer, Progress* progress) {
  return At(owner_, DoWrite(type, writer, progress));
}

absl::Status NodeImport::DoWrite(NodeTypeId type, DatasetWriter* writer, Progress* progress) {
  const int64_t num_nodes = ids_->size();
  VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, writer->Keys(kShard, type));
  for (int64_t node = 0; node < num_nodes; ++node) {
    keys.as<uint64_t>()[static_cast<size_t>(node)] = ids_->key(node);
  }
  if (ids_->kind() == IdKind::kString) VICINITY_RETURN_IF_ERROR(WriteNames(type, writer));
  int index = 0;
  for (const ColumnSpec& column : Columns()) {
    VICINITY_ASSIGN_OR_RETURN(written_[column.name], writer->Column(kShard, type, index++));
  }
  for (ImportColumn& column : columns_) {
    const OutputArray& rows = written(column.spec.name);
    VICINITY_RETURN_IF_ERROR(WriteRows(&column, "it", num_nodes, rows.data, progress));
  }
  if (label_ != nullptr) {
    const OutputArray& rows = written(label_->spec.name);
    const int64_t fit =
        CastValues(ValueType::kInt64, reinterpret_cast<const char*>(labels_.classes.data()),
                   num_nodes, label_->spec.dtype, rows.data);
    if (fit != num_nodes) {
      return absl::InvalidArgumentError(absl::StrCat(
          label_->source->name(), ": class ", labels_.classes[static_cast<size_t>(fit)], " in row ",
          fit, " does not fit ", ValueTypeName(ToValueType(label_->spec.dtype))));
    }
  }
  for (int c = 0; c < static_cast<int>(ragged_.size()); ++c) {
    VICINITY_RETURN_IF_ERROR(
        WriteRagged(&ragged_[c], {kShard, type, c, num_nodes}, writer, progress));
  }
  if (has_splits()) absl::c_copy(splits_, written(kSplitColumn).as<uint8_t>().begin());
  return absl::OkStatus();
}

absl::Status NodeImport::WriteNames(NodeTypeId type, DatasetWriter* writer) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets,
                            writer->RaggedOffsets(kShard, type, kNamesColumn));
  const absl::Span<uint64_t> begins = offsets.as<uint64_t>();
  begins[0] = 0;
  for (int64_t node = 0; node < ids_->size(); ++node) {
    const size_t i = static_cast<size_t>(node);
    begins[i + 1] = begins[i] + ids_->name(node).size();
  }
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray bytes,
      writer->RaggedBytes(kShard, type, kNamesColumn, static_cast<int64_t>(begins.back())));
  for (int64_t node = 0; node < ids_->size(); ++node) {
    absl::c_copy(ids_->name(node), bytes.data + begins[static_cast<size_t>(node)]);
  }
  return absl::OkStatus();
}

IngestReport::Nodes NodeImport::Report() const {
  IngestReport::Nodes report;
  report.name = source_.name();
  report.count = ids_->size();
  report.num_classes = labels_.num_classes;
  report.labelled = report.count == 0 ? 0 : absl::c_count_if(labels_.classes, [](int64_t value) {
    return value >= 0;
  });
  report.train = absl::c_count(splits_, static_cast<uint8_t>(Split::kTrain));
  report.validation = absl::c_count(splits_, static_cast<uint8_t>(Split::kValidation));
  report.test = absl::c_count(splits_, static_cast<uint8_t>(Split::kTest));
  return report;
}

}  // namespace vicinity
