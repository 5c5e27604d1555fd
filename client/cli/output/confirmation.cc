#include "client/cli/output/confirmation.h"

#include "absl/strings/str_cat.h"

namespace vicinity::cli {

absl::Status Confirmed(bool yes, const Asker& ask, IfNobody if_nobody,
                       const std::string& question) {
  if (yes) return absl::OkStatus();
  if (ask == nullptr) {
    if (if_nobody == IfNobody::kGoOn) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(question, " Say --yes: nobody can be asked where there is no terminal"));
  }
  if (ask(question)) return absl::OkStatus();
  return absl::CancelledError("nothing was done");
}

}  // namespace vicinity::cli
