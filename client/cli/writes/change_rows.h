// Rows of a file of changes as what a Writer takes: ids of the user found in the graph, values of
// the columns' types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/writes/change_file.h"
#include "client/graph.h"
#include "client/writer.h"
#include "partition/schema/schema.h"

namespace vicinity::cli {

enum class WriteAction : uint8_t { kAdd, kUpdate, kRemove };

// What the rows are, and which of their fields name nodes and edges; all others are columns.
struct WriteSubject {
  bool of_edges = false;
  int32_t type = 0;
  WriteAction action = WriteAction::kAdd;
  std::string id_field = "id";
  std::string source_field = "source";
  std::string target_field = "target";
  std::string edge_id_field = "edge_id";  // where it is there, the source need not be
};

// The user's ids of one type's nodes.
class UserIdList {
 public:
  explicit UserIdList(IdKind kind) : are_strings_(kind == IdKind::kString) {}

  bool are_strings() const { return are_strings_; }
  // What is wrong with it as an id; ok: it is added.
  absl::Status Add(const FileRow& row, size_t field);
  void PopBack() { are_strings_ ? texts.pop_back() : numbers.pop_back(); }
  void Clear();
  size_t size() const { return are_strings_ ? texts.size() : numbers.size(); }
  std::string TextOf(size_t i) const;
  // Of each its node, -1 where there is none.
  absl::StatusOr<std::vector<int64_t>> Resolve(const Graph& graph, int32_t type) const;

  std::vector<int64_t> numbers;  // one of the two has them
  std::vector<std::string> texts;

 private:
  const bool are_strings_;
};

// Threads:  for one.
// Lifetime: the graph must outlive it.
// Memory:   what was added since the last Take.
class ChangeRows {
 public:
  // Of rows with the fields of `file`, which need not outlive this. NotFound naming the columns
  // there are; InvalidArgument for a field that the action needs, and one whose rows are not what
  // its column or ids are.
  static absl::StatusOr<std::unique_ptr<ChangeRows>> Create(const Graph& graph,
                                                            const WriteSubject& subject,
                                                            const ChangeFile& file);

  // InvalidArgument naming field and value that make no sense: the row is not added.
  absl::Status Add(const FileRow& row);
  int64_t num_rows() const { return num_rows_; }
  int64_t num_bytes() const { return num_bytes_; }  // as FileRow counts them

  // Changes of the rows added since, one part in which each is at its place. A row whose nodes or
  // edge are not there has the id -1, which a Writer refuses.
  absl::StatusOr<GraphChanges> Take();
  // Why a row of what was taken last has such an id; null: it has none.
  const std::string* FaultOf(int64_t row) const;

 private:
  struct Column {
    size_t field;
    ColumnSpec spec;
    bool is_label = false;
    std::string bytes{};
  };
  struct Ragged {
    size_t field;
    RaggedSpec spec;
    GivenRagged given{};
  };

  ChangeRows(const Graph& graph, const WriteSubject& subject);
  absl::Status FindFields(const ChangeFile& file);
  absl::Status FindField(const ChangeFile& file, size_t field);
  absl::Status FindColumn(const ChangeFile& file, size_t field);
  absl::Status ReadColumns(const FileRow& row);
  absl::Status AddIds(const FileRow& row);
  absl::StatusOr<std::vector<int64_t>> FindNodes(const UserIdList& ids, int32_t type,
                                                 const char* what);
  absl::StatusOr<std::vector<int64_t>> FindEdgeIds(std::vector<int64_t>* targets);
  absl::Status TakeNodes(GraphChanges* changes);
  absl::Status TakeEdges(GraphChanges* changes);
  std::vector<GivenColumn> TakeColumns();
  std::vector<GivenRagged> TakeRagged();

  const Graph& graph_;
  const WriteSubject subject_;
  const std::string type_name_;
  int id_at_ = -1;  // fields; -1: none. Of edges the target's
  int source_at_ = -1;
  int edge_id_at_ = -1;
  UserIdList ids_;  // of edges their targets'
  UserIdList sources_;
  std::vector<int64_t> edge_ids_;
  std::vector<Column> columns_;
  std::vector<Ragged> ragged_;
  int64_t num_rows_ = 0;
  int64_t num_bytes_ = 0;
  std::map<int64_t, std::string> faults_;
  std::vector<std::string> read_;  // of one row, by column
};

}  // namespace vicinity::cli
