#include "cache/policies/policy.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity {

absl::Status PolicyBudget::Validate() const {
  if (cache_rows < 0 || total_rows < 0 || depth < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a budget of ", cache_rows, " cached or ",
                                                   total_rows, " rows in all, depth ", depth));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
