// One array that an import description names, whatever its format, read in chunks of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/schema/schema.h"
#include "proto/import.pb.h"

namespace vicinity {

// Fields of text, row by row.
//
// Lifetime: fields are views, valid until the next change.
class FieldTable {
 public:
  void Clear(size_t fields_per_row);
  void AddRow(const std::vector<absl::string_view>& fields);
  int64_t num_rows() const { return static_cast<int64_t>(ends_.size() / fields_per_row_); }
  int64_t num_bytes() const { return static_cast<int64_t>(bytes_.size()); }
  absl::string_view field(int64_t row, int64_t i) const;

 private:
  size_t fields_per_row_ = 1;
  std::string bytes_;
  std::vector<size_t> ends_;
};

// A sequence of rows. Each Read method takes the next rows, at most `max_rows` of them, and returns
// how many; 0: the end. An array is read by one of them, once, from its beginning.
//
// A value that does not fit what is asked for ends the reading: the rest is checked too, and the
// error, InvalidArgument, lists up to ten places and tells how many there are. Other errors: what
// TextReader, NpyFile and NpzFile say.
//
// Threads: for one.
// Cost:     what opening reads is small: an array in an archive is decompressed by the first Read.
//           FindType() reads a text file whole.
// Memory:  text: one chunk; .npy: mapped; .npz: NpzFile::Options::memory_bytes.
class ArraySource {
 public:
  struct Options {
    std::string base_directory;   // relative paths count from here
    std::string spool_directory;  // for members too large for memory
    bool transposed = false;      // not text: row i is column i of the array
  };
  static constexpr int64_t kUnknown = -1;

  // InvalidArgument for a description that does not fit the file's format.
  static absl::StatusOr<std::unique_ptr<ArraySource>> Open(const proto::ArrayFile& file,
                                                           const Options& options);
  virtual ~ArraySource() = default;

  // For messages: "/data/graph.npz:edges".
  const std::string& name() const { return name_; }
  const std::vector<int64_t>& row_shape() const { return row_shape_; }  // empty: one value
  int64_t values_per_row() const;
  virtual bool is_text() const = 0;
  virtual ValueType type() const = 0;    // text: FLOAT32, whatever it holds
  virtual int64_t num_rows() const = 0;  // text: kUnknown
  virtual bool HasRows() const = 0;      // before any reading
  // Whether the first row (text), or every row by its type, holds integers. Before any reading.
  virtual bool LooksInteger() const = 0;

  // The type that stores every value as it is: type(), or for text what TextTypeFinder says of all
  // its fields, for which the file is read once more than its rows are. InvalidArgument: no type
  // does, or the text is in a pipe, which can be read only once.
  virtual absl::StatusOr<ValueType> FindType() const { return type(); }

  virtual absl::StatusOr<int64_t> ReadInts(int64_t max_rows, std::vector<int64_t>* values) = 0;
  // InvalidArgument for an array of numbers, and for fields that are not UTF-8.
  virtual absl::StatusOr<int64_t> ReadFields(int64_t max_rows, FieldTable* fields) = 0;
  // Into out[0 .. rows * values_per_row() * bytes of `type`). Text: any TextValue that fits `type`;
  // missing values become NaN, and do not fit other types.
  virtual absl::StatusOr<int64_t> ReadValues(DType type, int64_t max_rows, char* out) = 0;

  // Row i of the last chunk, for messages: "edges.csv:17" or "edges.npy: row 16".
  virtual std::string Place(int64_t i) const = 0;

  // All rows as `type`, where that needs neither a cast nor a copy.
  virtual absl::StatusOr<std::optional<std::string_view>> Direct(DType type) = 0;

 protected:
  ArraySource(std::string name, std::vector<int64_t> row_shape)
      : name_(std::move(name)), row_shape_(std::move(row_shape)) {}

 private:
  const std::string name_;
  const std::vector<int64_t> row_shape_;
};

// How many rows of this size make a chunk worth reading at once; at least 1.
int64_t ChunkRows(int64_t row_bytes);

}  // namespace vicinity
