#include "client/cli/commands/plan_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/flags/query_flags.h"
#include "client/cli/flags/vip_flags.h"
#include "client/cli/output/line_chart.h"
#include "client/cli/output/output.h"
#include "client/cli/output/svg_chart.h"
#include "client/cli/output/text_chart.h"
#include "client/cli/output/transfer_plan_output.h"
#include "client/options/words.h"
#include "client/planning/transfer_plan.h"
#include "client/planning/transfer_planner.h"
#include "client/types/loader_values.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/schema/sampling_spec.h"
#include "proto/command_line/choices.h"
#include "proto/common/file.h"
#include "proto/common/human_text.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  std::string directory;
  PlanRequest request;
  QueryFlags query;
  std::string cache = "0";
  std::string more;
  std::string window = "256M";
  std::string picture;
  OutputFormat format = OutputFormat::kTable;
};

absl::Status TakeSize(const std::string& text, int64_t* bytes) {
  *bytes = text.empty() ? 0 : ParseBytes(text);
  if (*bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no size, as 512M or 8G"));
}

absl::StatusOr<PlanRequest> RequestOf(const Flags& flags) {
  PlanRequest request = flags.request;
  VICINITY_ASSIGN_OR_RETURN(request.vip, WithQuery(request.vip, flags.query));
  VICINITY_RETURN_IF_ERROR(TakeSize(flags.cache, &request.cache_bytes));
  VICINITY_RETURN_IF_ERROR(TakeSize(flags.more, &request.more_bytes));
  VICINITY_RETURN_IF_ERROR(TakeSize(flags.window, &request.loader.window_bytes));
  VICINITY_RETURN_IF_ERROR(request.Validate());
  return request;
}

absl::Status RunPlan(const Flags& flags, const ToolContext& tool, std::ostream& out) {
  VICINITY_ASSIGN_OR_RETURN(const PlanRequest request, RequestOf(flags));
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<Dataset> dataset, OpenForPasses(flags.directory));
  VICINITY_ASSIGN_OR_RETURN(const TransferPlan plan,
                            PlanTransfers(*dataset, request, tool.progress));
  const LineChart chart = TransferChart(plan, dataset->manifest().name());
  if (!flags.picture.empty()) {
    VICINITY_RETURN_IF_ERROR(WriteFileAtomically(flags.picture, SvgChart(chart)));
  }
  if (flags.format == OutputFormat::kJson) {
    PrintJson(TransferPlanJson(plan), out);
    return absl::OkStatus();
  }
  PrintTransferPlan(plan, out);
  out << '\n';
  PrintTextChart(chart, out);
  return absl::OkStatus();
}

// Named as the options of loaders are (client/types/loader_values.h).
void AddLoaderFlags(CLI::App* app, Flags* flags) {
  app->add_option("--policy", flags->request.loader.cache, "the loader's cache: none, vip or auto")
      ->type_name(JoinedWords<CachePolicy>("|"))
      ->transform(Choices(WordMap(kWords<CachePolicy>)))
      ->default_str(WordOf(flags->request.loader.cache));
  app->add_option("--seed-policy", flags->request.seed_policy,
                  "a trainer's seeds: dealt from all of them, or those of its home")
      ->type_name(JoinedWords<SeedPolicy>("|"))
      ->transform(Choices(WordMap(kWords<SeedPolicy>)));
  app->add_option("--fetch-ahead", flags->request.loader.fetch_ahead,
                  "batches whose rows are fetched before they are trained on");
  app->add_option("--window", flags->window, "what these may hold at most")->type_name("SIZE");
  app->add_option("--sample-ahead", flags->request.loader.sample_ahead,
                  "with auto: batches more that are sampled before that");
  app->add_option("--sampled-batches", flags->request.loader.least_batches,
                  "count at least so many sampled batches; 0: sample none, go by the VIP formula");
  app->add_option("--subgraph", flags->request.vip.subgraph,
                  "edges of a batch: those drawn, or all between its nodes, which the window holds")
      ->type_name(JoinedWords<Subgraph>("|"))
      ->transform(Choices(WordMap(kWords<Subgraph>)))
      ->default_str(WordOf(flags->request.vip.subgraph));
  app->add_option("--run-seed", flags->request.loader.run_seed, "of the sampling");
}

}  // namespace

Action DeclarePlan(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  app->add_option("DIRECTORY", flags->directory, "the dataset, cut into shards")->required();
  AddVipFlags(app, &flags->request.vip);
  AddLinkFlags(app, &flags->request.vip);
  app->add_option("--link-gbps", flags->request.link_gbps, "of every machine, each way, in Gbit/s");
  app->add_option("--columns", flags->request.columns,
                  "of a row; default: all but labels and splits")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  app->add_option("--row-bytes", flags->request.row_bytes,
                  "of a row, instead of those of its columns");
  app->add_option("--trainers-per-home", flags->request.loader.trainers_per_home,
                  "that share a home's seeds and its machine's link");
  app->add_option("--cache-rows", flags->request.cache_rows,
                  "tell of caches of these sizes; default: of shares of a mean shard's nodes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,...");
  app->add_option("--rows-per-batch", flags->request.rows_per_batch,
                  "tell the cache that leaves so many remote rows a batch");
  app->add_option("--seconds", flags->request.seconds,
                  "tell the cache that leaves so many seconds of transfer an epoch");
  app->add_option("--share", flags->request.share,
                  "tell the cache that leaves this part of what is fetched without one, as 0.25");
  app->add_option("--more", flags->more, "tell what so much more cache would save, as 8G")
      ->type_name("SIZE");
  app->add_option("--cache", flags->cache, "more than what; default: no cache")->type_name("SIZE");
  AddLoaderFlags(app, flags.get());
  AddQueryFlags(app, &flags->query);
  app->add_option("--picture", flags->picture, "also draw a chart to this SVG file");
  AddFormatFlag(app, &flags->format);
  return [flags](const ToolContext& tool, std::ostream& out) { return RunPlan(*flags, tool, out); };
}

}  // namespace vicinity::cli
