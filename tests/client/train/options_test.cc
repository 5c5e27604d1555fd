#include "client/train/options.h"

#include <catch2/catch.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/options/options_table.h"

namespace vicinity {
namespace {

struct Parsed {
  std::optional<int> exit_status;
  TrainOptions options;
  std::string out;
  std::string err;
};

Parsed Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "vicinity_train");
  Parsed parsed;
  std::ostringstream out;
  std::ostringstream err;
  parsed.exit_status = ParseTrainOptions(static_cast<int>(arguments.size()), arguments.data(),
                                         &parsed.options, out, err);
  parsed.out = out.str();
  parsed.err = err.str();
  return parsed;
}

}  // namespace

TEST_CASE("a graph alone is enough", "[options]") {
  const Parsed parsed = Parse({"--graph", "here"});
  REQUIRE(!parsed.exit_status);
  CHECK(parsed.options.graph.directory == "here");
  CHECK(parsed.options.fanouts == std::vector<int64_t>{15, 10, 5});
  CHECK(parsed.options.loader.batch_size == 1024);
  CHECK(parsed.options.hidden == 256);
  CHECK(parsed.options.num_layers() == 3);
}

TEST_CASE("every option reaches its field", "[options]") {
  const Parsed parsed = Parse({"--cluster",      "c.textproto", "--local-shards",   "0,2",
                               "--trainer",      "1",           "--trainers",       "2",
                               "--rendezvous",   "file:/r",     "--seed-policy",    "home",
                               "--homes",        "1,3/0,2",     "--fanouts",        "-1,4",
                               "--eval-fanouts", "-1,-1",       "--batch-size",     "64",
                               "--model",        "linear",      "--cache",          "vip",
                               "--cache-rows",   "500",         "--seed",           "9",
                               "--features",     "feat",        "--eval-every",     "0",
                               "--lr",           "0.5",         "--dropout",        "0.1",
                               "--metrics-file", "m.prom",      "--metrics-listen", "127.0.0.1:0"});
  INFO(parsed.err);
  REQUIRE(!parsed.exit_status);
  const TrainOptions& options = parsed.options;
  CHECK(options.graph.local_shards == std::vector<int32_t>{0, 2});
  CHECK(options.graph.metrics.file == "m.prom");
  CHECK(options.graph.metrics.listen == "127.0.0.1:0");
  CHECK(options.loader.trainer == 1);
  CHECK(options.loader.seed_policy == SeedPolicy::kHome);
  CHECK(options.loader.homes == std::vector<std::vector<int32_t>>{{1, 3}, {0, 2}});
  CHECK(options.fanouts == std::vector<int64_t>{-1, 4});
  CHECK(options.eval_fanouts == std::vector<int64_t>{-1, -1});
  CHECK(options.model == ModelKind::kLinear);
  CHECK(options.loader.cache == CachePolicy::kVip);
  CHECK(options.loader.cache_rows == 500);
  CHECK(options.seed == 9);
  CHECK(options.features == "feat");
  CHECK(options.eval_every == 0);
  CHECK(options.learning_rate == 0.5);
  CHECK(options.dropout == 0.1);
}

TEST_CASE("a look-ahead pool is told its bytes and how far to look", "[options]") {
  const Parsed parsed = Parse({"--graph", "here", "--cache", "auto", "--cache-bytes", "3MB",
                               "--fetch-ahead", "7", "--sample-ahead", "90"});
  INFO(parsed.err);
  REQUIRE(!parsed.exit_status);
  CHECK(parsed.options.loader.cache == CachePolicy::kAuto);
  CHECK(parsed.options.loader.cache_rows == 0);
  CHECK(parsed.options.loader.cache_bytes == int64_t{3} << 20);
  CHECK(parsed.options.loader.fetch_ahead == 7);
  CHECK(parsed.options.loader.sample_ahead == 90);
}

TEST_CASE("batches that no model reads may be held as long as one would", "[options]") {
  const Parsed parsed = Parse({"--graph", "here", "--model", "none", "--step-ms", "2.5"});
  INFO(parsed.err);
  REQUIRE(!parsed.exit_status);
  CHECK(parsed.options.step_ms == 2.5);
}

TEST_CASE("the seeds of training may be those of a file that is there", "[options]") {
  const Parsed parsed = Parse({"--graph", "here", "--seed-list", "/etc/passwd"});
  INFO(parsed.err);
  REQUIRE(!parsed.exit_status);
  CHECK(parsed.options.seed_list == "/etc/passwd");
  CHECK(Parse({"--graph", "here", "--seed-list", "/no/such/file"}).exit_status == 2);
}

TEST_CASE("features may travel in half the bytes", "[options]") {
  const auto precision = [](std::vector<const char*> more) {
    more.insert(more.begin(), {"--cluster", "c.textproto"});
    return Parse(more).options.graph.wire_precision;
  };
  CHECK(precision({}) == WirePrecision::kStored);
  CHECK(precision({"--wire-precision", "stored"}) == WirePrecision::kStored);
  CHECK(precision({"--wire-precision", "float16"}) == WirePrecision::kFloat16);
  CHECK(precision({"--wire-precision", "bfloat16"}) == WirePrecision::kBfloat16);
}

TEST_CASE("mistakes end with status 2 and a message", "[options]") {
  const std::vector<const char*> wrong = GENERATE(values<std::vector<const char*>>({
      {},
      {"--graph", "g", "--cluster", "c"},
      {"--graph", "g", "--local-shards", "0"},
      {"--graph", "g", "--wire-precision", "float16"},
      {"--cluster", "c", "--wire-precision", "fp16"},
      {"--graph", "g", "--trainers", "0"},
      {"--graph", "g", "--trainers", "2"},
      {"--graph", "g", "--trainer", "1"},
      {"--graph", "g", "--batch-size", "0"},
      {"--graph", "g", "--epochs", "x"},
      {"--graph", "g", "--accumulate", "0"},
      {"--graph", "g", "--model", "gat"},
      {"--graph", "g", "--step-ms", "5"},
      {"--graph", "g", "--dropout", "1"},
      {"--graph", "g", "--cache", "look-ahead"},
      {"--graph", "g", "--cache", "lru", "--cache-rows", "5"},
      {"--graph", "g", "--cache", "vip", "--cache-rows", "5", "--cache-bytes", "5"},
      {"--graph", "g", "--fetch-ahead", "-1"},
      {"--graph", "g", "--homes", "0/1"},
      {"--graph", "g", "--homes", "0,x"},
      {"--graph", "g", "--homes", "-1"},
      {"--graph", "g", "--eval-fanouts", "5"},
      {"--graph", "g", "--what"},
  }));
  const Parsed parsed = Parse(wrong);
  CHECK(parsed.exit_status == 2);
  CHECK(!parsed.err.empty());
}

TEST_CASE("every flag of the options' table is a flag here", "[options]") {
  const std::string help = Parse({"--help"}).out;
  TrainOptions options;
  for (const std::vector<Option>& table : {OptionsOf(&options.graph), OptionsOf(&options.loader)}) {
    for (const Option& option : table) {
      INFO(option.flag);
      CHECK_THAT(help, Catch::Contains(option.flag));
    }
  }
}

TEST_CASE("--help prints the options and ends well", "[options]") {
  const Parsed parsed = Parse({"--help"});
  CHECK(parsed.exit_status == 0);
  CHECK(parsed.out.find("--fanouts") != std::string::npos);
}

}  // namespace vicinity
