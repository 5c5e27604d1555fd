// A folded dataset takes the place of another on servers that end and start again on the way, while
// others write: what comes out is what a fold of everything is, byte for byte but for edges'
// numbers.
#include "client/cli/commands/live/dataset_swap.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/carried_changes.h"
#include "partition/fold/fold.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/change_cursors.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "proto/admin.pb.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "proto/service.pb.h"
#include "proto/telemetry/registry.h"
#include "server/generation.h"
#include "server/generation_record.h"
#include "server/generations.h"
#include "server/handlers/live/apply_handler.h"
#include "server/handlers/live/carry_handler.h"
#include "server/handlers/server_state.h"
#include "server/server_options.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity::cli {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kNumShards = 2;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

// The n-th batch of a shard: another row of one of its nodes, and an edge to it from any node.
proto::WriteBatch BatchOf(const Dataset& dataset, int32_t shard, uint64_t n) {
  std::mt19937_64 random(1000 * n + static_cast<uint64_t>(shard));
  const Book& book = dataset.book();
  const auto node = [&](int32_t of) {
    return static_cast<uint64_t>(book.First({0}, {of}).value) +
           random() % static_cast<uint64_t>(book.num_nodes({0}, {of}));
  };
  const uint64_t target = node(shard);
  proto::WriteBatch batch;
  proto::NodeRows& rows = *batch.add_node_rows();
  rows.add_nodes(target);
  rows.mutable_values()->set_rows(
      std::string(dataset.schema().node_types[0].columns[0].row_bytes(), static_cast<char>(n)));
  proto::NewEdges& edges = *batch.add_new_edges();
  edges.add_sources(node(static_cast<int32_t>(random() % kNumShards)));
  edges.add_targets(target);
  return batch;
}

class SwapBed {
 public:
  SwapBed() {
    testing::RandomGraphOptions options;
    options.num_nodes = 40;
    const testing::MemoryGraph graph = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, kNumShards, 3), data()));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, OpenGrowing(data()));
    VICINITY_ASSERT_OK_AND_ASSIGN(oracle_, LiveDataset::Open(*dataset_, File("oracle"), {}));
    for (int32_t s = 0; s < kNumShards; ++s) {
      ServerOptions& server = servers_[s].options;
      server.name = absl::StrCat("s", s);
      server.data = data();
      server.shards = {ShardId{s}};
      server.changes = File(absl::StrCat("changes-", s));
      server.check_bytes_per_second = 1 << 20;
      Start(s);
    }
  }

  std::string File(const std::string& name) const { return folder_.File(name); }
  std::string data() const { return File("data"); }
  std::string next_data() const { return File("next"); }
  const Dataset& dataset() const { return *dataset_; }

  static absl::StatusOr<std::unique_ptr<Dataset>> OpenGrowing(const std::string& path) {
    Dataset::Options options;
    options.grows = true;
    options.verify_at_touch = true;
    return Dataset::Open(path, options);
  }

  void Start(int32_t s) {
    Server& server = servers_[s];
    server.metrics = std::make_unique<MetricRegistry>();
    VICINITY_ASSERT_OK_AND_ASSIGN(server.generations,
                                  Generations::Open(server.options, server.metrics.get()));
    ServerState common;
    common.name = server.options.name;
    VICINITY_REQUIRE_OK(server.generations->Start(common));
  }
  void Stop(int32_t s) {
    servers_[s].generations.reset();
    servers_[s].metrics.reset();
  }
  Generations& server(int32_t s) { return *servers_[s].generations; }
  ServerOptions& options(int32_t s) { return servers_[s].options; }

  absl::StatusOr<proto::ApplyReply> Send(int32_t s, uint64_t fingerprint,
                                         const proto::WriteSession& session,
                                         const proto::WriteBatch& batch) {
    proto::ApplyRequest request;
    request.set_fingerprint(fingerprint);
    request.set_shard(s);
    *request.mutable_session() = session;
    *request.mutable_batch() = batch;
    VICINITY_ASSIGN_OR_RETURN(const auto source, Apply(*server(s).Of(fingerprint), request));
    proto::ApplyReply reply;
    VICINITY_RETURN_IF_ERROR(source->Next(&reply, [] { return false; }).status());
    return reply;
  }

  // The shard's next batch, to the dataset in force; and to the oracle, if it is applied.
  absl::Status Write(int32_t s) {
    const uint64_t fingerprint = server(s).in_force()->fingerprint();
    proto::WriteSession session;
    session.set_id(absl::StrCat("writer of ", absl::Hex(fingerprint)));
    session.set_sequence(sent_[{s, fingerprint}] + 1);
    const proto::WriteBatch batch = BatchOf(*dataset_, s, num_written_[s] + 1);
    VICINITY_RETURN_IF_ERROR(Send(s, fingerprint, session, batch).status());
    last_session_[s] = session;
    ++sent_[{s, fingerprint}];
    ++num_written_[s];
    proto::WriteSession own;
    own.set_id("oracle");
    own.set_sequence(num_written_[s]);
    VICINITY_ASSIGN_OR_RETURN(const auto shard, oracle_->Find({s}));
    return shard->Apply(own, batch, Durability::kBuffered, Soon()).status();
  }
  uint64_t num_written(int32_t s) const { return num_written_.at(s); }
  const proto::WriteSession& last_session(int32_t s) const { return last_session_.at(s); }

  // Makes the next dataset at what there is now.
  void Fold() {
    copy_.reset();
    VICINITY_ASSERT_OK_AND_ASSIGN(copy_, LiveDataset::Open(*dataset_, File("copy"), {}));
    std::vector<std::shared_ptr<const LiveView>> views;
    folded_at_.clear();
    folded_terms_.clear();
    for (int32_t s = 0; s < kNumShards; ++s) {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto there, server(s).in_force()->live()->Find({s}));
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto here, copy_->Find({s}));
      for (uint64_t v = 1; v <= there->version(); ++v) {
        VICINITY_ASSERT_OK_AND_ASSIGN(proto::Change change, there->ReadChange(v));
        VICINITY_REQUIRE_OK(here->Repeat(std::move(change), Durability::kBuffered, Soon()));
      }
      views.push_back(here->Latest());
      folded_at_.push_back(here->version());
      folded_terms_.push_back(here->TermOf(here->version()));
    }
    source_ = std::make_unique<FoldSource>(*dataset_, std::move(views));
    VICINITY_REQUIRE_OK(WriteFolded(*source_, next_data(), NoProgress()).status());
    VICINITY_ASSERT_OK_AND_ASSIGN(next_, OpenGrowing(next_data()));
  }
  uint64_t next_fingerprint() const { return next_->fingerprint(); }

  SwapOptions swap_options() const {
    SwapOptions options;
    for (int32_t s = 0; s < kNumShards; ++s) {
      options.servers.push_back({absl::StrCat("s", s), {ShardId{s}}});
    }
    options.folded_at = folded_at_;
    options.folded_terms = folded_terms_;
    options.fingerprint = next_->fingerprint();
    options.follows = dataset_->fingerprint();
    options.data = next_data();
    options.page = 7;
    options.settle = absl::Seconds(5);
    options.look_every = absl::Milliseconds(1);
    return options;
  }

  // `meanwhile` comes before each call, and says whether its server answers it: 0; not, before it
  // is done: 1; or after: 2.
  SwapCalls calls(std::function<int(size_t server)> meanwhile) {
    SwapCalls calls;
    calls.begin = [this]() -> absl::Status {
      VICINITY_ASSIGN_OR_RETURN(carried_, CarriedChanges::Prepare(*source_, *next_, NoProgress()));
      return absl::OkStatus();
    };
    calls.step = [this, meanwhile](
                     size_t s,
                     const proto::SwapRequest& request) -> absl::StatusOr<proto::SwapReply> {
      return Call(s, meanwhile, [&] { return server(static_cast<int32_t>(s)).Swap(request); });
    };
    calls.carry = [this, meanwhile](
                      size_t s,
                      const proto::CarryRequest& request) -> absl::StatusOr<proto::CarryReply> {
      return Call(s, meanwhile, [&] {
        return Carry(*server(static_cast<int32_t>(s)).Of(request.fingerprint()), request);
      });
    };
    calls.read = [this](ShardId id, uint64_t after,
                        uint64_t count) -> absl::StatusOr<std::vector<proto::Change>> {
      const auto state = server(id.value).Of(dataset_->fingerprint());
      VICINITY_ASSIGN_OR_RETURN(const auto shard, state->live->Find(id));
      std::vector<proto::Change> changes;
      for (uint64_t v = after + 1; v <= std::min(after + count, shard->version()); ++v) {
        VICINITY_ASSIGN_OR_RETURN(proto::Change change, shard->ReadChange(v));
        changes.push_back(std::move(change));
      }
      return changes;
    };
    calls.translate = [this](ShardId id, proto::Change change) {
      return carried_->Carry(id, std::move(change));
    };
    return calls;
  }

  // What differs between a fold of all that was written and one of the next dataset's changes; ""
  // nothing. All servers end.
  std::string Difference() {
    for (int32_t s = 0; s < kNumShards; ++s) Stop(s);
    oracle_.reset();
    fs::create_directories(File("gathered"));
    for (int32_t s = 0; s < kNumShards; ++s) {
      const std::string shard = absl::StrCat("shard-0000", s);
      const std::string own =
          absl::StrCat(options(s).changes, "/", ChangesFolderOf(next_->fingerprint()), "/", shard);
      fs::rename(own, File("gathered") + "/" + shard);
    }
    VICINITY_REQUIRE_OK(
        FoldChanges(*next_, File("gathered"), File("folded-twice"), NoProgress()).status());
    VICINITY_REQUIRE_OK(
        FoldChanges(*dataset_, File("oracle"), File("folded-once"), NoProgress()).status());
    return DifferenceOf(File("folded-once"), File("folded-twice"));
  }

 private:
  struct Server {
    ServerOptions options;
    std::unique_ptr<MetricRegistry> metrics;
    std::unique_ptr<Generations> generations;
  };

  template <typename Do>
  auto Call(size_t s, const std::function<int(size_t)>& meanwhile, const Do& call)
      -> decltype(call()) {
    const int fails = meanwhile(s);
    if (fails == 1) return absl::UnavailableError("no answer");
    auto reply = call();
    if (fails == 2) return absl::UnavailableError("no answer");
    return reply;
  }

  static std::string DifferenceOf(const std::string& one, const std::string& other) {
    size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(one)) {
      // Of several shards new edges are numbered in another order (decision 31).
      const std::string extension = entry.path().extension();
      if (!entry.is_regular_file() || extension == ".textproto" || extension == ".ids") continue;
      const std::string path = fs::relative(entry.path(), one).string();
      ++files;
      const auto a = ReadFile(one + "/" + path);
      const auto b = ReadFile(other + "/" + path);
      if (!a.ok() || !b.ok()) return absl::StrCat(path, ": ", b.status().ToString());
      if (*a != *b) return path;
    }
    return files > 3 ? "" : "there are no files";
  }

  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveDataset> oracle_;
  std::map<int32_t, Server> servers_;
  std::map<int32_t, uint64_t> num_written_;
  std::map<std::pair<int32_t, uint64_t>, uint64_t> sent_;
  std::map<int32_t, proto::WriteSession> last_session_;
  std::unique_ptr<LiveDataset> copy_;
  std::vector<uint64_t> folded_at_;
  std::vector<uint64_t> folded_terms_;
  std::unique_ptr<FoldSource> source_;
  std::unique_ptr<Dataset> next_;
  std::unique_ptr<CarriedChanges> carried_;
};

int Answers(size_t) { return 0; }

TEST_CASE("what is written while a fold is made and put in place is all there afterwards",
          "[dataset_swap]") {
  SwapBed bed;
  for (int i = 0; i < 20; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
  bed.Fold();
  for (int i = 0; i < 30; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
  int writes = 0;
  const auto calls = bed.calls([&](size_t s) {
    // Nobody is told apart from a writer that comes at the wrong moment.
    if (writes < 25 && bed.Write(static_cast<int32_t>(s)).ok()) ++writes;
    return 0;
  });
  VICINITY_ASSERT_OK_AND_ASSIGN(const SwapReport report,
                                SwapDatasets(bed.swap_options(), calls, NoProgress()));
  CHECK_FALSE(report.was_done);
  CHECK(report.carried[0] >= 15);
  for (int32_t s = 0; s < kNumShards; ++s) {
    CHECK(bed.server(s).in_force()->fingerprint() == bed.next_fingerprint());
    VICINITY_CHECK_OK(bed.Write(s));
  }
  VICINITY_ASSERT_OK_AND_ASSIGN(const SwapReport again,
                                SwapDatasets(bed.swap_options(), calls, NoProgress()));
  CHECK(again.was_done);
  VICINITY_CHECK_CODE(AbortSwap(bed.swap_options(), calls), absl::StatusCode::kFailedPrecondition);
  CHECK(bed.Difference() == "");
}

TEST_CASE("wherever a swap is cut off it goes on, or nothing has changed", "[dataset_swap]") {
  const int64_t rounds = testing::SizeFromEnvironment("VICINITY_SWAP_ROUNDS", 12);
  int64_t cut_off = 0;
  for (int64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    SwapBed bed;
    for (int i = 0; i < 10; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
    bed.Fold();
    for (int i = 0; i < 10; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
    int faults = 1 + static_cast<int>(random() % 6);
    const auto calls = bed.calls([&](size_t s) {
      if (random() % 4 == 0) bed.Write(static_cast<int32_t>(random() % kNumShards)).IgnoreError();
      if (faults == 0 || random() % 5 != 0) return 0;
      --faults;
      ++cut_off;
      if (random() % 2 == 0) return static_cast<int>(1 + random() % 2);
      bed.Stop(static_cast<int32_t>(s));
      bed.Start(static_cast<int32_t>(s));
      return 1;
    });
    bool done = false;
    for (int attempt = 0; attempt < 20 && !done; ++attempt) {
      done = SwapDatasets(bed.swap_options(), calls, NoProgress()).ok();
      if (!done && random() % 4 == 0) AbortSwap(bed.swap_options(), calls).IgnoreError();
    }
    REQUIRE(done);
    for (int32_t s = 0; s < kNumShards; ++s) VICINITY_CHECK_OK(bed.Write(s));
    REQUIRE(bed.Difference() == "");
  }
  CHECK(cut_off > rounds);
}

TEST_CASE("a server that starts again when another has committed commits too", "[dataset_swap]") {
  SwapBed bed;
  for (int i = 0; i < 10; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
  bed.Fold();
  for (int i = 0; i < 10; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
  bool ended = false;
  const auto calls = bed.calls([&](size_t s) {
    const bool other_committed = bed.server(0).in_force()->fingerprint() == bed.next_fingerprint();
    if (ended || s != 1 || !other_committed) return 0;
    ended = true;
    bed.Stop(1);
    bed.Start(1);
    return 1;
  });
  VICINITY_REQUIRE_OK(SwapDatasets(bed.swap_options(), calls, NoProgress()).status());
  CHECK(ended);
  for (int32_t s = 0; s < kNumShards; ++s) VICINITY_CHECK_OK(bed.Write(s));
  CHECK(bed.Difference() == "");
}

TEST_CASE("a batch that got no answer before the swap gets it afterwards, and no other is taken",
          "[dataset_swap]") {
  SwapBed bed;
  for (int i = 0; i < 5; ++i) VICINITY_REQUIRE_OK(bed.Write(0));
  const proto::WriteSession session = bed.last_session(0);
  const proto::WriteBatch batch = BatchOf(bed.dataset(), 0, 5);
  const uint64_t old = bed.dataset().fingerprint();
  bed.Fold();
  VICINITY_REQUIRE_OK(bed.Write(1));
  VICINITY_REQUIRE_OK(SwapDatasets(bed.swap_options(), bed.calls(&Answers), NoProgress()).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ApplyReply reply, bed.Send(0, old, session, batch));
  CHECK(reply.repeated());
  CHECK(reply.version() == 5);
  proto::WriteSession next = session;
  next.set_sequence(6);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ApplyReply refused, bed.Send(0, old, next, batch));
  CHECK(refused.retired());
}

TEST_CASE("the old dataset is read on, and a server that starts again has the next one",
          "[dataset_swap]") {
  SwapBed bed;
  bed.options(1).keep_retired = absl::ZeroDuration();
  bed.Stop(1);
  bed.Start(1);
  for (int i = 0; i < 6; ++i) VICINITY_REQUIRE_OK(bed.Write(i % kNumShards));
  const uint64_t old = bed.dataset().fingerprint();
  bed.Fold();
  CHECK(bed.server(0).in_force()->live()->reserve()->is_held());
  VICINITY_REQUIRE_OK(SwapDatasets(bed.swap_options(), bed.calls(&Answers), NoProgress()).status());
  const auto state = bed.server(0).Of(old);
  CHECK_FALSE(state->live->reserve()->is_held());  // nothing needs it, and disks fill by it
  CHECK(bed.server(0).in_force()->live()->reserve()->is_held());
  CHECK(state->dataset->fingerprint() == old);
  CHECK(*state->stage == DatasetStage::kRetired);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, state->live->Find({0}));
  CHECK(shard->version() == 3);
  CHECK(bed.server(0).Of(0)->also() == std::vector<uint64_t>{old});
  CHECK(bed.server(0).Of(0)->follows == old);
  // Where nobody reads it, it is let go.
  for (int i = 0; i < 1000 && !bed.server(1).Of(0)->also().empty(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  CHECK(bed.server(1).Of(0)->also().empty());
  CHECK(bed.server(1).Of(old)->dataset->fingerprint() == bed.next_fingerprint());
  VICINITY_REQUIRE_OK(bed.Write(1));
  bed.Stop(1);
  SECTION("as it was started before") { bed.Start(1); }
  SECTION("or with the next one") {
    bed.options(1).data = bed.next_data();
    bed.Start(1);
  }
  CHECK(bed.server(1).in_force()->fingerprint() == bed.next_fingerprint());
  CHECK(bed.server(1).Of(0)->follows == old);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto again, bed.server(1).in_force()->live()->Find({1}));
  CHECK(again->version() == 1);
  bed.Stop(1);
  bed.options(1).data = bed.File("other");
  testing::RandomGraphOptions other;
  other.seed = 99;
  VICINITY_REQUIRE_OK(WriteGraph(testing::RandomGraph(other), bed.options(1).data));
  MetricRegistry metrics;
  VICINITY_CHECK_CODE(Generations::Open(bed.options(1), &metrics).status(),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("readers of changes go over to where they were, and one that is behind is not left so",
          "[dataset_swap]") {
  SwapBed bed;
  for (int i = 0; i < 6; ++i) VICINITY_REQUIRE_OK(bed.Write(0));
  bed.Fold();
  for (int i = 0; i < 4; ++i) VICINITY_REQUIRE_OK(bed.Write(0));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto shard, bed.server(0).in_force()->live()->Find({0}));
  VICINITY_REQUIRE_OK(shard->cursors()->Move("mirror", {8, 0}));
  VICINITY_REQUIRE_OK(shard->cursors()->Move("late", {5, 0}));
  SwapOptions options = bed.swap_options();
  const auto calls = bed.calls(&Answers);
  const absl::Status behind = SwapDatasets(options, calls, NoProgress()).status();
  VICINITY_CHECK_CODE(behind, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(behind.message()), Catch::Contains("\"late\"") &&
                                                Catch::Contains("version 5") &&
                                                Catch::Contains("changes are taken as before"));
  VICINITY_CHECK_OK(bed.Write(0));
  options.leave_readers_behind = true;
  VICINITY_REQUIRE_OK(SwapDatasets(options, calls, NoProgress()).status());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto next, bed.server(0).in_force()->live()->Find({0}));
  CHECK(next->cursors()->Find("mirror") == LogPosition{2, 0});
  CHECK(next->cursors()->List().size() == 1);
}

TEST_CASE("steps are refused out of order", "[dataset_swap]") {
  SwapBed bed;
  VICINITY_REQUIRE_OK(bed.Write(0));
  bed.Fold();
  proto::SwapRequest request;
  request.set_fingerprint(bed.next_fingerprint());
  request.set_follows(bed.dataset().fingerprint());
  request.set_data(bed.next_data());
  const auto step = [&](proto::SwapStep which) {
    request.set_step(which);
    return bed.server(0).Swap(request).status();
  };
  VICINITY_CHECK_OK(step(proto::SWAP_ASK));
  VICINITY_CHECK_CODE(step(proto::SWAP_CLOSE), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(step(proto::SWAP_COMMIT), absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_OK(step(proto::SWAP_PREPARE));
  VICINITY_CHECK_CODE(step(proto::SWAP_COMMIT), absl::StatusCode::kFailedPrecondition);
  proto::CarryRequest carry;
  carry.set_fingerprint(bed.dataset().fingerprint());
  VICINITY_CHECK_CODE(Carry(*bed.server(0).Of(carry.fingerprint()), carry).status(),
                      absl::StatusCode::kFailedPrecondition);
  VICINITY_CHECK_CODE(
      bed.Send(0, bed.next_fingerprint(), bed.last_session(0), BatchOf(bed.dataset(), 0, 1))
          .status(),
      absl::StatusCode::kUnavailable);
  VICINITY_CHECK_OK(step(proto::SWAP_CLOSE));
  VICINITY_CHECK_CODE(bed.Write(0), absl::StatusCode::kUnavailable);
  bed.Stop(0);
  bed.Start(0);
  VICINITY_CHECK_CODE(bed.Write(0), absl::StatusCode::kUnavailable);
  VICINITY_CHECK_OK(step(proto::SWAP_ABORT));
  VICINITY_CHECK_OK(bed.Write(0));
  request.set_data(bed.data());
  const absl::Status other = step(proto::SWAP_PREPARE);
  VICINITY_CHECK_CODE(other, absl::StatusCode::kFailedPrecondition);
  request.set_data(bed.File("nowhere"));
  CHECK_FALSE(step(proto::SWAP_PREPARE).ok());
  request.set_data(bed.next_data());
  VICINITY_CHECK_OK(step(proto::SWAP_PREPARE));
  VICINITY_CHECK_OK(step(proto::SWAP_CLOSE));
  VICINITY_CHECK_OK(step(proto::SWAP_COMMIT));
  VICINITY_CHECK_OK(step(proto::SWAP_COMMIT));
  VICINITY_CHECK_CODE(step(proto::SWAP_ABORT), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vicinity::cli
