#include "partition/cut/file_assigner.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "partition/cut/node_facts.h"
#include "partition/dataset/shard.h"
#include "partition/ingest/formats/npy_reader.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/schema/schema.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Shard numbers as a file has them, and how to name their places.
struct Entries {
  std::vector<int32_t> shards;
  std::vector<int64_t> lines;  // text only
};

std::string Place(const std::string& path, const Entries& entries, size_t i) {
  return entries.lines.empty() ? absl::StrCat(path, ": row ", i)
                               : absl::StrCat(path, ":", entries.lines[i]);
}

absl::StatusOr<Entries> ReadNpyEntries(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::Open(path));
  const NpyView& array = file.view();
  const bool flat = array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1);
  if (!flat || IsFloatingPoint(array.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": shards must be a one-dimensional array of integers, not ",
                     array.shape.size(), "-dimensional of ", ValueTypeName(array.type)));
  }
  Entries entries;
  entries.shards.resize(array.num_values());
  const int64_t cast = CastValues(array.type, array.data.data(), array.num_values(), DType::kInt32,
                                  reinterpret_cast<char*>(entries.shards.data()));
  if (cast < array.num_values()) {
    const char* const value = array.data.data() + cast * ValueBytes(array.type);
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": row ", cast, ": ", ValueText(array.type, value), " is no shard number"));
  }
  return entries;
}

absl::StatusOr<Entries> ReadTextEntries(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  const absl::string_view text(file->bytes().data(), file->bytes().size());
  Entries entries;
  int64_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == absl::string_view::npos) end = text.size();
    const absl::string_view line = absl::StripAsciiWhitespace(text.substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (!line.empty() && line[0] == '#') continue;
    int32_t shard = 0;
    if (!absl::SimpleAtoi(line, &shard)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", line_number, ": '", line.substr(0, 40), "' is no shard number"));
    }
    entries.shards.push_back(shard);
    entries.lines.push_back(line_number);
  }
  return entries;
}

// Position in the file of each node, in the source's order.
std::vector<int64_t> FilePositions(const Dataset& dataset, NodeTypeId type) {
  const bool dense = dataset.schema().node_types[type.value].id_kind == IdKind::kDense;
  std::vector<int64_t> positions;
  positions.reserve(dataset.book().num_nodes(type));
  for (const std::unique_ptr<Shard>& shard : dataset.shards()) {
    for (const uint64_t key : shard->nodes(type).keys) {
      // The key of a dense id is the id; of other ids the dataset keeps the order they came in.
      positions.push_back(dense ? static_cast<int64_t>(key)
                                : static_cast<int64_t>(positions.size()));
    }
  }
  return positions;
}

absl::Status AssignType(const Dataset& dataset, NodeTypeId type, const std::string& path,
                        int32_t num_shards, std::vector<int32_t>* shard_of) {
  VICINITY_ASSIGN_OR_RETURN(const Entries entries, absl::EndsWith(path, ".npy")
                                                       ? ReadNpyEntries(path)
                                                       : ReadTextEntries(path));
  if (entries.shards.size() != shard_of->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", entries.shards.size(), " shard numbers for the ", shard_of->size(),
                     " nodes of ", dataset.schema().node_types[type.value].name));
  }
  for (size_t i = 0; i < entries.shards.size(); ++i) {
    if (entries.shards[i] >= 0 && entries.shards[i] < num_shards) continue;
    return absl::InvalidArgumentError(absl::StrCat(Place(path, entries, i), ": shard ",
                                                   entries.shards[i], "; there are shards 0 to ",
                                                   num_shards - 1));
  }
  const std::vector<int64_t> positions = FilePositions(dataset, type);
  for (size_t node = 0; node < positions.size(); ++node) {
    (*shard_of)[node] = entries.shards[positions[node]];
  }
  return absl::OkStatus();
}

// The file of each type; empty: none.
absl::StatusOr<std::vector<std::string>> FilesByType(const std::vector<AssignmentFile>& files,
                                                     const Schema& schema) {
  std::vector<std::string> paths(schema.node_types.size());
  for (const AssignmentFile& file : files) {
    int type = schema.FindNodeType(file.node_type);
    if (file.node_type.empty() && schema.node_types.size() == 1) type = 0;
    if (type < 0) {
      return absl::InvalidArgumentError(absl::StrCat("assignment file ", file.path,
                                                     " for node type '", file.node_type,
                                                     "', which the dataset does not have"));
    }
    if (!paths[type].empty()) {
      return absl::InvalidArgumentError(absl::StrCat("two assignment files for node type ",
                                                     schema.node_types[type].name, ": ",
                                                     paths[type], " and ", file.path));
    }
    paths[type] = file.path;
  }
  return paths;
}

}  // namespace

FileAssigner::FileAssigner(std::vector<AssignmentFile> files) : files_(std::move(files)) {}

WorkEstimate FileAssigner::Estimate(const Dataset& dataset, int32_t /*num_shards*/) const {
  // Shards, and while a file is read its shards, lines and positions.
  constexpr int64_t kBytesPerNode = 2 * sizeof(int32_t) + 2 * sizeof(int64_t);
  WorkEstimate estimate;
  estimate.memory_bytes = NumNodes(dataset) * kBytesPerNode;
  return estimate;
}

absl::StatusOr<Assignment> FileAssigner::Assign(const Dataset& dataset, int32_t num_shards,
                                                Progress* /*progress*/) {
  VICINITY_RETURN_IF_ERROR(CheckAssignable(dataset, num_shards));
  VICINITY_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                            FilesByType(files_, dataset.schema()));
  Assignment assignment = MakeAssignment(dataset, num_shards);
  for (size_t t = 0; t < paths.size(); ++t) {
    if (assignment.shard_of[t].empty() && paths[t].empty()) continue;
    if (paths[t].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no assignment file for node type ", dataset.schema().node_types[t].name));
    }
    VICINITY_RETURN_IF_ERROR(AssignType(dataset, NodeTypeId{static_cast<int32_t>(t)}, paths[t],
                                        num_shards, &assignment.shard_of[t]));
  }
  return assignment;
}

}  // namespace vicinity
