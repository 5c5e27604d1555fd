// Every kind of bottleneck, as numbers: the right one is named, by the right evidence, and gains
// are those that the next stage allows.
#include "client/why/verdict.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace vicinity {
namespace {

// Ten seconds of a trainer that waits for data half of its time, 100 batches, and whose stages are
// all idle.
TrainerNumbers Waiting() {
  TrainerNumbers trainer;
  for (const char* stage : {"schedule", "sample", "plan", "fetch", "assemble"}) {
    trainer.stages[stage] = {1, 100, 0.5, 9.5, 0};
  }
  trainer.stages["fetch"] = {4, 100, 2, 38, 0};
  trainer.stages["train"] = {1, 100, 5, 5, 0};
  trainer.cpu_seconds = 10;
  trainer.cores = 8;
  trainer.edges_remote = 1e6;
  return trainer;
}
// ... for calls of the fetch stage, of which four are under way at a time.
TrainerNumbers WaitsForRows() {
  TrainerNumbers trainer = Waiting();
  trainer.stages["fetch"] = {4, 100, 39, 1, 0};
  trainer.rpc_seconds["FetchRows"] = 38;
  trainer.rpcs["FetchRows"] = 400;
  trainer.fetched_nodes = 100'000;
  trainer.remote_bytes = 100e6;
  trainer.received_bytes = 105e6;
  return trainer;
}
TrainerNumbers WaitsForSamples() {
  TrainerNumbers trainer = Waiting();
  trainer.stages["sample"] = {1, 100, 9.8, 0.2, 0};
  trainer.rpc_seconds["SampleNeighbors"] = 9.5;
  trainer.rpcs["SampleNeighbors"] = 600;
  return trainer;
}
ServerNumbers Idle(const std::string& name = "a") {
  ServerNumbers server;
  server.name = name;
  server.seconds = 10;
  server.cores = 4;
  server.cpu_seconds = 1;
  server.running = 4;  // calls that are slow on their way keep their turn
  server.file_bytes = 1e9;
  server.resident_bytes = 1e9;
  return server;
}

bool Says(const std::vector<std::string>& sentences, const std::string& text) {
  return std::any_of(sentences.begin(), sentences.end(), [&text](const std::string& sentence) {
    return absl::StrContains(sentence, text);
  });
}
double SpeedupOf(const Verdict& verdict, const std::string& text) {
  for (const Advice& advice : verdict.advice) {
    if (absl::StrContains(advice.what, text)) return advice.speedup;
  }
  FAIL("no advice of " << text);
  return 0;
}

TEST_CASE("a trainer that seldom waits is bound by its own step", "[why]") {
  TrainerNumbers trainer = WaitsForRows();
  trainer.stages["train"] = {1, 100, 9.2, 0.8, 0};
  trainer.stages["fetch"] = {4, 100, 9.2, 0, 30.8};
  const Verdict verdict = Judge(trainer, {Idle()});
  CHECK(verdict.bound == Bound::kDevice);
  CHECK(verdict.waits == Approx(0.08));
  CHECK(verdict.batch_seconds == Approx(0.1));
  CHECK(Says(verdict.evidence, "8 %"));
  // 92 ms of training for a batch, 23 of fetching with four threads.
  CHECK(SpeedupOf(verdict, "faster model") == Approx(4));
  CHECK(verdict.advice.size() == 1);
  // Its own step may take that long because the loader's threads have the cores.
  trainer.cpu_seconds = 78;
  const Verdict crowded = Judge(trainer, {Idle()});
  CHECK(crowded.bound == Bound::kDevice);
  CHECK(Says(crowded.evidence, "7.8 of its 8 cores"));
  CHECK(SpeedupOf(crowded, "more cores") == 0);
}

TEST_CASE("calls that servers neither compute nor read for are on their way", "[why]") {
  const Verdict verdict = Judge(WaitsForRows(), {Idle("a"), Idle("b")});
  CHECK(verdict.bound == Bound::kLink);
  CHECK(verdict.stage == "fetch");
  CHECK(verdict.waits == Approx(0.5));
  CHECK(Says(verdict.evidence, "fetch is the busiest: its 4 threads are busy 98 %"));
  CHECK(Says(verdict.evidence, "the rows of 1000 nodes"));
  // From 97.5 ms a batch to 50: training takes that.
  CHECK(SpeedupOf(verdict, "float16") == Approx(1.95));
}

TEST_CASE("a full link is known without the servers", "[why]") {
  JudgeOptions options;
  options.link_bytes_per_second = 12.5e6;
  CHECK(Judge(WaitsForRows(), {}, options).bound == Bound::kLink);
  options.link_bytes_per_second = 125e6;
  const Verdict unsure = Judge(WaitsForRows(), {}, options);
  CHECK(unsure.bound == Bound::kRemote);
  CHECK(SpeedupOf(unsure, "--cluster") == 0);
}

TEST_CASE("a server that uses its cores, or whose threads wait for them, lacks cores", "[why]") {
  ServerNumbers full = Idle("full");
  SECTION("used") { full.cpu_seconds = 38; }
  SECTION("waited for") {
    full.cpu_seconds = 15;
    full.cpu_wait_seconds = 60;
  }
  const TrainerNumbers trainer = GENERATE(WaitsForRows(), WaitsForSamples());
  const Verdict verdict = Judge(trainer, {Idle(), full});
  CHECK(verdict.bound == Bound::kServerCpu);
  CHECK(Says(verdict.evidence, "server full uses"));
  CHECK(SpeedupOf(verdict, "move shards away from full") > 1);
  CHECK(SpeedupOf(verdict, "twice the cores") > 1);
}

TEST_CASE("servers whose threads wait for disks read from them", "[why]") {
  ServerNumbers reads = Idle("reads");
  reads.threads_on_disk = 2.5;
  reads.read_bytes = 50e6;
  reads.resident_bytes = 1e8;
  const Verdict verdict = Judge(WaitsForRows(), {Idle(), reads});
  CHECK(verdict.bound == Bound::kDisk);
  CHECK(Says(verdict.evidence, "2.5 of the servers' threads wait for a disk"));
  CHECK(SpeedupOf(verdict, "more memory") == Approx(1.95));
  // A page now and then is no reason.
  reads.threads_on_disk = 0.05;
  CHECK(Judge(WaitsForRows(), {Idle(), reads}).bound == Bound::kLink);
}

TEST_CASE("sampling that computes by itself is bound by its threads", "[why]") {
  TrainerNumbers trainer = Waiting();
  trainer.stages["sample"] = {1, 100, 9.9, 0.1, 0};
  trainer.edges_local = 1e8;
  trainer.edges_remote = 0;
  const Verdict verdict = Judge(trainer, {Idle()});
  CHECK(verdict.bound == Bound::kSampling);
  CHECK(Says(verdict.evidence, "it waits for no server"));
  CHECK(Says(verdict.evidence, "1.0 of its 8 cores"));
  CHECK(SpeedupOf(verdict, "sample_threads=2 in place of 1") == Approx(1.98));
}

TEST_CASE("threads are no help where there are no cores for them", "[why]") {
  TrainerNumbers trainer = Waiting();
  trainer.stages["sample"] = {2, 100, 19.8, 0.2, 0};
  trainer.edges_local = 1e8;
  trainer.edges_remote = 0;
  trainer.cores = 1;
  const Verdict verdict = Judge(trainer, {});
  CHECK(verdict.bound == Bound::kSampling);
  for (const Advice& advice : verdict.advice) {
    CHECK_FALSE(absl::StrContains(advice.what, "sample_threads"));
  }
  CHECK(SpeedupOf(verdict, "more cores") == 0);
}

TEST_CASE("sampling for which servers compute, with cores to spare, asks too few at once",
          "[why]") {
  ServerNumbers computes = Idle();
  computes.cpu_seconds = 7;
  const Verdict verdict = Judge(WaitsForSamples(), {computes});
  CHECK(verdict.bound == Bound::kSampling);
  CHECK(SpeedupOf(verdict, "sample_threads=2") == Approx(1.96));
  // Where they do not, its calls are on their way.
  CHECK(Judge(WaitsForSamples(), {Idle()}).bound == Bound::kLink);
}

TEST_CASE("another stage that computes is named", "[why]") {
  TrainerNumbers trainer = Waiting();
  trainer.stages["assemble"] = {1, 100, 9.9, 0.1, 0};
  const Verdict verdict = Judge(trainer, {Idle()});
  CHECK(verdict.bound == Bound::kLoader);
  CHECK(verdict.stage == "assemble");
  CHECK(SpeedupOf(verdict, "columns") == Approx(1.98));
}

TEST_CASE("the cache that is advised is the smallest that gains as much", "[why]") {
  JudgeOptions options;
  options.plan = {{4000, 4e6, 0}, {0, 0, 1000}, {1000, 1e6, 900}, {2000, 2e6, 400}};
  const Verdict verdict = Judge(WaitsForRows(), {Idle()}, options);
  // 97.5 ms of fetching a batch: with 400 of 1000 rows 39, so training is next, 50.
  CHECK(SpeedupOf(verdict, "a cache of 2000 rows") == Approx(1.95));
  CHECK(Says({verdict.advice[0].what}, "foretells 400 rows a batch in place of 1000"));
  options.plan = {{0, 0, 1000}, {1000, 1e6, 1000}};
  CHECK(SpeedupOf(Judge(WaitsForRows(), {Idle()}, options), "no larger cache") == 0);
}

TEST_CASE("what was expected and what fails is told", "[why]") {
  TrainerNumbers trainer = WaitsForRows();
  trainer.expected_rows = 300;
  trainer.retries = 7;
  trainer.shard_calls = 400;
  trainer.quarantines = 1;
  const Verdict verdict = Judge(trainer, {Idle()});
  CHECK(Says(verdict.evidence, "foretold 300"));
  CHECK(Says(verdict.evidence, "7 of 400 calls"));
  CHECK(Says(verdict.evidence, "out of use 1 times"));
}

TEST_CASE("too few batches are no evidence", "[why]") {
  TrainerNumbers trainer = WaitsForRows();
  trainer.stages["train"].batches = 3;
  CHECK(Judge(trainer, {Idle()}).bound == Bound::kUnknown);
  CHECK(Judge(TrainerNumbers(), {}).bound == Bound::kUnknown);
}

TEST_CASE("every bound has a name of its own", "[why]") {
  std::vector<std::string> names;
  for (int bound = 0; bound <= static_cast<int>(Bound::kRemote); ++bound) {
    names.emplace_back(BoundName(static_cast<Bound>(bound)));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace vicinity
