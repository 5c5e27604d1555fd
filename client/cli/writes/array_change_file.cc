#include "client/cli/writes/array_change_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_join.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

constexpr int64_t kMemoryBytes = int64_t{16} << 20;  // of a member

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

// Of a row of an array that has rows, whose size is that of bytes there are.
int64_t NumValues(const std::vector<int64_t>& row_shape) {
  int64_t values = 1;
  for (const int64_t extent : row_shape) values *= extent;
  return values;
}

std::string SpoolDirectory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? "." : path.string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArrayChangeFile>> ArrayChangeFile::OpenNpz(const std::string& path) {
  std::unique_ptr<ArrayChangeFile> file(new ArrayChangeFile(path));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<NpzFile> archive,
                            NpzFile::Open(path, {kMemoryBytes, SpoolDirectory()}));
  if (archive->members().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has no arrays"));
  }
  for (const std::string& name : archive->members()) {
    VICINITY_ASSIGN_OR_RETURN(NpzMember member, archive->Find(name));
    VICINITY_RETURN_IF_ERROR(
        At(absl::StrCat(path, ":", name), file->AddMember(name, std::move(member))));
  }
  return file;
}

absl::Status ArrayChangeFile::AddMember(const std::string& name, NpzMember member) {
  const NpyView& view = member.view();
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    return absl::InvalidArgumentError("the archive has two members of this name");
  }
  if (view.shape.empty()) {
    return absl::InvalidArgumentError("has shape (): one value, and no rows");
  }
  if (names_.empty()) num_rows_ = view.shape[0];
  if (view.shape[0] != num_rows_) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", view.shape[0], " rows, and ", names_.front(), " has ", num_rows_));
  }
  ArrayField field;
  field.name = name;
  field.type = view.type;
  field.row_shape.assign(view.shape.begin() + 1, view.shape.end());
  if (num_rows_ > 0) field.num_values = NumValues(field.row_shape);
  field.stride = field.num_values * ValueBytes(field.type);
  names_.push_back(name);
  fields_.push_back(std::move(field));
  members_.push_back(std::move(member));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArrayChangeFile>> ArrayChangeFile::OpenNpy(
    const std::string& path, const std::vector<std::string>& names) {
  std::unique_ptr<ArrayChangeFile> file(new ArrayChangeFile(path));
  VICINITY_ASSIGN_OR_RETURN(file->array_, NpyFile::Open(path));
  VICINITY_RETURN_IF_ERROR(At(path, file->SplitArray(names)));
  return file;
}

absl::Status ArrayChangeFile::SplitArray(const std::vector<std::string>& names) {
  const NpyView& view = array_->view();
  const std::string has = absl::StrCat("has shape ", ShapeText(view.shape), ", and ");
  const std::string remedy =
      absl::StrCat("; several arrays are an archive: numpy.savez(\"rows.npz\", ",
                   absl::StrJoin(names, "=..., "), "=...)");
  const bool is_list = names.size() == 1 && view.shape.size() == 1;
  const bool of_pairs = names.size() == 2 && view.shape.size() == 2;
  const bool in_rows = of_pairs && view.shape[1] == 2;
  const bool in_columns = of_pairs && view.shape[0] == 2;
  if (in_rows && in_columns) {
    return absl::InvalidArgumentError(
        absl::StrCat(has, "whether a row or a column of it is an edge cannot be told", remedy));
  }
  if (!is_list && !in_rows && !in_columns) {
    return absl::InvalidArgumentError(
        absl::StrCat(has,
                     names.size() == 1 ? "(n,), a node's id a row, is wanted"
                                       : "(n, 2), source and target a row, is wanted",
                     remedy));
  }
  num_rows_ = view.shape[in_columns ? 1 : 0];
  const int64_t value = ValueBytes(view.type);
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t begin = static_cast<int64_t>(i) * (in_columns ? num_rows_ : 1);
    names_.push_back(names[i]);
    fields_.push_back({names[i],
                       view.type,
                       {},
                       1,
                       view.data.data() + begin * value,
                       in_rows ? 2 * value : value});
  }
  return absl::OkStatus();
}

absl::Status ArrayChangeFile::Load() {
  for (size_t i = 0; i < members_.size(); ++i) {
    VICINITY_RETURN_IF_ERROR(members_[i].Load());
    fields_[i].data = members_[i].view().data.data();
  }
  loaded_ = true;
  return absl::OkStatus();
}

absl::StatusOr<ChangeFile::Found> ArrayChangeFile::Next() {
  if (!loaded_) VICINITY_RETURN_IF_ERROR(Load());
  if (next_ == num_rows_) return Found::kEnd;
  row_.set_row(next_++);
  return Found::kRow;
}

const FileRow& ArrayChangeFile::Kept(int64_t i) {
  kept_row_.set_row(kept_[static_cast<size_t>(i)]);
  return kept_row_;
}

}  // namespace vicinity::cli
