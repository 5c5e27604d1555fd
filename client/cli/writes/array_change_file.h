// NumPy's arrays as a file of rows to write.
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
#include "client/cli/writes/array_row.h"
#include "client/cli/writes/change_file.h"
#include "partition/ingest/formats/npy_reader.h"
#include "partition/ingest/formats/npz_reader.h"

namespace vicinity::cli {

// An archive (.npz), whose members are the fields by their names: row i of each is row i. Or one
// array (.npy) of ids: of one field a number a row; of two, [n, 2], or [2, n] where n is not 2.
// Values stay as they are until they are cast to what a column stores.
//
// What opening reads is names, types and shapes. The first Next() reads the members of an archive,
// and fails as NpzMember::Load: before the first row, if something is damaged.
//
// Memory: members of up to 16 MiB; larger ones are in nameless files of the folder for temporary
//         ones. An .npy is mapped.
class ArrayChangeFile final : public ChangeFile {
 public:
  // What NpzFile says; InvalidArgument: no members, two of one name, one of another number of rows.
  static absl::StatusOr<std::unique_ptr<ArrayChangeFile>> OpenNpz(const std::string& path);
  // `names`: one or two. What NpyFile says; InvalidArgument: another shape than above.
  static absl::StatusOr<std::unique_ptr<ArrayChangeFile>> OpenNpy(
      const std::string& path, const std::vector<std::string>& names);

  int64_t num_rows() const override { return num_rows_; }
  std::optional<std::vector<int64_t>> RowShape(size_t field) const override {
    return fields_[field].row_shape;
  }
  absl::StatusOr<Found> Next() override;
  const ArrayRow& row() const override { return row_; }
  int64_t number() const override { return row_.row(); }
  std::string Place(int64_t number) const override { return absl::StrCat(path_, ": row ", number); }
  void Keep() override { kept_.push_back(row_.row()); }
  const FileRow& Kept(int64_t i) override;
  void Forget() override { kept_.clear(); }

 private:
  explicit ArrayChangeFile(std::string path) : ChangeFile("row"), path_(std::move(path)) {}
  absl::Status AddMember(const std::string& name, NpzMember member);
  absl::Status SplitArray(const std::vector<std::string>& names);
  absl::Status Load();

  const std::string path_;
  int64_t num_rows_ = 0;
  std::optional<NpyFile> array_;    // of an .npy
  std::vector<NpzMember> members_;  // of an .npz, by field
  std::vector<ArrayField> fields_;
  bool loaded_ = false;
  int64_t next_ = 0;
  ArrayRow row_{&fields_};
  std::vector<int64_t> kept_;
  ArrayRow kept_row_{&fields_};
};

}  // namespace vicinity::cli
