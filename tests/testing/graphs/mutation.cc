#include "tests/testing/graphs/mutation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/damage.h"

namespace vicinity::testing {
namespace {

constexpr uint64_t kPage = 4096;

void Require(bool worked, const std::string& path) {
  if (worked) return;
  std::perror(path.c_str());
  std::abort();
}

}  // namespace

Mutator::Mutator(const std::string& folder, uint64_t seed) : folder_(folder), random_(seed) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = std::filesystem::relative(entry.path(), folder).string();
    const auto bytes = ReadFile(entry.path().string());
    Require(bytes.ok(), file);
    files_.push_back(file);
    contents_[file] = *bytes;
  }
  std::sort(files_.begin(), files_.end());
}

std::string Mutator::Mutate(const std::string& file, MutationKind kind) {
  const std::string& bytes = contents_.at(file);
  const std::string path = PathOf(file);
  changed_ = {file};
  switch (kind) {
    case MutationKind::kFlip: {
      const uint64_t at = Below(bytes.size());
      const int bit = static_cast<int>(Below(8));
      FlipBit(path, static_cast<int64_t>(at), bit);
      return absl::StrCat("flip bit ", bit, " of byte ", at, " of ", file);
    }
    case MutationKind::kZero: {
      const uint64_t at = Below(bytes.size()) / kPage * kPage;
      Overwrite(path, static_cast<int64_t>(at),
                std::string(std::min<uint64_t>(kPage, bytes.size() - at), '\0'));
      return absl::StrCat("zero the page at ", at, " of ", file);
    }
    case MutationKind::kTruncate: {
      const uint64_t size = Below(bytes.size());
      CutTo(path, static_cast<int64_t>(size));
      return absl::StrCat("cut ", file, " from ", bytes.size(), " to ", size);
    }
    case MutationKind::kExtend: {
      const uint64_t more = 1 + Below(2 * kPage);
      Overwrite(path, static_cast<int64_t>(bytes.size()), std::string(more, 'x'));
      return absl::StrCat("extend ", file, " by ", more);
    }
    case MutationKind::kDelete:
      Require(unlink(path.c_str()) == 0, path);
      return absl::StrCat("delete ", file);
    case MutationKind::kSwap: {
      const std::string& other = files_[Below(files_.size())];
      changed_.push_back(other);
      const std::string aside = path + ".aside";
      Require(std::rename(path.c_str(), aside.c_str()) == 0, path);
      if (other != file) Require(std::rename(PathOf(other).c_str(), path.c_str()) == 0, other);
      Require(std::rename(aside.c_str(), PathOf(other).c_str()) == 0, other);
      return absl::StrCat("swap ", file, " and ", other);
    }
    case MutationKind::kReplace: {
      std::string changed = bytes;
      for (int i = 0; i < 3; ++i) changed[Below(changed.size())] ^= 1 << Below(8);
      Require(WriteFileAtomically(path, changed).ok(), path);
      return absl::StrCat("replace ", file);
    }
  }
  return "";
}

void Mutator::Undo() {
  for (const std::string& file : changed_) Restore(file);
  changed_.clear();
}

void Mutator::Restore(const std::string& file) const {
  const std::string& bytes = contents_.at(file);
  const std::string path = PathOf(file);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  Require(fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes.size())) == 0 &&
              pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          path);
  close(fd);
}

}  // namespace vicinity::testing
