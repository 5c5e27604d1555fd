// A file of rows to write, whatever its format: fields by the names that it gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/schema/schema.h"

namespace vicinity::cli {

// One row, its fields by their places among ChangeFile::names().
//
// Threads: for one.
class FileRow {
 public:
  virtual ~FileRow() = default;

  // InvalidArgument naming the value: it is no integer, or none of int64.
  virtual absl::StatusOr<int64_t> Integer(size_t field) const = 0;
  // As it was written, valid as long as the row. InvalidArgument: it is a number.
  virtual absl::StatusOr<absl::string_view> Text(size_t field) const = 0;

  // One row of a column, added to `out` as it is stored. A value that is missing is NaN in columns
  // of floating-point numbers, and -1, no label, where `is_label`. InvalidArgument naming the
  // value: it is none, does not fit the column's type, or there are more or fewer.
  virtual absl::Status AddColumnRow(size_t field, const ColumnSpec& spec, bool is_label,
                                    std::string* out) const = 0;
  // One row of a ragged column likewise; InvalidArgument also for an index that is there twice or
  // out of range.
  virtual absl::Status AddRaggedRow(size_t field, const RaggedSpec& spec,
                                    std::string* out) const = 0;

  virtual int64_t num_bytes() const = 0;  // as they are in the file, about
  // An object of all fields, which as a line of JSON is the same row.
  virtual nlohmann::ordered_json ToJson() const = 0;
};

// The rows of a file, one after the other. Some are kept, to be had again:
//
//   auto found = file->Next();
//   if (*found == ChangeFile::Found::kRow) { Use(file->row()); file->Keep(); }
//   ...
//   UseAgain(file->Kept(0));
//   file->Forget();
//
// Threads: for one.
// Memory:  what its format says, and the rows that are kept.
class ChangeFile {
 public:
  enum class Found : uint8_t { kRow, kBad, kEnd };
  static constexpr int64_t kUnknown = -1;

  virtual ~ChangeFile() = default;

  const std::vector<std::string>& names() const { return names_; }
  virtual int64_t num_rows() const = 0;  // kUnknown before the end
  // What the rows of a field are by its type; empty: one number. Nothing: texts, which may be any.
  virtual std::optional<std::vector<int64_t>> RowShape(size_t field) const = 0;

  // kRow: row() is the next one; kBad: problem() says why it cannot be read. Reading can go on
  // after either. Else what the format says.
  virtual absl::StatusOr<Found> Next() = 0;
  virtual const FileRow& row() const = 0;  // valid until Next()
  const std::string& problem() const { return problem_; }

  // Of the last row, bad or not: its line from 1, or its place among the rows from 0.
  virtual int64_t number() const = 0;
  const std::string& unit() const { return unit_; }  // of numbers: "line"
  virtual std::string Place(int64_t number) const = 0;

  virtual void Keep() = 0;                     // row(), as the next of those that are kept
  virtual const FileRow& Kept(int64_t i) = 0;  // valid until the next call
  virtual void Forget() = 0;

 protected:
  explicit ChangeFile(std::string unit) : unit_(std::move(unit)) {}

  std::vector<std::string> names_;
  std::string problem_;

 private:
  const std::string unit_;
};

}  // namespace vicinity::cli
