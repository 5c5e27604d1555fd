// CSV, TSV and JSON lines as a file of rows to write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/writes/change_file.h"
#include "client/cli/writes/text_row.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/formats/text_reader.h"

namespace vicinity::cli {

// Commas or tabs, with a line of names at the beginning; or an object a line, whose keys are the
// names, those of the first line for all. Keys that begin with `_` do not count: what was refused
// has such (client/cli/writes/dead_letters.h). Comments, compression and limits as
// partition/ingest/formats/text_reader.h. Of objects an array is its values with blanks between
// them, an object in it `key:value` likewise, null an empty field.
//
// Next() fails as TextReader's. Memory: a line.
class TextChangeFile final : public ChangeFile {
 public:
  enum class Format : uint8_t { kCsv, kTsv, kJsonLines };

  // "-": standard input. TextReader's errors; InvalidArgument: no names, or one twice.
  static absl::StatusOr<std::unique_ptr<TextChangeFile>> Open(const std::string& path,
                                                              Format format);

  int64_t num_rows() const override { return kUnknown; }
  std::optional<std::vector<int64_t>> RowShape(size_t) const override { return std::nullopt; }
  absl::StatusOr<Found> Next() override;
  const TextRow& row() const override { return row_; }
  int64_t number() const override { return reader_->line_number(); }
  std::string Place(int64_t number) const override { return absl::StrCat(path_, ":", number); }
  void Keep() override { kept_.AddRow(row_.fields()); }
  const FileRow& Kept(int64_t i) override;
  void Forget() override { kept_.Clear(names_.size()); }

 private:
  using Line = TextReader::Line;

  TextChangeFile(std::string path, std::unique_ptr<TextReader> reader, Format format)
      : ChangeFile("line"), path_(std::move(path)), reader_(std::move(reader)), format_(format) {}
  absl::Status ReadNames();
  bool ParseObject();

  const std::string path_;  // as it was given
  const std::unique_ptr<TextReader> reader_;
  const Format format_;
  bool has_row_ = false;            // the next row is read already, as the names were in it
  std::vector<std::string> texts_;  // of an object's fields
  TextRow row_{&names_};
  FieldTable kept_;
  TextRow kept_row_{&names_};
};

}  // namespace vicinity::cli
