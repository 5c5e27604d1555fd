// A file's rows on their way into a live graph: what `vicinity write` does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/change_rows.h"
#include "client/cli/writes/dead_letters.h"
#include "client/graph.h"
#include "client/writer.h"
#include "proto/common/progress.h"

namespace vicinity::cli {

struct FileWritingOptions {
  WriteSubject subject;
  WriterOptions writer;
  std::string dead_letter;  // empty: the first row that is refused ends it
  int64_t from = 0;         // rows of lower numbers (ChangeFile::number) are left out
  // The graph that has taken the place of another; null: none can.
  std::function<absl::StatusOr<std::unique_ptr<Graph>>()> reopen;
};

// Reads rows up to 65,536 or 8 MiB, finds their nodes, writes them, and goes on with the next.
// Where another dataset has taken the graph's place (`vicinity swap`), what is not written goes
// there, and all that follows.
//
// Threads:  for one.
// Lifetime: `file` and `progress` must outlive it.
// Memory:   what is read at once, as text and as values.
class FileWriting {
 public:
  // What Writer::Create and ChangeRows::Create say.
  static absl::StatusOr<std::unique_ptr<FileWriting>> Create(FileWritingOptions options,
                                                             std::unique_ptr<Graph> graph,
                                                             ChangeFile* file, Progress* progress);

  // Once. InvalidArgument: a row is refused, and there is no place for it; it, and what is not
  // read, the text names. AlreadyExists: the file of dead letters is there. Else what the file and
  // the writer say, with how many rows are written, and where to go on.
  absl::Status Run();

  int64_t num_written() const { return num_written_; }
  int64_t num_refused() const { return num_refused_; }
  const std::map<int32_t, uint64_t>& versions() const { return versions_; }  // by shard

 private:
  // Where rows go.
  struct Target {
    std::unique_ptr<Graph> graph;
    std::unique_ptr<Writer> writer;
    std::unique_ptr<ChangeRows> rows;
  };
  // One of those that are written at once.
  struct Row {
    int64_t number = 0;
    int64_t kept = 0;  // its place among the file's kept rows
  };

  FileWriting(FileWritingOptions options, ChangeFile* file, Progress* progress);
  absl::StatusOr<Target> TargetOf(std::unique_ptr<Graph> graph) const;

  absl::Status WriteAll();
  void AddRow();
  absl::Status Flush();
  absl::StatusOr<GraphChanges> FindRows();
  absl::Status Write(const GraphChanges& changes);
  absl::Status SendNothing(const absl::Status& why);

  bool MayGoOver(const Written& written) const;
  absl::Status GoOver(const Written& written, const absl::Status& why);
  void AddAgain(const std::vector<ChangedRow>& unsent);

  void Refuse(nlohmann::ordered_json row, int64_t number, const std::string& reason);
  void RefuseWritten(int64_t row, const std::string& reason);
  absl::Status GivenUp(const Written& written, const absl::Status& why);
  int64_t FirstOpen(const Written& written) const;
  absl::Status Refused() const;
  std::string WhereToGoOn() const;

  const FileWritingOptions options_;
  ChangeFile& file_;
  Progress& progress_;
  Target target_;
  DeadLetters letters_;
  std::vector<Row> rows_;
  int64_t last_number_ = 0;
  int64_t num_written_ = 0;
  int64_t num_refused_ = 0;
  std::vector<std::string> reasons_;
  std::map<int32_t, uint64_t> versions_;
};

}  // namespace vicinity::cli
