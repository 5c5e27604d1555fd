#include "partition/ingest/formats/npz_reader.h"

#include <zip.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "partition/ingest/formats/conversion_hint.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

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

// The first bytes of a member, as many as there are up to kChunkBytes.
absl::StatusOr<std::string> ReadStart(zip_t* archive, zip_uint64_t index) {
  const OpenMember member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) return absl::DataLossError(zip_strerror(archive));
  std::string start(kChunkBytes, '\0');
  size_t done = 0;
  while (done < start.size()) {
    const zip_int64_t got = zip_fread(member.get(), &start[done], start.size() - done);
    if (got < 0) return absl::DataLossError(zip_file_strerror(member.get()));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  start.resize(done);
  return start;
}

}  // namespace

struct NpzMember::Archive {
  Archive(std::unique_ptr<MappedFile> mapped, zip_t* opened)
      : file(std::move(mapped)), zip(opened) {}
  ~Archive() { zip_discard(zip); }
  const std::unique_ptr<MappedFile> file;
  zip_t* const zip;  // reads from file
};

absl::Status NpzMember::Load() {
  if (memory_ != nullptr || spool_ != nullptr) return absl::OkStatus();
  std::string_view bytes;
  if (size_ <= static_cast<uint64_t>(options_.memory_bytes)) {
    auto memory = std::make_unique<std::string>();
    memory->reserve(size_);
    VICINITY_RETURN_IF_ERROR(
        At(name_, ReadMember(archive_->zip, index_, size_, [&memory](std::string_view chunk) {
             memory->append(chunk);
             return absl::OkStatus();
           })));
    memory_ = std::move(memory);
    bytes = *memory_;
  } else {
    VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<SpoolFile> spool,
                              SpoolFile::Create(options_.spool_directory));
    VICINITY_RETURN_IF_ERROR(
        At(name_, ReadMember(archive_->zip, index_, size_,
                             [&spool](std::string_view chunk) { return spool->Append(chunk); })));
    VICINITY_ASSIGN_OR_RETURN(bytes, spool->Map());
    spool_ = std::move(spool);
  }
  VICINITY_ASSIGN_OR_RETURN(view_, ParseNpy(bytes, name_));
  return absl::OkStatus();
}

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
      new NpzFile(std::make_shared<Archive>(std::move(file), zip), std::move(options)));
}

NpzFile::NpzFile(std::shared_ptr<Archive> archive, Options options)
    : archive_(std::move(archive)), options_(std::move(options)) {
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
    members_.emplace_back(absl::StripSuffix(name == nullptr ? "" : name, kSuffix));
  }
}

NpzFile::~NpzFile() = default;

std::string NpzFile::Contents() const {
  const std::string conversion = SparseConversionOf(archive_->file->path(), members_);
  return absl::StrCat("it has: ", EscapedText(absl::StrJoin(members_, ", ")),
                      conversion.empty() ? "" : absl::StrCat(" (", conversion, ")"));
}

absl::StatusOr<NpzMember> NpzFile::Find(const std::string& member) {
  const std::string& path = archive_->file->path();
  const std::string wanted(absl::StripSuffix(member, kSuffix));
  size_t index = 0;
  while (index < members_.size() && members_[index] != wanted) ++index;
  if (index == members_.size()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": has no member '", EscapedText(wanted), "'; ", Contents()));
  }
  NpzMember result;
  result.name_ = absl::StrCat(path, ":", wanted);
  const absl::StatusOr<zip_stat_t> stat = StatMember(archive_->zip, index);
  if (!stat.ok()) return At(result.name_, stat.status());
  const absl::StatusOr<std::string> start = ReadStart(archive_->zip, index);
  if (!start.ok()) return At(result.name_, start.status());
  result.archive_ = archive_;
  result.index_ = index;
  result.size_ = stat->size;
  result.options_ = options_;
  VICINITY_ASSIGN_OR_RETURN(result.view_, ParseNpyStart(*start, stat->size, result.name_));
  return result;
}

}  // namespace vicinity
