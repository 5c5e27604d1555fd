#include "partition/ingest/formats/problem_list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace vicinity {

absl::Status ProblemList::ToStatus(absl::string_view headline) const {
  if (count_ == 0) return absl::OkStatus();
  if (count_ == 1) return absl::InvalidArgumentError(absl::StrCat(headline, ": ", texts_[0]));
  const int64_t unlisted = count_ - static_cast<int64_t>(texts_.size());
  return absl::InvalidArgumentError(
      absl::StrCat(headline, ": ", count_, " problems:\n  ", absl::StrJoin(texts_, "\n  "),
                   unlisted > 0 ? absl::StrCat("\n  and ", unlisted, " more") : ""));
}

}  // namespace vicinity
