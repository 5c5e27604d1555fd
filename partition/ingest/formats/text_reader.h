// Tables in text files, a line at a time: commas, tabs or blanks; '#' comments; gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Reads the rows of a file: every line that is not empty, no comment and not the header. A comment
// begins with '#' and a blank, tab or second '#', or is '#' alone: names may begin with '#', too. A
// byte order mark and carriage returns before line ends are dropped.
//
// Threads: for one.
// Memory:  one line and one buffer, whatever the file's size.
class TextReader {
 public:
  struct Options {
    char separator = ',';  // ',' (fields may be quoted), '\t' or ' ' (runs of blanks and tabs)
    bool header = false;
    std::vector<int32_t> columns;  // fields wanted, from 0, in this order; empty: all
  };
  // A row that lacks a wanted field, or, where all are wanted, has another number of fields than
  // the first row, or leaves a quote open, is bad.
  enum class Line { kRow, kBad, kEnd };

  static constexpr int64_t kMaxLineBytes = int64_t{16} << 20;

  // NotFound, PermissionDenied or Unavailable with path and errno text; InvalidArgument: a
  // negative column.
  static absl::StatusOr<std::unique_ptr<TextReader>> Open(const std::string& path, Options options);
  ~TextReader();
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;

  // kRow: fields() are the wanted ones; kBad: problem() says why. Reading can go on after either.
  // DataLoss: a damaged or truncated .gz; InvalidArgument: a line longer than kMaxLineBytes.
  absl::StatusOr<Line> Next();

  // Of the last row; valid until Next().
  const std::vector<absl::string_view>& fields() const { return fields_; }
  const std::string& problem() const { return problem_; }
  int64_t line_number() const { return line_number_; }  // from 1
  const std::string& path() const { return path_; }
  const Options& options() const { return options_; }

 private:
  TextReader(std::string path, Options options, void* file);
  absl::StatusOr<bool> NextLine(absl::string_view* line);
  absl::Status Fill();
  bool Split(absl::string_view line);
  bool SplitQuoted(absl::string_view line);
  bool TakeQuotedField(absl::string_view* line);
  void SplitPlain(absl::string_view line);
  bool Select();

  const std::string path_;
  const Options options_;
  void* const file_;  // gzFile
  std::string buffer_;
  size_t begin_ = 0;  // of what is not yet consumed of buffer_
  bool at_end_ = false;
  bool header_left_;
  int64_t line_number_ = 0;
  size_t num_fields_ = 0;  // of the first row, where all are wanted; 0: no row yet
  std::string unquoted_;   // what quoted fields of the line mean
  std::vector<absl::string_view> all_fields_;
  std::vector<absl::string_view> fields_;
  std::string problem_;
};

// A whole field as a number, blanks around it allowed; "nan" and "inf" are floating-point numbers.
bool ParseInteger(absl::string_view field, int64_t* value);
bool ParseFloatingPoint(absl::string_view field, double* value);

}  // namespace vicinity
