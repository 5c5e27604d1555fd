// Seeds beside the options of client/c_api/vicinity.h.
#include "client/c_api/seeds.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/types/seed_values.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::BatchPtr;
using testing::LoaderPtr;
using testing::NextBatch;
using testing::OpenGraph;
using testing::PartOf;
using testing::RequireOk;
using testing::ValuesOf;

template <typename Value>
VicinitySeeds SeedsOf(VicinitySeedKind kind, const std::vector<Value>& values) {
  VicinitySeeds seeds = {};
  seeds.struct_size = sizeof(seeds);
  seeds.kind = kind;
  seeds.count = static_cast<int64_t>(values.size());
  seeds.values = values.data();
  return seeds;
}

LoaderPtr MakeLoader(const OpenGraph& open, const std::string& options,
                     const VicinitySeeds& seeds) {
  VicinityLoader* loader = nullptr;
  RequireOk(vicinity_loader_create_with_seeds(open.graph(), options.c_str(), &seeds, &loader));
  return LoaderPtr(loader);
}

// Global ids of an epoch's seeds, as they come, list by list.
std::vector<int64_t> Dealt(VicinityLoader* loader, int32_t node_type) {
  RequireOk(vicinity_loader_start_epoch(loader, 0, 0, -1));
  std::vector<int64_t> dealt;
  while (const BatchPtr batch = NextBatch(loader)) {
    const auto nodes = ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_NODES, node_type));
    VicinityBatchInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_info(batch.get(), &info));
    for (int32_t list = 0; list < info.num_seed_lists; ++list) {
      for (const int32_t at : ValuesOf<int32_t>(*PartOf(batch.get(), VICINITY_SEEDS, list))) {
        dealt.push_back(nodes[at]);
      }
    }
  }
  return dealt;
}

constexpr char kUsers[] =
    R"({"fanouts": [3], "batch_size": 10, "seed_type": "user", "shuffle": false})";
constexpr char kItems[] =
    R"({"fanouts": [3], "batch_size": 10, "seed_type": "item", "shuffle": false})";

TEST_CASE("seeds of every kind are those that batches begin with, in their order", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> listed = {7, 299, 7, 0, 150, 151, 152, 153, 154, 155, 156, 3};
  CHECK(Dealt(MakeLoader(open, kUsers, SeedsOf(VICINITY_SEEDS_GLOBAL_IDS, listed)).get(), 0) ==
        listed);
  const std::vector<int64_t> user_ids = *open.plain().UserIds(0, listed);
  CHECK(Dealt(MakeLoader(open, kUsers, SeedsOf(VICINITY_SEEDS_USER_IDS, user_ids)).get(), 0) ==
        listed);

  const std::vector<int64_t> items = {79, 3, 40};
  const std::vector<std::string> names = *open.plain().UserNames(1, items);
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  CHECK(Dealt(MakeLoader(open, kItems, SeedsOf(VICINITY_SEEDS_USER_NAMES, texts)).get(), 1) ==
        items);

  const std::vector<int64_t> all = *open.plain().NodesOf(0, Split::kNone);
  std::vector<uint8_t> mask(all.size(), 0);
  mask[4] = mask[200] = 1;
  CHECK(Dealt(MakeLoader(open, kUsers, SeedsOf(VICINITY_SEEDS_MASK, mask)).get(), 0) ==
        std::vector<int64_t>{all[4], all[200]});
}

TEST_CASE("links give their sources, and then their targets", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> sources = *open.plain().UserIds(0, {7, 299, 7});
  const std::vector<int64_t> targets = *open.plain().UserIds(0, {1, 2, 300 - 1});
  VicinitySeeds seeds = SeedsOf(VICINITY_SEEDS_USER_IDS, sources);
  seeds.edge_type = "user:knows:user";
  seeds.targets = targets.data();
  const LoaderPtr loader = MakeLoader(open, kUsers, seeds);
  CHECK(vicinity_loader_num_seeds(loader.get()) == 3);
  CHECK(Dealt(loader.get(), 0) == std::vector<int64_t>{7, 299, 7, 1, 2, 299});

  seeds.targets = nullptr;
  CHECK(c_api::ReadSeeds(seeds).error().code() == ErrorCode::kInvalidArgument);
  seeds.targets = targets.data();
  seeds.kind = VICINITY_SEEDS_MASK;
  CHECK(c_api::ReadSeeds(seeds).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("without seeds beside them the options' split counts", "[c_api]") {
  const OpenGraph open;
  VicinityLoader* loader = nullptr;
  RequireOk(vicinity_loader_create_with_seeds(open.graph(), kUsers, nullptr, &loader));
  const LoaderPtr owned(loader);
  CHECK(Dealt(loader, 0) == *open.plain().NodesOf(0, Split::kTrain));
}

TEST_CASE("seeds that are none are refused, saying why", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> ids = {1, 2};
  const std::vector<const char*> no_name = {"a", nullptr};
  VicinitySeeds seeds = SeedsOf(VICINITY_SEEDS_GLOBAL_IDS, ids);
  const auto refused = [&](const std::string& word) {
    VicinityLoader* loader = nullptr;
    CHECK(vicinity_loader_create_with_seeds(open.graph(), kUsers, &seeds, &loader) ==
          VICINITY_INVALID_ARGUMENT);
    CHECK(loader == nullptr);
    CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains(word));
  };
  SECTION("no size") { seeds.struct_size = 0, refused("struct_size"); }
  SECTION("no kind") { seeds.kind = 0, refused("kind 0"); }
  SECTION("another kind") { seeds.kind = 99, refused("kind 99"); }
  SECTION("below none") { seeds.count = -1, refused("count is -1"); }
  SECTION("nowhere") { seeds.values = nullptr, refused("null"); }
  SECTION("empty") { seeds.count = 0, refused("empty"); }
  SECTION("a short mask") {
    seeds = SeedsOf(VICINITY_SEEDS_MASK, std::vector<uint8_t>()), refused("300");
  }
  SECTION("no name") { seeds = SeedsOf(VICINITY_SEEDS_USER_NAMES, no_name), refused("name 1"); }
}

TEST_CASE("a user id that the graph lacks is not found", "[c_api]") {
  const OpenGraph open;
  std::vector<int64_t> ids = *open.plain().UserIds(0, {1});
  ids.push_back(-5);
  const VicinitySeeds seeds = SeedsOf(VICINITY_SEEDS_USER_IDS, ids);
  VicinityLoader* loader = nullptr;
  CHECK(vicinity_loader_create_with_seeds(open.graph(), kUsers, &seeds, &loader) ==
        VICINITY_NOT_FOUND);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("-5 (position 1)"));
}

TEST_CASE("a field of a later version is refused where it is set", "[c_api]") {
  struct Later {
    VicinitySeeds seeds;
    int64_t more;
  };
  const std::vector<int64_t> ids = {1, 2};
  Later later = {SeedsOf(VICINITY_SEEDS_GLOBAL_IDS, ids), 0};
  later.seeds.struct_size = sizeof(later);
  const Result<SeedList> read = c_api::ReadSeeds(later.seeds);
  REQUIRE(read.ok());
  CHECK(std::get<GlobalIds>(*read).ids == ids);
  later.more = 1;
  CHECK(c_api::ReadSeeds(later.seeds).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("negatives are those that have a weight", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> ids = {7, 299};
  VicinitySeeds links = SeedsOf(VICINITY_SEEDS_GLOBAL_IDS, ids);
  links.edge_type = "user:knows:user";
  links.targets = ids.data();
  const std::vector<int64_t> users = *open.plain().NodesOf(0, Split::kNone);
  std::vector<double> of_targets(300, 0);
  of_targets[4] = of_targets[5] = 2;
  std::vector<double> of_sources(300, 0);
  of_sources[8] = 0.5;
  VicinityNegativeWeights weights = {};
  weights.struct_size = sizeof(weights);
  weights.targets = of_targets.data();
  weights.num_targets = 300;
  const auto create = [&](const char* mode, VicinityLoader** loader) {
    const std::string options =
        R"({"fanouts": [3], "shuffle": false, "negatives": {"amount": 50, "exact": false, "mode": ")" +
        std::string(mode) + "\"}}";
    return vicinity_loader_create_with_weights(open.graph(), options.c_str(), &links, &weights,
                                               loader);
  };
  VicinityLoader* loader = nullptr;
  RequireOk(create("triplet", &loader));
  std::vector<int64_t> drawn = Dealt(LoaderPtr(loader).get(), 0);
  CHECK(std::set<int64_t>(drawn.begin() + 4, drawn.end()) == std::set<int64_t>{users[4], users[5]});

  weights.sources = of_sources.data();
  weights.num_sources = 300;
  RequireOk(create("binary", &loader));
  drawn = Dealt(LoaderPtr(loader).get(), 0);
  REQUIRE(drawn.size() == 4 + 200);
  CHECK(std::set<int64_t>(drawn.begin() + 4, drawn.begin() + 104) == std::set<int64_t>{users[8]});

  CHECK(create("triplet", &loader) == VICINITY_INVALID_ARGUMENT);  // which draw no sources
  weights.num_sources = 299;
  CHECK(create("binary", &loader) == VICINITY_INVALID_ARGUMENT);
  weights.num_sources = 300;
  of_sources[8] = -0.5;
  CHECK(create("binary", &loader) == VICINITY_INVALID_ARGUMENT);
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("weight -0.5 of node "));
}

TEST_CASE("weights are a list and its length, or neither", "[c_api]") {
  const double one = 1;
  VicinityNegativeWeights weights = {};
  const auto code = [&] { return c_api::ReadNegativeWeights(weights).error().code(); };
  CHECK(code() == ErrorCode::kInvalidArgument);  // no size
  weights.struct_size = sizeof(weights);
  CHECK(c_api::ReadNegativeWeights(weights).ok());
  weights.num_sources = 1;
  CHECK(code() == ErrorCode::kInvalidArgument);
  weights.sources = &one;
  CHECK(c_api::ReadNegativeWeights(weights)->sources == std::vector<double>{1});
  CHECK(c_api::ReadNegativeWeights(weights)->targets.empty());
  weights.num_sources = 0;
  CHECK(code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("times are of listed seeds, not of a mask", "[c_api]") {
  const std::vector<int64_t> ids = {3, 1};
  const std::vector<int64_t> times = {10, -20};
  VicinitySeeds listed = SeedsOf(VICINITY_SEEDS_USER_IDS, ids);
  CHECK(c_api::ReadSeedTimes(listed).empty());
  listed.times = times.data();
  CHECK(c_api::ReadSeeds(listed).ok());
  CHECK(c_api::ReadSeedTimes(listed) == times);
  const std::vector<uint8_t> mask = {0, 1};
  VicinitySeeds masked = SeedsOf(VICINITY_SEEDS_MASK, mask);
  masked.times = times.data();
  CHECK(c_api::ReadSeeds(masked).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vicinity
