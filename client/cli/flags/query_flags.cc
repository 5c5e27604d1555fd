#include "client/cli/flags/query_flags.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/query/query_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

// Of minibatches (vip_flags.h), and of the loader that `plan` plans for.
constexpr const char* kOfMinibatches[] = {
    "--fanouts",
    "--replace",
    "--expansion",
    "--weighted-by",
    "--where",
    "--disjoint",
    "--time-column",
    "--seed-time-column",
    "--temporal-strategy",
    "--time-window",
    "--draws",
    "--time-follows",
    "--layer-dependency",
    "--negatives",
    "--subgraph",
    "--batch-dependency",
    "--seed-links",
    "--negative-type",
    "--policy",
    "--fetch-ahead",
    "--sample-ahead",
    "--sampled-batches",
    "--window",
};

}  // namespace

absl::StatusOr<Query> ReadQuery(const QueryFlags& flags, const std::string& file_flag) {
  if (flags.text.has_value() == flags.file.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("give a query, or ", file_flag, " with one: one of both"));
  }
  if (flags.text.has_value()) return ParseQuery(*flags.text);
  std::ifstream file(*flags.file);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", *flags.file));
  return ParseQuery(content.str());
}

void AddQueryFlags(CLI::App* app, QueryFlags* flags) {
  app->add_option(
         "--query", flags->text,
         "batches are this query's answers for their seeds, which its one input takes, in "
         "the place of minibatches: \"src = nodes(paper, $seeds); w = walk(src, cites, 8)\"")
      ->type_name("QUERY");
  app->add_option("--query-file", flags->file, "likewise, a file with it")->type_name("FILE");
  for (const char* name : kOfMinibatches) {
    const CLI::Option* const option = app->get_option_no_throw(name);
    if (option != nullptr) flags->of_minibatches.push_back(option);
  }
}

absl::StatusOr<VipRequest> WithQuery(VipRequest request, const QueryFlags& flags) {
  if (!flags.given()) return request;
  for (const CLI::Option* option : flags.of_minibatches) {
    if (option->count() == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        option->get_name(), " is of minibatches: of a query its steps say what is drawn"));
  }
  VICINITY_ASSIGN_OR_RETURN(request.query, ReadQuery(flags, "--query-file"));
  return request;
}

}  // namespace vicinity::cli
