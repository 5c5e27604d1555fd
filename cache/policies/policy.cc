#include "cache/policies/policy.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity {

absl::Status PolicyBudget::Validate() const {
  if (total_rows < 0 || depth < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a budget of ", total_rows, " rows, depth ", depth));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
