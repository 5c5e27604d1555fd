#include "client/cli/flags/import_description.h"

#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

// A colon parts an archive from its member, and may be part of any other name.
void SetFile(const std::string& text, proto::ArrayFile* file) {
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && absl::EndsWith(text.substr(0, colon), ".npz")) {
    file->set_path(text.substr(0, colon));
    file->set_member(text.substr(colon + 1));
  } else {
    file->set_path(text);
  }
}

void AddColumn(const std::string& name, const std::string& file, proto::NodeSource* nodes) {
  if (file.empty()) return;
  proto::ColumnSource* const column = nodes->add_columns();
  column->set_name(name);
  SetFile(file, column->mutable_array());
}

absl::Status SetSplit(const std::string& what, const std::string& ids, const std::string& mask,
                      proto::SplitSource* (proto::NodeSource::*split)(), proto::NodeSource* nodes) {
  if (!ids.empty() && !mask.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", what, " and --", what, "-mask exclude each other"));
  }
  if (!ids.empty()) SetFile(ids, (nodes->*split)()->mutable_ids());
  if (!mask.empty()) SetFile(mask, (nodes->*split)()->mutable_mask());
  return absl::OkStatus();
}

std::string NameOf(const std::string& file) {
  // "data/cora.edges.txt.gz" -> "cora"
  const std::string name = std::filesystem::path(file).filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace

absl::StatusOr<proto::ImportDescription> DescribeSimpleImport(const SimpleImportFlags& flags) {
  if (flags.edges.empty()) {
    return absl::InvalidArgumentError(
        "give --description FILE, or --edges FILE for a graph of one type");
  }
  proto::ImportDescription description;
  description.set_add_reverse(flags.add_reverse);
  description.set_add_reverse_apart(flags.add_reverse_apart);
  description.set_dedup(flags.dedup);
  description.set_drop_self_loops(flags.drop_self_loops);

  proto::NodeSource* const nodes = description.add_nodes();
  nodes->set_name("node");
  nodes->set_count(flags.num_nodes);
  if (!flags.ids.empty()) SetFile(flags.ids, nodes->mutable_ids());
  nodes->set_ids_from_edges(flags.ids.empty() && flags.num_nodes == 0);
  if (nodes->ids_from_edges()) nodes->set_id_kind(proto::DENSE);
  AddColumn("features", flags.features, nodes);
  AddColumn("target", flags.targets, nodes);
  if (!flags.targets.empty()) nodes->set_target_column("target");
  if (!flags.labels.empty()) SetFile(flags.labels, nodes->mutable_label()->mutable_array());
  VICINITY_RETURN_IF_ERROR(
      SetSplit("train", flags.train, flags.train_mask, &proto::NodeSource::mutable_train, nodes));
  VICINITY_RETURN_IF_ERROR(SetSplit("validation", flags.validation, flags.validation_mask,
                                    &proto::NodeSource::mutable_validation, nodes));
  VICINITY_RETURN_IF_ERROR(
      SetSplit("test", flags.test, flags.test_mask, &proto::NodeSource::mutable_test, nodes));

  proto::EdgeSource* const edges = description.add_edges();
  edges->set_source("node");
  edges->set_relation("link");
  edges->set_target("node");
  SetFile(flags.edges, edges->mutable_ends());
  edges->set_transposed(flags.transposed);
  description.set_name(flags.name.empty() ? NameOf(edges->ends().path()) : flags.name);
  return description;
}

absl::StatusOr<proto::ImportDescription> ReadImportDescription(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  proto::ImportDescription description;
  VICINITY_RETURN_IF_ERROR(ParseTextProto(path, text, &description));
  return description;
}

}  // namespace vicinity::cli
