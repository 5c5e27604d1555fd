#include "partition/ingest/formats/text_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr absl::string_view kBlanks = " \t";

// "#7 #9" is an edge between two nodes that are named so.
bool IsComment(absl::string_view line) {
  if (line.empty() || line[0] != '#') return false;
  return line.size() == 1 || line[1] == '#' || absl::StrContains(kBlanks, line[1]);
}

template <typename Number>
bool ParseWhole(absl::string_view field, Number* value) {
  field = absl::StripAsciiWhitespace(field);
  // from_chars knows no plus sign; "+-1" must stay wrong.
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  const auto [parsed, error] = std::from_chars(field.data(), end, *value);
  return error == std::errc() && parsed == end;
}

}  // namespace

bool ParseInteger(absl::string_view field, int64_t* value) { return ParseWhole(field, value); }

bool ParseFloatingPoint(absl::string_view field, double* value) { return ParseWhole(field, value); }

absl::StatusOr<std::unique_ptr<TextReader>> TextReader::Open(const std::string& path,
                                                             Options options) {
  for (const int32_t column : options.columns) {
    if (column < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": columns are counted from 0, and one is ", column));
    }
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, path, "open");
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder"));
  }
  // zlib tells by the first bytes whether there is anything to decompress.
  gzFile file = gzdopen(fd, "rb");
  if (file == nullptr) {
    close(fd);
    return absl::ResourceExhaustedError(absl::StrCat(path, ": no memory to read it"));
  }
  gzbuffer(file, kReadBytes);
  return std::unique_ptr<TextReader>(new TextReader(path, std::move(options), file));
}

TextReader::TextReader(std::string path, Options options, void* file)
    : path_(std::move(path)),
      options_(std::move(options)),
      file_(file),
      header_left_(options_.header) {}

TextReader::~TextReader() { gzclose(static_cast<gzFile>(file_)); }

absl::StatusOr<TextReader::Line> TextReader::Next() {
  for (;;) {
    absl::string_view line;
    VICINITY_ASSIGN_OR_RETURN(const bool found, NextLine(&line));
    if (!found) return Line::kEnd;
    if (line_number_ == 1) absl::ConsumePrefix(&line, "\xEF\xBB\xBF");
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || IsComment(line)) continue;
    // Runs of blanks separate nothing there.
    if (options_.separator == ' ' && absl::StripAsciiWhitespace(line).empty()) continue;
    if (std::exchange(header_left_, false)) continue;
    return Split(line) && Select() ? Line::kRow : Line::kBad;
  }
}

absl::StatusOr<bool> TextReader::NextLine(absl::string_view* line) {
  size_t searched = begin_;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      *line = absl::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = end + 1;
      ++line_number_;
      return true;
    }
    if (at_end_) {
      if (begin_ == buffer_.size()) return false;
      *line = absl::string_view(buffer_).substr(begin_);
      begin_ = buffer_.size();
      ++line_number_;
      return true;
    }
    const size_t pending = buffer_.size() - begin_;
    if (pending > static_cast<size_t>(kMaxLineBytes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ":", line_number_ + 1, ": the line is longer than ", kMaxLineBytes, " bytes"));
    }
    VICINITY_RETURN_IF_ERROR(Fill());
    searched = pending;  // Fill() moved what was pending to the front
  }
}

absl::Status TextReader::Fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  gzFile file = static_cast<gzFile>(file_);
  const int got = gzread(file, buffer_.data() + before, kReadBytes);
  buffer_.resize(before + static_cast<size_t>(std::max(got, 0)));
  at_end_ = got < static_cast<int>(kReadBytes);
  if (!at_end_) return absl::OkStatus();
  int error = Z_OK;
  const char* const text = gzerror(file, &error);
  if (error == Z_OK || error == Z_STREAM_END) return absl::OkStatus();
  if (error == Z_ERRNO) return ErrnoStatus(errno, path_, "read");
  return absl::DataLossError(
      absl::StrCat(path_, ": damaged gzip data after line ", line_number_, ": ", text));
}

bool TextReader::Split(absl::string_view line) {
  all_fields_.clear();
  if (options_.separator == ',' && absl::StrContains(line, '"')) return SplitQuoted(line);
  SplitPlain(line);
  return true;
}

void TextReader::SplitPlain(absl::string_view line) {
  if (options_.separator != ' ') {
    for (;;) {
      const size_t end = line.find(options_.separator);
      all_fields_.push_back(line.substr(0, end));
      if (end == absl::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
  }
  for (;;) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == absl::string_view::npos) return;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    all_fields_.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool TextReader::SplitQuoted(absl::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // the views into it must stay valid
  for (;;) {
    if (!line.empty() && line[0] == '"') {
      if (!TakeQuotedField(&line)) return false;
    } else {
      const size_t end = std::min(line.find(','), line.size());
      all_fields_.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    if (line.empty()) return true;
    line.remove_prefix(1);  // the comma
  }
}

bool TextReader::TakeQuotedField(absl::string_view* line) {
  const size_t begin = unquoted_.size();
  line->remove_prefix(1);
  for (;;) {
    const size_t quote = line->find('"');
    if (quote == absl::string_view::npos) {
      problem_ = "a quote is left open";
      return false;
    }
    unquoted_.append(line->data(), quote);
    line->remove_prefix(quote + 1);
    if (!absl::ConsumePrefix(line, "\"")) break;
    unquoted_.push_back('"');  // two quotes stand for one
  }
  if (!line->empty() && (*line)[0] != ',') {
    problem_ = "text follows a closing quote";
    return false;
  }
  all_fields_.push_back(absl::string_view(unquoted_).substr(begin));
  return true;
}

bool TextReader::Select() {
  if (options_.columns.empty()) {
    if (num_fields_ == 0) num_fields_ = all_fields_.size();
    fields_ = all_fields_;
    if (fields_.size() == num_fields_) return true;
    problem_ = absl::StrCat("has ", fields_.size(), " fields, and the first row has ", num_fields_);
    return false;
  }
  fields_.clear();
  for (const int32_t column : options_.columns) {
    if (static_cast<size_t>(column) >= all_fields_.size()) {
      problem_ = absl::StrCat("has ", all_fields_.size(), " fields, and field ", column,
                              " (from 0) is wanted");
      return false;
    }
    fields_.push_back(all_fields_[column]);
  }
  return true;
}

}  // namespace vicinity
