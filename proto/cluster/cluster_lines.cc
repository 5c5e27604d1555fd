#include "proto/cluster/cluster_lines.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/cluster.pb.h"

namespace vicinity {
namespace {

using google::protobuf::TextFormat;

const google::protobuf::FieldDescriptor* FieldOfCluster(const char* name) {
  return proto::Cluster::descriptor()->FindFieldByName(name);
}

}  // namespace

ClusterLines::ClusterLines(std::string path, absl::string_view text) : path_(std::move(path)) {
  proto::Cluster ignored;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree_);
  parser.ParseFromString(std::string(text), &ignored);
}

int ClusterLines::OfField(const char* field) const {
  return tree_.GetLocation(FieldOfCluster(field), -1).line;
}

int ClusterLines::OfServer(int server) const {
  return tree_.GetLocation(FieldOfCluster("servers"), server).line;
}

int ClusterLines::OfServerField(int server, const char* field, int index) const {
  const TextFormat::ParseInfoTree* const tree =
      tree_.GetTreeForNested(FieldOfCluster("servers"), server);
  if (tree == nullptr) return OfServer(server);
  const auto* const descriptor = proto::Server::descriptor()->FindFieldByName(field);
  int line = tree->GetLocation(descriptor, index).line;
  // A list in brackets has one place for all its values.
  while (line < 0 && index > 0) line = tree->GetLocation(descriptor, --index).line;
  return line < 0 ? OfServer(server) : line;
}

absl::Status ClusterLines::Fault(int line, absl::string_view text) const {
  return absl::InvalidArgumentError(line < 0 ? absl::StrCat(path_, ": ", text)
                                             : absl::StrCat(path_, ":", line + 1, ": ", text));
}

}  // namespace vicinity
