// A query as users hand it to commands, and batches of its answers in the place of minibatches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/planning/home_plan.h"
#include "client/query/query.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vicinity::cli {

struct QueryFlags {
  std::optional<std::string> text;
  std::optional<std::string> file;
  std::vector<const CLI::Option*> of_minibatches;  // that say nothing of a query

  bool given() const { return text.has_value() || file.has_value(); }
};

// The query of just one of both; `file_flag` is what the user calls the second. InvalidArgument for
// neither, both, or what is no query; NotFound for a file that cannot be read.
absl::StatusOr<Query> ReadQuery(const QueryFlags& flags, const std::string& file_flag);

// `--query TEXT` and `--query-file FILE`, for commands that plan batches. Of the flags that are
// declared by now those do not go with either that say how minibatches are drawn, or by which
// loader. The app must outlive the flags.
void AddQueryFlags(CLI::App* app, QueryFlags* flags);

// The request, for answers of the query if one is given. InvalidArgument naming a flag that does
// not go with it; else errors as ReadQuery.
absl::StatusOr<VipRequest> WithQuery(VipRequest request, const QueryFlags& flags);

}  // namespace vicinity::cli
