#include "client/cli/writes/change_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

template <typename T>
absl::StatusOr<T> ToStatusOr(Result<T> result) {
  if (result.ok()) return *std::move(result);
  return absl::Status(static_cast<absl::StatusCode>(result.error().code()),
                      result.error().message());
}

IdKind KindOf(const Schema& schema, int32_t node_type) {
  return schema.node_types[node_type].id_kind;
}

// Of edges their targets'.
int32_t NodeTypeOf(const Schema& schema, const WriteSubject& subject) {
  return subject.of_edges ? schema.edge_types[subject.type].target_type : subject.type;
}
int32_t SourceTypeOf(const Schema& schema, const WriteSubject& subject) {
  return subject.of_edges ? schema.edge_types[subject.type].source_type : subject.type;
}

absl::Status InField(const std::string& name, const absl::Status& status) {
  return At(absl::StrCat("field \"", name, "\""), status);
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  if (shape.empty()) return "one value";
  return absl::StrCat("shape (", absl::StrJoin(shape, ", "), ")");
}

std::vector<int64_t> WithoutOnes(std::vector<int64_t> shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

// Whether rows of a field can be of a type, as far as the file tells before they are read.

absl::Status CheckShape(const ChangeFile& file, size_t field, const std::vector<int64_t>& wanted) {
  const std::optional<std::vector<int64_t>> shape = file.RowShape(field);
  if (!shape.has_value() || WithoutOnes(*shape) == WithoutOnes(wanted)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("field \"", file.names()[field], "\": rows have ",
                                                 ShapeText(*shape), ", and ", ShapeText(wanted),
                                                 " is wanted"));
}

absl::Status CheckIds(const ChangeFile& file, size_t field, bool are_strings) {
  if (are_strings && file.RowShape(field).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "field \"", file.names()[field],
        "\": these ids are texts, and an array has numbers: write them as CSV, TSV or JSON lines"));
  }
  return CheckShape(file, field, {});
}

absl::Status CheckRagged(const ChangeFile& file, size_t field, const RaggedSpec& spec) {
  const std::optional<std::vector<int64_t>> shape = file.RowShape(field);
  if (!shape.has_value()) return absl::OkStatus();
  if (!spec.is_sparse() && spec.dtype == DType::kUint8) {
    return absl::InvalidArgumentError(absl::StrCat(
        "field \"", file.names()[field],
        "\": rows of this column are texts, and those of an array numbers: write them as "
        "CSV, TSV or JSON lines"));
  }
  if (!spec.is_sparse() && shape->size() <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "field \"", file.names()[field], "\": ",
      spec.is_sparse() ? "rows of a sparse column have indices, and those of an array have not"
                       : absl::StrCat("rows have ", ShapeText(*shape), ", and lists are wanted"),
      ": write them as JSON lines"));
}

}  // namespace

absl::Status UserIdList::Add(const FileRow& row, size_t field) {
  if (are_strings_) {
    VICINITY_ASSIGN_OR_RETURN(const absl::string_view text, row.Text(field));
    if (text.empty()) return absl::InvalidArgumentError("the id is empty");
    texts.emplace_back(text);
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(const int64_t number, row.Integer(field));
  numbers.push_back(number);
  return absl::OkStatus();
}

void UserIdList::Clear() {
  numbers.clear();
  texts.clear();
}

std::string UserIdList::TextOf(size_t i) const {
  return are_strings_ ? absl::StrCat("\"", texts[i], "\"") : absl::StrCat(numbers[i]);
}

absl::StatusOr<std::vector<int64_t>> UserIdList::Resolve(const Graph& graph, int32_t type) const {
  return ToStatusOr(are_strings_ ? graph.Resolve(type, texts) : graph.Resolve(type, numbers));
}

ChangeRows::ChangeRows(const Graph& graph, const WriteSubject& subject)
    : graph_(graph),
      subject_(subject),
      type_name_(subject.of_edges ? graph.schema().EdgeTypeName(subject.type)
                                  : graph.schema().node_types[subject.type].name),
      ids_(KindOf(graph.schema(), NodeTypeOf(graph.schema(), subject))),
      sources_(KindOf(graph.schema(), SourceTypeOf(graph.schema(), subject))) {}

absl::StatusOr<std::unique_ptr<ChangeRows>> ChangeRows::Create(const Graph& graph,
                                                               const WriteSubject& subject,
                                                               const ChangeFile& file) {
  std::unique_ptr<ChangeRows> rows(new ChangeRows(graph, subject));
  VICINITY_RETURN_IF_ERROR(rows->FindFields(file));
  return rows;
}

absl::Status ChangeRows::FindFields(const ChangeFile& file) {
  const std::vector<std::string>& names = file.names();
  for (size_t i = 0; i < names.size(); ++i) VICINITY_RETURN_IF_ERROR(FindField(file, i));
  const auto missing = [&](const std::string& field) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no field \"", field, "\"; there are: ", absl::StrJoin(names, ", ")));
  };
  if (id_at_ < 0) return missing(subject_.of_edges ? subject_.target_field : subject_.id_field);
  if (subject_.of_edges && source_at_ < 0 && edge_id_at_ < 0) return missing(subject_.source_field);
  return absl::OkStatus();
}

absl::Status ChangeRows::FindField(const ChangeFile& file, size_t field) {
  const std::string& name = file.names()[field];
  const auto at = static_cast<int>(field);
  if (name == (subject_.of_edges ? subject_.target_field : subject_.id_field)) {
    id_at_ = at;
    return CheckIds(file, field, ids_.are_strings());
  }
  if (subject_.of_edges && name == subject_.source_field) {
    source_at_ = at;
    return CheckIds(file, field, sources_.are_strings());
  }
  if (subject_.of_edges && subject_.action != WriteAction::kAdd && name == subject_.edge_id_field) {
    edge_id_at_ = at;
    return CheckIds(file, field, false);
  }
  return FindColumn(file, field);
}

absl::Status ChangeRows::FindColumn(const ChangeFile& file, size_t field) {
  const std::string& name = file.names()[field];
  const Schema& schema = graph_.schema();
  const std::vector<ColumnSpec>& specs = subject_.of_edges
                                             ? schema.edge_types[subject_.type].columns
                                             : schema.node_types[subject_.type].columns;
  const bool is_read = subject_.action != WriteAction::kRemove;
  for (const ColumnSpec& spec : specs) {
    if (spec.name != name) continue;
    if (!is_read) return absl::OkStatus();
    const bool is_label =
        !subject_.of_edges && schema.node_types[subject_.type].label_column == name;
    columns_.push_back({field, spec, is_label});
    return CheckShape(file, field, spec.shape);
  }
  std::vector<std::string> known;
  for (const ColumnSpec& spec : specs) known.push_back(spec.name);
  if (!subject_.of_edges) {
    for (const RaggedSpec& spec : schema.node_types[subject_.type].ragged) {
      known.push_back(spec.name);
      if (spec.name != name) continue;
      if (!is_read) return absl::OkStatus();
      ragged_.push_back({field, spec});
      return CheckRagged(file, field, spec);
    }
  }
  return absl::NotFoundError(
      absl::StrCat("type \"", type_name_, "\" has no column \"", name,
                   "\"; it has: ", known.empty() ? "none" : absl::StrJoin(known, ", ")));
}

absl::Status ChangeRows::Add(const FileRow& row) {
  // Nothing is added before all has been read.
  VICINITY_RETURN_IF_ERROR(ReadColumns(row));
  VICINITY_RETURN_IF_ERROR(AddIds(row));
  size_t next = 0;
  for (Column& column : columns_) column.bytes += read_[next++];
  for (Ragged& column : ragged_) {
    const std::string& bytes = read_[next++];
    GivenRagged& given = column.given;
    const auto count = static_cast<int64_t>(bytes.size()) / column.spec.item_bytes();
    const char* values = bytes.data();
    if (column.spec.is_sparse()) {
      const size_t before = given.indices.size();
      given.indices.resize(before + count);
      std::memcpy(given.indices.data() + before, values, count * sizeof(int32_t));
      values += count * sizeof(int32_t);
    }
    given.values.insert(given.values.end(), values, bytes.data() + bytes.size());
    given.row_ends.push_back((given.row_ends.empty() ? 0 : given.row_ends.back()) + count);
  }
  ++num_rows_;
  num_bytes_ += row.num_bytes();
  return absl::OkStatus();
}

absl::Status ChangeRows::ReadColumns(const FileRow& row) {
  read_.resize(columns_.size() + ragged_.size());
  for (std::string& bytes : read_) bytes.clear();
  size_t next = 0;
  for (const Column& column : columns_) {
    const absl::Status read =
        row.AddColumnRow(column.field, column.spec, column.is_label, &read_[next++]);
    if (!read.ok()) return InField(column.spec.name, read);
  }
  for (const Ragged& column : ragged_) {
    const absl::Status read = row.AddRaggedRow(column.field, column.spec, &read_[next++]);
    if (!read.ok()) return InField(column.spec.name, read);
  }
  return absl::OkStatus();
}

absl::Status ChangeRows::AddIds(const FileRow& row) {
  absl::StatusOr<int64_t> edge_id = 0;
  if (edge_id_at_ >= 0) edge_id = row.Integer(edge_id_at_);
  if (!edge_id.ok()) return InField(subject_.edge_id_field, edge_id.status());
  const absl::Status id = ids_.Add(row, id_at_);
  if (!id.ok()) return InField(subject_.of_edges ? subject_.target_field : subject_.id_field, id);
  const bool has_source = source_at_ >= 0 && edge_id_at_ < 0;
  if (has_source) {
    const absl::Status source = sources_.Add(row, source_at_);
    if (!source.ok()) {
      ids_.PopBack();
      return InField(subject_.source_field, source);
    }
  }
  if (edge_id_at_ >= 0) edge_ids_.push_back(*edge_id);
  return absl::OkStatus();
}

absl::StatusOr<GraphChanges> ChangeRows::Take() {
  faults_.clear();
  GraphChanges changes;
  VICINITY_RETURN_IF_ERROR(subject_.of_edges ? TakeEdges(&changes) : TakeNodes(&changes));
  ids_.Clear();
  sources_.Clear();
  edge_ids_.clear();
  num_rows_ = 0;
  num_bytes_ = 0;
  return changes;
}

const std::string* ChangeRows::FaultOf(int64_t row) const {
  const auto found = faults_.find(row);
  return found == faults_.end() ? nullptr : &found->second;
}

absl::StatusOr<std::vector<int64_t>> ChangeRows::FindNodes(const UserIdList& ids, int32_t type,
                                                           const char* what) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, ids.Resolve(graph_, type));
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= 0) continue;
    faults_.emplace(i, absl::StrCat("no node of type \"", graph_.schema().node_types[type].name,
                                    "\" has the id ", ids.TextOf(i), " of the ", what));
  }
  return nodes;
}

absl::Status ChangeRows::TakeNodes(GraphChanges* changes) {
  if (subject_.action == WriteAction::kAdd) {
    changes->new_nodes = {
        {type_name_, std::move(ids_.numbers), std::move(ids_.texts), TakeColumns(), TakeRagged()}};
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, FindNodes(ids_, subject_.type, "row"));
  if (subject_.action == WriteAction::kUpdate) {
    changes->node_values = {{type_name_, std::move(nodes), TakeColumns(), TakeRagged()}};
  } else {
    changes->removed_nodes = {{type_name_, std::move(nodes)}};
  }
  return absl::OkStatus();
}

absl::Status ChangeRows::TakeEdges(GraphChanges* changes) {
  const EdgeTypeSpec& spec = graph_.schema().edge_types[subject_.type];
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> targets,
                            FindNodes(ids_, spec.target_type, "target"));
  if (subject_.action == WriteAction::kAdd) {
    VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> sources,
                              FindNodes(sources_, spec.source_type, "source"));
    changes->new_edges = {{type_name_, std::move(sources), std::move(targets), TakeColumns()}};
    return absl::OkStatus();
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> edge_ids, FindEdgeIds(&targets));
  if (subject_.action == WriteAction::kUpdate) {
    changes->edge_values = {{type_name_, std::move(targets), std::move(edge_ids), TakeColumns()}};
  } else {
    changes->removed_edges = {{type_name_, std::move(targets), std::move(edge_ids)}};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ChangeRows::FindEdgeIds(std::vector<int64_t>* targets) {
  if (edge_id_at_ >= 0) return std::move(edge_ids_);
  const EdgeTypeSpec& spec = graph_.schema().edge_types[subject_.type];
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> sources,
                            FindNodes(sources_, spec.source_type, "source"));
  std::vector<size_t> asked;
  std::vector<int64_t> ask_sources;
  std::vector<int64_t> ask_targets;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] < 0 || (*targets)[i] < 0) continue;
    asked.push_back(i);
    ask_sources.push_back(sources[i]);
    ask_targets.push_back((*targets)[i]);
  }
  VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> found,
                            ToStatusOr(graph_.EdgeIds(subject_.type, ask_sources, ask_targets)));
  std::vector<int64_t> edge_ids(sources.size(), -1);
  for (size_t a = 0; a < asked.size(); ++a) {
    edge_ids[asked[a]] = found[a];
    if (found[a] >= 0) continue;
    faults_.emplace(asked[a], absl::StrCat("no edge leads from ", sources_.TextOf(asked[a]), " to ",
                                           ids_.TextOf(asked[a])));
  }
  // A row with a fault is not to be sent.
  for (const auto& [row, fault] : faults_) (*targets)[row] = -1;
  return edge_ids;
}

std::vector<GivenColumn> ChangeRows::TakeColumns() {
  std::vector<GivenColumn> columns;
  for (Column& column : columns_) {
    columns.push_back({column.spec.name, column.spec.dtype,
                       std::vector<char>(column.bytes.begin(), column.bytes.end())});
    column.bytes.clear();
  }
  return columns;
}

std::vector<GivenRagged> ChangeRows::TakeRagged() {
  std::vector<GivenRagged> columns;
  for (Ragged& column : ragged_) {
    columns.push_back(std::exchange(column.given, GivenRagged()));
    columns.back().name = column.spec.name;
    columns.back().dtype = column.spec.dtype;
  }
  return columns;
}

}  // namespace vicinity::cli
