// A file of rows to write, whatever its format: fields by the names that it gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/text_reader.h"

namespace vicinity::cli {

// Commas or tabs, with a line of names at the beginning; or an object a line, whose keys are the
// names, those of the first line for all. Keys that begin with `_` do not count: what was refused
// has such (client/cli/commands/graph/write_command.cc). Comments, compression and limits as
// partition/ingest/formats/text_reader.h. Of objects an array is its values with blanks between
// them, an object in it `key:value` likewise, null an empty field.
//
// Threads: for one.
// Memory:  a line.
class ChangeFile {
 public:
  enum class Format : uint8_t { kCsv, kTsv, kJsonLines };
  using Line = TextReader::Line;

  // By its name: .csv, .tsv, .jsonl and .ndjson, also with .gz.
  static std::optional<Format> FormatOf(const std::string& path);

  // "-": standard input. TextReader's errors; InvalidArgument: no names, or one twice.
  static absl::StatusOr<std::unique_ptr<ChangeFile>> Open(const std::string& path, Format format);

  const std::vector<std::string>& names() const { return names_; }

  // The next row, as TextReader::Next.
  absl::StatusOr<Line> Next();
  // Of the last row, in the order of names(); valid until Next().
  const std::vector<absl::string_view>& fields() const { return fields_; }
  const std::string& problem() const { return problem_; }
  int64_t line_number() const { return reader_->line_number(); }

 private:
  ChangeFile(std::unique_ptr<TextReader> reader, Format format)
      : reader_(std::move(reader)), format_(format) {}
  absl::Status ReadNames();
  bool ParseObject();

  const std::unique_ptr<TextReader> reader_;
  const Format format_;
  std::vector<std::string> names_;
  bool has_row_ = false;            // the next row is read already, as the names were in it
  std::vector<std::string> texts_;  // of an object's fields
  std::vector<absl::string_view> fields_;
  std::string problem_;
};

}  // namespace vicinity::cli
