#include "partition/writing/output_files.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/dataset/page_sums.h"
#include "proto/common/checksum.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

FileHeader WrittenHeader(absl::Span<const char> bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

}  // namespace

absl::StatusOr<OutputArray> OutputFiles::Add(const std::string& path, FileKind kind,
                                             int64_t num_rows, int64_t row_bytes) {
  constexpr int64_t kLargest = int64_t{1} << 62;
  if (num_rows < 0 || (row_bytes > 0 && num_rows > (kLargest - 64) / row_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", num_rows, " rows of ", row_bytes, " bytes"));
  }
  const PageLayout layout =
      LayoutOf(static_cast<int64_t>(sizeof(FileHeader)) + num_rows * row_bytes);
  VICINITY_ASSIGN_OR_RETURN(
      std::unique_ptr<MappedOutput> output,
      MappedOutput::Create(absl::StrCat(folder_, "/", path), layout.file_bytes()));
  const FileHeader header = MakeHeader(kind, num_rows, row_bytes);
  std::memcpy(output->bytes().data(), &header, sizeof(header));
  const OutputArray array = {output->bytes().data() + sizeof(header), num_rows, row_bytes};
  files_[path] = std::move(output);
  return array;
}

OutputArray OutputFiles::at(const std::string& path) const {
  const absl::Span<char> bytes = files_.at(path)->bytes();
  const FileHeader header = WrittenHeader(bytes);
  return {bytes.data() + sizeof(header), static_cast<int64_t>(header.num_rows),
          static_cast<int64_t>(header.row_bytes)};
}

absl::Status OutputFiles::Seal(const std::string& path, proto::FileEntry* entry) const {
  MappedOutput& file = *files_.at(path);
  const absl::Span<char> bytes = file.bytes();
  const FileHeader header = WrittenHeader(bytes);
  const PageLayout layout =
      LayoutOf(static_cast<int64_t>(sizeof(header) + header.num_rows * header.row_bytes));
  entry->set_pages_checksum(SealPages(layout, bytes));
  entry->set_size(bytes.size());
  entry->set_checksum(Checksum({bytes.data(), bytes.size()}));
  return file.Sync();
}

}  // namespace vicinity
