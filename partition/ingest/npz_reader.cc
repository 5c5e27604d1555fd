#include "partition/ingest/npz_reader.h"

#include <zip.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr absl::string_view kSuffix = ".npy";
constexpr int64_t kChunkBytes = int64_t{1} << 20;
// No deflate stream expands further (a match of 258 bytes takes at least two bits).
constexpr uint64_t kMostExpansion = 1032;

struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using OpenMember = std::unique_ptr<zip_file_t, CloseMember>;

// What the archive tells about a member, checked as far as can be without reading it.
absl::StatusOr<zip_stat_t> StatMember(zip_t* archive, zip_uint64_t index) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kWanted =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kWanted) != kWanted) {
    return absl::DataLossError("the archive does not tell its size");
  }
  if (stat.encryption_method != ZIP_EM_NONE) return absl::InvalidArgumentError("is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return absl::InvalidArgumentError(
        absl::StrCat("compression method ", stat.comp_method, " is neither stored nor deflated"));
  }
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  if (stored ? stat.size != stat.comp_size
             : stat.size / kMostExpansion > stat.comp_size || stat.size > INT64_MAX / 2) {
    return absl::DataLossError(absl::StrCat("the archive says that ", stat.comp_size,
                                            " bytes in it make ", stat.size, ", which cannot be"));
  }
  return stat;
}

// Calls `append` with all of the member's bytes, a chunk at a time. The last read tells whether
// the checksum fits.
template <typename Append>
absl::Status ReadMember(zip_t* archive, zip_uint64_t index, uint64_t size, Append append) {
  const OpenMember member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) return absl::DataLossError(zip_strerror(archive));
  std::string chunk(kChunkBytes, '\0');
  uint64_t done = 0;
  for (;;) {
    const zip_int64_t got = zip_fread(member.get(), chunk.data(), chunk.size());
    if (got < 0) return absl::DataLossError(zip_file_strerror(member.get()));
    done += static_cast<uint64_t>(got);
    if (done > size || (got == 0 && done < size)) {
      return absl::DataLossError(absl::StrCat("the archive tells a size of ", size,
                                              " bytes, and it has ",
                                              got == 0 ? absl::StrCat(done) : "more"));
    }
    if (got == 0) return absl::OkStatus();
    VICINITY_RETURN_IF_ERROR(append(std::string_view(chunk.data(), static_cast<size_t>(got))));
  }
}

}  // namespace

struct NpzFile::Archive {
  explicit Archive(zip_t* opened) : zip(opened) {}
  ~Archive() { zip_discard(zip); }
  zip_t* const zip;
};

absl::StatusOr<std::unique_ptr<NpzFile>> NpzFile::Open(const std::string& path, Options options) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  const std::string_view bytes = file->bytes();
  // To libzip this would be an archive without members.
  if (bytes.empty()) return absl::DataLossError(absl::StrCat(path, ": is empty"));
  zip_error_t error;
  zip_error_init(&error);
  const auto refuse = [&path, &error]() {
    const absl::Status status = absl::DataLossError(
        absl::StrCat(path, ": not a readable .npz archive: ", zip_error_strerror(&error)));
    zip_error_fini(&error);
    return status;
  };
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) return refuse();
  zip_t* const zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (zip == nullptr) {
    zip_source_free(source);
    return refuse();
  }
  zip_error_fini(&error);
  return std::unique_ptr<NpzFile>(
      new NpzFile(std::move(file), std::make_unique<Archive>(zip), std::move(options)));
}

NpzFile::NpzFile(std::unique_ptr<MappedFile> file, std::unique_ptr<Archive> archive,
                 Options options)
    : file_(std::move(file)), archive_(std::move(archive)), options_(std::move(options)) {
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
    members_.emplace_back(absl::StripSuffix(name == nullptr ? "" : name, kSuffix));
  }
}

NpzFile::~NpzFile() = default;

absl::StatusOr<NpzMember> NpzFile::Read(const std::string& member) {
  const std::string wanted(absl::StripSuffix(member, kSuffix));
  size_t index = 0;
  while (index < members_.size() && members_[index] != wanted) ++index;
  if (index == members_.size()) {
    return absl::NotFoundError(absl::StrCat(file_->path(), ": has no member '", wanted,
                                            "'; it has: ", absl::StrJoin(members_, ", ")));
  }
  const std::string name = absl::StrCat(file_->path(), ":", wanted);
  const absl::StatusOr<zip_stat_t> stat = StatMember(archive_->zip, index);
  if (!stat.ok()) return At(name, stat.status());

  NpzMember result;
  std::string_view bytes;
  if (stat->size <= static_cast<uint64_t>(options_.memory_bytes)) {
    result.memory_ = std::make_unique<std::string>();
    result.memory_->reserve(stat->size);
    VICINITY_RETURN_IF_ERROR(
        At(name, ReadMember(archive_->zip, index, stat->size, [&result](std::string_view chunk) {
             result.memory_->append(chunk);
             return absl::OkStatus();
           })));
    bytes = *result.memory_;
  } else {
    VICINITY_ASSIGN_OR_RETURN(result.spool_, SpoolFile::Create(options_.spool_directory));
    VICINITY_RETURN_IF_ERROR(
        At(name, ReadMember(archive_->zip, index, stat->size, [&result](std::string_view chunk) {
             return result.spool_->Append(chunk);
           })));
    VICINITY_ASSIGN_OR_RETURN(bytes, result.spool_->Map());
  }
  VICINITY_ASSIGN_OR_RETURN(result.view_, ParseNpy(bytes, name));
  return result;
}

}  // namespace vicinity
