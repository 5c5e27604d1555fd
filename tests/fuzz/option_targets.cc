#include "tests/fuzz/option_targets.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/c_api/options.h"
#include "client/cli/commands.h"
#include "client/query/query_steps.h"
#include "client/query/query_text.h"
#include "partition/schema/condition.h"
#include "partition/schema/condition_text.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "sampler/rules/condition_filter.h"
#include "tests/fuzz/targets.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::fuzz {
namespace {

constexpr NamedTarget kTargets[] = {
    {"tool_flags", FuzzToolFlags},
    {"graph_options", FuzzGraphOptions},
    {"loader_options", FuzzLoaderOptions},
    {"condition", FuzzCondition},
    {"query", FuzzQuery},
};

std::vector<std::string> Lines(std::string_view input) {
  return absl::StrSplit(absl::string_view(input.data(), input.size()), '\n');
}

// CLI11 reads files of flags, and that is none of ours to fuzz: no command declares one.
void ParseFlags(const cli::Command& command, std::vector<std::string> args) {
  CLI::App app;
  const cli::Action action = command.declare(&app);
  Expect(action != nullptr, "a command does something");
  std::reverse(args.begin(), args.end());  // as CLI11 takes them
  try {
    app.parse(std::move(args));
  } catch (const CLI::ParseError&) {  // what the tool catches
  }
}

}  // namespace

absl::Span<const NamedTarget> AllTargets() { return kTargets; }

FuzzTarget FuzzToolFlags(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      "sample\n--cluster\nc\n--fanouts\n15,10,5\n--fanouts-along\nbuys=5,3\n1\n2",
      "partition\n--data\nd\n--num-shards=4\n--assigner\nmetis\n--fanouts=15,10",
      "import\n--edges\ne.npz:edges\n--num-nodes\n-1\n--transposed",
      "get\n--data\nd\n--type\nuser\n--\n-5",
      "status\n--server\n[::1]:7500\n--timeout\n1e400\n--format=yaml",
      "top\n--cluster=c\n--interval=nan",
      "token\n--name\nx\n--role\nread",
  };
  target.run = [](std::string_view input) {
    const std::vector<std::string> words = Lines(input);
    for (const cli::Command& command : cli::AllCommands()) {
      if (words.front() == command.name) ParseFlags(command, {words.begin() + 1, words.end()});
    }
  };
  return target;
}

FuzzTarget FuzzGraphOptions(const std::string&) {
  FuzzTarget target;
  target.seeds = {R"({"cluster_file": "c", "local_shards": [0, 2], "connect_timeout_ms": 5000,
  "call_timeout_ms": 1, "call_budget_ms": -1, "hedge": true, "channels_per_server": 2,
  "client_name": "x", "wire_precision": "float16", "credentials": {"ca": "a", "certificate": "b",
  "key": "k", "token_file": "t", "allow_plaintext": false}})",
                  R"({"directory": "d", "hedge": 1e400, "local_shards": [[[[]]]]})"};
  target.run = [](std::string_view input) { c_api::ParseGraphOptions(std::string(input).c_str()); };
  return target;
}

FuzzTarget FuzzLoaderOptions(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      R"({"fanouts": [[1, 2, 3, 4, -1], [0, 0, 0, 1, 1]], "replace": true,
  "disjoint": false, "expansion": "new_nodes", "weighted_by": "w", "seed_type": "user",
  "split": "train", "batch_size": 10, "shuffle": true, "run_seed": 18446744073709551615})",
      R"({"fanouts": [15, 10, 5], "homes": [[0, 2], [1]], "seed_policy": "home", "trainer": 1,
  "columns": [{"node_type": "user", "column": "features"}], "labels": true, "edge_ids": true,
  "edge_columns": [{"edge_type": "user:buys:item", "column": "weight"}], "cache": "auto",
  "cache_rows": 9223372036854775808, "placement": "device", "batch_timeout_ms": 9e18,
  "device": {"kind": "host", "ordinal": 0, "home_bytes": 1, "pin_home": true}})"};
  const auto schema = std::make_shared<const Schema>(testing::TypedGraph(3, 3, 3, 1).schema);
  target.run = [schema](std::string_view input) {
    const auto options = c_api::ParseLoaderOptions(*schema, std::string(input).c_str());
    if (options.ok()) SpecProblem(*schema, options->sampling);
  };
  return target;
}

// What is read is evaluated, on rows of every type.
FuzzTarget FuzzCondition(const std::string&) {
  FuzzTarget target;
  target.seeds = {"bool and not int8 in (1, -2, 3.5) or uint8 != 7",
                  "(int16 >= -3 and int32 < 1e9) or `int64` = 9223372036854775807",
                  "float16 > 0.1 and bfloat16 <= -1 and float32 not in (0.5) and float64 < 1e300"};
  target.run = [](std::string_view input) {
    std::vector<ColumnSpec> columns;
    for (int type = static_cast<int>(DType::kBool); type <= static_cast<int>(DType::kFloat64);
         ++type) {
      const auto dtype = static_cast<DType>(type);
      columns.push_back({std::string(DTypeName(dtype)), dtype, {}});
    }
    const auto condition = ParseCondition(absl::string_view(input.data(), input.size()));
    if (!condition.ok()) return;
    auto resolved = ResolveCondition(*condition, columns);
    if (!resolved.ok()) return;
    Expect(CompleteCondition(columns, &*resolved).empty(), "what is read can be evaluated");
    ConditionFilter filter(*resolved);
    alignas(8) static constexpr char kRow[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::vector<const char*> values(filter.columns().size(), kRow);
    Expect(filter.Evaluate(values, 2).size() == 2, "each row is judged");
  };
  return target;
}

FuzzTarget FuzzQuery(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      "a = nodes(user, $in, where=\"label = 1\", order_by=id, descending=true, limit=3)\n"
      "b = neighbors(a, user:knows:user, 10, replace=true, columns=[features], edge_ids=true)",
      "i = nodes(item, count=5, by=price); u = neighbors(i, buys, all, order_by=weight)\n"
      "n = negatives(u, buys, 2, degree_power=0.75, exact=false) # not edges\n"
      "l = layer(i, buys, 7, by=weight, square_root=true)",
      "t = nodes(tag, [1, -2, 'x y', z])",
      "i = nodes(item); w = walk(i, [buys, bought_by], 5, weighted_by=weight, restart_prob=0.25, "
      "node_type=user, edge_ids=true)\n"
      "u = nodes(user); k = walk(u, knows, 3, p=0.5, q=2)\n"
      "v = visited(u, 'knows', 5, length=3, num_walks=9, exclude_start=true)\n"
      "r = ppr(v, [], 7, alpha=0.25, eps=1e-3, max_neighbors=9, node_type=item)\n"
      "s = induced([u, r], buys, where='weight > 1', edge_columns=[weight], edge_ids=true)",
      "u = nodes(user); i = neighbors(u, buys, 3, direction=out, edge_columns=[weight])\n"
      "b = neighbors(i, rev_buys, direction='out'); j = neighbors(i, buys, direction=in)"};
  testing::MemoryGraph graph = testing::TypedGraph(3, 3, 3, 1);
  testing::AddReverse(EdgeTypeId{0}, &graph);
  const auto schema = std::make_shared<const Schema>(graph.schema);
  target.run = [schema](std::string_view input) {
    const auto query = ParseQuery(absl::string_view(input.data(), input.size()));
    if (!query.ok()) return;
    // A text has no more than one kind of quotes in it, so that what is read can be written.
    const std::string text = QueryText(*query);
    const auto again = ParseQuery(text);
    Expect(again.ok() && QueryText(*again) == text, "what is written is read as it was");
    const auto steps = ResolveQuery(*schema, *query);
    Expect(!steps.ok() || steps->size() == query->steps.size(), "each step is found");
  };
  return target;
}

}  // namespace vicinity::fuzz
