#include "partition/fold/carried_changes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_files.h"
#include "partition/dataset/shard_reader.h"
#include "partition/fold/fold.h"
#include "partition/fold/fold_source.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_dataset.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_values.h"
#include "partition/overlay/live_view.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"
#include "proto/manifest.pb.h"
#include "tests/testing/graphs/live_graph.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/graphs/written_history.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

using testing::LiveGraph;
using testing::LiveModel;
using testing::MemoryGraph;
using testing::Placement;
using testing::WrittenHistory;

using Views = std::vector<std::shared_ptr<const LiveView>>;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

// Four kinds: several types; dense ids with weights; lists in the order of a column of edges; of a
// copy of the sources'.
MemoryGraph GraphOf(int kind, uint64_t seed) {
  if (kind == 0) return testing::TypedGraph(12, 9, 5, seed);
  testing::RandomGraphOptions options;
  options.num_nodes = 15;
  options.num_edges = 50;
  options.weights = true;
  options.seed = seed;
  if (kind == 1) return testing::RandomGraph(options);
  options.times = true;
  options.time_order = kind == 2;
  options.id_kind = IdKind::kString;
  MemoryGraph graph = testing::RandomGraph(options);
  if (kind == 2) return graph;
  graph.schema.node_types[0].columns.push_back({"born", DType::kInt64, {}});
  graph.schema.edge_types[0].columns.push_back({"born_of_source", DType::kInt64, {}, "born"});
  graph.schema.edge_types[0].time_order = "born_of_source";
  std::string& born = graph.nodes[0].columns.emplace_back();
  for (int64_t i = 0; i < options.num_nodes; ++i) {
    const int64_t value = i * 7 % 5;
    born.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  std::string& copies = graph.edges[0].columns.emplace_back();
  const int column = static_cast<int>(graph.schema.node_types[0].columns.size()) - 1;
  for (const int64_t source : graph.edges[0].sources) {
    copies += graph.row({0}, column, source);
  }
  return graph;
}

std::unique_ptr<Dataset> OpenGrowing(const std::string& directory) {
  Dataset::Options options;
  options.grows = true;
  auto dataset = Dataset::Open(directory, options);
  VICINITY_REQUIRE_OK(dataset.status());
  return *std::move(dataset);
}

std::shared_ptr<LiveShard> ShardOf(const LiveDataset& live, int32_t shard) {
  auto found = live.Find({shard});
  VICINITY_REQUIRE_OK(found.status());
  return *found;
}

Views ViewsAt(const LiveDataset& live, const std::vector<uint64_t>& versions) {
  Views views;
  for (size_t s = 0; s < versions.size(); ++s) {
    auto view = ShardOf(live, static_cast<int32_t>(s))->At(versions[s]);
    VICINITY_REQUIRE_OK(view.status());
    views.push_back(*std::move(view));
  }
  return views;
}

std::vector<uint64_t> LastVersions(const LiveDataset& live, int32_t num_shards) {
  std::vector<uint64_t> versions;
  for (int32_t s = 0; s < num_shards; ++s) versions.push_back(ShardOf(live, s)->version());
  return versions;
}

// What a fold at these versions leaves behind, and what is carried after it, said naively.
class NaiveFold {
 public:
  NaiveFold(const WrittenHistory& history, const std::vector<uint64_t>& versions)
      : history_(history), book_(history.live().dataset().book()), versions_(versions) {
    for (int32_t s = 0; s < history.num_shards(); ++s) NoteEdges(s);
  }

  // Whether a node was there at the fold and is not taken over.
  bool IsLeftBehind(int32_t type, uint64_t node) const {
    const Book::Place place = book_.PlaceOf({type}, {static_cast<int64_t>(node)});
    const LiveModel& owner = ModelOf(place.shard.value);
    const auto row = static_cast<size_t>(place.row.value);
    if (row >= owner.nodes(type).keys.size()) return false;
    const uint64_t key = owner.nodes(type).keys[row];
    const LiveModel& lists = ModelOf(book_.DirectoryShard(key).value);
    return lists.nodes(type).directory.at(key) != static_cast<int64_t>(node);
  }
  // Edges that the fold has come first, in the order of a fold. Those since are numbered anew.
  std::pair<int, int64_t> OrderOf(int32_t type, int32_t shard, int64_t edge_id) const {
    const auto carried = numbers_.find({type, shard, edge_id});
    if (carried == numbers_.end()) return LiveGraph::ById(type, shard, edge_id);
    return {2, carried->second * history_.num_shards() + shard};
  }
  // Of the edges that came since.
  int64_t num_left_out() const { return num_left_out_; }
  // Whether all ids of a dense type were 0 to n - 1 at the fold.
  bool WasDense(int32_t type) const {
    std::set<uint64_t> keys;
    for (int32_t s = 0; s < history_.num_shards(); ++s) {
      for (const auto& [key, node] : ModelOf(s).nodes(type).directory) {
        if (node >= 0) keys.insert(key);
      }
    }
    return keys.empty() || *keys.rbegin() == keys.size() - 1;
  }

 private:
  const LiveModel& ModelOf(int32_t shard) const {
    return history_.at(shard, versions_[shard]).model;
  }
  void NoteEdges(int32_t shard) {
    const Schema& schema = history_.live().dataset().schema();
    std::vector<int64_t> seen(schema.edge_types.size());     // new ones
    std::vector<int64_t> carried(schema.edge_types.size());  // of them
    for (uint64_t version = 1; version <= history_.last(shard); ++version) {
      for (const proto::NewEdges& part : history_.at(shard, version).batch.new_edges()) {
        const int32_t type = part.edge_type();
        const EdgeTypeSpec& spec = schema.edge_types[type];
        for (int i = 0; i < part.targets_size(); ++i) {
          const int64_t id = LiveBase::kFirstNewEdge + seen[type]++ * history_.num_shards() + shard;
          if (version <= versions_[shard]) continue;
          if (IsLeftBehind(spec.source_type, part.sources(i)) ||
              IsLeftBehind(spec.target_type, part.targets(i))) {
            ++num_left_out_;
            continue;
          }
          numbers_[{type, shard, id}] = carried[type]++;
        }
      }
    }
  }

  const WrittenHistory& history_;
  const Book& book_;
  const std::vector<uint64_t> versions_;
  std::map<std::tuple<int32_t, int32_t, int64_t>, int64_t> numbers_;
  int64_t num_left_out_ = 0;
};

// The old shards and the new ones while changes are carried from these to those.
class Carrying {
 public:
  Carrying(WrittenHistory* history, std::vector<uint64_t> versions, std::string folder)
      : history_(*history),
        naive_(*history, versions),
        folder_(std::move(folder)),
        source_(history->live().dataset(), ViewsAt(history->live().live(), versions)) {
    VICINITY_REQUIRE_OK(WriteFolded(source_, folder_ + "/folded", NoProgress()).status());
    folded_ = OpenGrowing(folder_ + "/folded");
    auto live = LiveDataset::Open(*folded_, folder_ + "/carried", LiveDatasetOptions());
    VICINITY_REQUIRE_OK(live.status());
    live_ = *std::move(live);
    auto carried = CarriedChanges::Prepare(source_, *folded_, NoProgress());
    VICINITY_REQUIRE_OK(carried.status());
    carried_ = *std::move(carried);
  }
  int64_t num_left_out() const { return naive_.num_left_out(); }

  bool HasMore(int32_t shard) const {
    return carried_->next(ShardId{shard}) <= history_.last(shard);
  }
  void CarryNext(int32_t s) {
    const ShardId shard{s};
    const uint64_t version = carried_->next(shard);
    auto change = ShardOf(history_.live().live(), s)->ReadChange(version);
    VICINITY_REQUIRE_OK(change.status());
    auto carried = carried_->Carry(shard, *change);
    VICINITY_REQUIRE_OK(carried.status());
    CHECK(carried->version() == version - source_.reader(shard).version());
    CHECK(carried->session().SerializeAsString() == change->session().SerializeAsString());
    CHECK(carried->unix_micros() == change->unix_micros());
    CHECK(carried->batch().new_nodes_size() == change->batch().new_nodes_size());
    CHECK(carried->batch().new_edges_size() == change->batch().new_edges_size());
    VICINITY_REQUIRE_OK(ShardOf(*live_, s)->Repeat(*carried, Durability::kBuffered, Soon()));
    const absl::Status again = carried_->Carry(shard, *change).status();
    CHECK(again.code() == absl::StatusCode::kInvalidArgument);
  }
  void Reopen() {
    live_.reset();
    auto live = LiveDataset::Open(*folded_, folder_ + "/carried", LiveDatasetOptions());
    VICINITY_REQUIRE_OK(live.status());
    live_ = *std::move(live);
  }

  // What the old shard reads at its version that was carried last is what the new one reads now.
  void CheckReads(int32_t s) const {
    const ShardId shard{s};
    const uint64_t version = carried_->next(shard) - 1;
    CAPTURE(s, version);
    const LiveModel& model = history_.at(s, version).model;
    const LiveBase& base = history_.live().base(s);
    auto view = ShardOf(*live_, s)->Latest();
    CHECK(view->version() == version - source_.reader(shard).version());
    const ShardReader reader(*folded_->shard(shard), view.get());
    for (int32_t t = 0; t < folded_->book().num_node_types(); ++t)
      CheckNodes(base, model, reader, t);
    for (int32_t e = 0; e < static_cast<int32_t>(folded_->schema().edge_types.size()); ++e) {
      CheckEdges(base, model, reader, e);
    }
  }

  // Folded again, they are what folding the old ones at once gives.
  void CheckFolds() {
    const auto num_shards = history_.num_shards();
    const std::string twice = folder_ + "/twice";
    const std::string once = folder_ + "/once";
    const std::string fresh = folder_ + "/fresh";
    const FoldSource carried(*folded_, ViewsAt(*live_, LastVersions(*live_, num_shards)));
    VICINITY_REQUIRE_OK(WriteFolded(carried, twice, NoProgress()).status());
    LiveDataset& old = history_.live().live();
    const FoldSource all(history_.live().dataset(), ViewsAt(old, LastVersions(old, num_shards)));
    VICINITY_REQUIRE_OK(WriteFolded(all, once, NoProgress()).status());
    LiveGraph::Folded expected = history_.live().Expected(
        [&](int32_t type, int32_t shard, int64_t id) { return naive_.OrderOf(type, shard, id); });
    Undense(&expected.graph.schema);
    VICINITY_REQUIRE_OK(testing::WriteGraph(expected.graph, expected.placement, fresh));
    const auto is = Dataset::Open(twice);
    const auto naive = Dataset::Open(fresh);
    const auto at_once = Dataset::Open(once);
    VICINITY_REQUIRE_OK(is.status());
    VICINITY_REQUIRE_OK(naive.status());
    VICINITY_REQUIRE_OK(at_once.status());
    CHECK((*is)->fingerprint() == (*naive)->fingerprint());
    CHECK((*is)->manifest().audit().SerializeAsString() ==
          (*naive)->manifest().audit().SerializeAsString());
    CheckSameFiles(**is, **at_once);
    for (const std::string& made : {twice, once, fresh}) fs::remove_all(made);
  }

 private:
  // A type that had gaps at the fold stays without dense ids when they are filled later.
  void Undense(Schema* schema) const {
    for (size_t t = 0; t < schema->node_types.size(); ++t) {
      NodeTypeSpec& type = schema->node_types[t];
      const bool was = naive_.WasDense(static_cast<int32_t>(t));
      if (type.id_kind == IdKind::kDense && !was) type.id_kind = IdKind::kInt64;
    }
  }

  // Byte for byte, but for the edges' numbers where those of several shards may be in another
  // order.
  void CheckSameFiles(const Dataset& a, const Dataset& b) const {
    REQUIRE(a.manifest().shards_size() == b.manifest().shards_size());
    for (int s = 0; s < a.manifest().shards_size(); ++s) {
      std::set<std::string> edge_ids;
      for (int32_t e = 0; e < static_cast<int32_t>(a.schema().edge_types.size()); ++e) {
        if (history_.num_shards() > 1) edge_ids.insert(EdgeIdsPath(a.schema(), {s}, {e}));
      }
      const proto::ShardEntry& files = a.manifest().shards(s);
      const proto::ShardEntry& others = b.manifest().shards(s);
      REQUIRE(files.files_size() == others.files_size());
      for (int f = 0; f < files.files_size(); ++f) {
        CAPTURE(files.files(f).path());
        CHECK(files.files(f).path() == others.files(f).path());
        CHECK(files.files(f).size() == others.files(f).size());
        if (edge_ids.count(files.files(f).path()) > 0) continue;
        CHECK(files.files(f).checksum() == others.files(f).checksum());
      }
    }
  }

  void CheckNodes(const LiveBase& base, const LiveModel& model, const ShardReader& reader,
                  int32_t type) const {
    const testing::ModelNodes& nodes = model.nodes(type);
    const ShardColumn keys = reader.KeysColumn({type});
    int64_t next = 0;  // row
    for (size_t row = 0; row < nodes.keys.size(); ++row) {
      const auto node = static_cast<uint64_t>(
          base.book.NodeAt({type}, {base.shard.id(), {static_cast<int64_t>(row)}}).value);
      const int64_t id = carried_->NewNode({type}, node);
      CHECK((id < 0) == naive_.IsLeftBehind(type, node));
      if (id < 0) continue;
      const auto at = static_cast<uint64_t>(next++);
      CHECK(folded_->book().PlaceOf({type}, {id}).row.value == static_cast<int64_t>(at));
      CHECK(folded_->book().OwnerOf({type}, {id}) == base.shard.id());
      CHECK(RowOf(reader, keys, at) ==
            std::string(reinterpret_cast<const char*>(&nodes.keys[row]), sizeof(uint64_t)));
      for (size_t c = 0; c < nodes.columns.size(); ++c) {
        const ShardColumn column = reader.NodeColumn({type}, static_cast<int32_t>(c));
        CHECK(RowOf(reader, column, at) == nodes.columns[c][row]);
      }
      for (size_t c = 0; c < nodes.ragged.size(); ++c) {
        CHECK(RaggedOf(reader, type, static_cast<int32_t>(c), at) == nodes.ragged[c][row]);
      }
      if (!nodes.names.empty()) CHECK(RaggedOf(reader, type, kNamesColumn, at) == nodes.names[row]);
    }
    CHECK(reader.num_nodes({type}) == next);
    for (const auto& [key, node] : nodes.directory) {
      int64_t found = 0;
      VICINITY_REQUIRE_OK(reader.FindKeys({type}, {key}, &found));
      CHECK(found == (node < 0 ? -1 : carried_->NewNode({type}, static_cast<uint64_t>(node))));
    }
  }
  static std::string RowOf(const ShardReader& reader, const ShardColumn& column, uint64_t row) {
    std::string bytes;
    VICINITY_REQUIRE_OK(reader.ReadRows(
        column, {row}, [&] { bytes.clear(); },
        [&](size_t, const char* at) { bytes.assign(at, column.row_bytes()); }));
    return bytes;
  }
  static std::string RaggedOf(const ShardReader& reader, int32_t type, int32_t column,
                              uint64_t row) {
    std::string bytes;
    VICINITY_REQUIRE_OK(reader.ReadRagged(
        {type}, column, {row}, [&] { bytes.clear(); },
        [&](size_t, std::string_view at) {
          bytes = std::string(at);
          return true;
        }));
    return bytes;
  }

  // Each edge with its values; of copies of nodes' columns the files have the nodes' own.
  using Edges = std::vector<std::tuple<int64_t, int64_t, std::string>>;

  void CheckEdges(const LiveBase& base, const LiveModel& model, const ShardReader& reader,
                  int32_t type) const {
    const EdgeTypeSpec& spec = folded_->schema().edge_types[type];
    const testing::ModelEdges& edges = model.edges(type);
    for (size_t row = 0; row < edges.lists.size(); ++row) {
      const auto target = static_cast<uint64_t>(
          base.book.NodeAt({spec.target_type}, {base.shard.id(), {static_cast<int64_t>(row)}})
              .value);
      const int64_t id = carried_->NewNode({spec.target_type}, target);
      if (id < 0) continue;
      Edges expected;
      for (const testing::ModelEdge& edge : edges.lists[row]) {
        const auto source = static_cast<uint64_t>(edge.source);
        const int64_t now =
            carried_->NewEdge(base.shard.id(), {type}, static_cast<uint64_t>(edge.edge_id));
        CHECK((now < 0) == naive_.IsLeftBehind(spec.source_type, source));
        if (now < 0) continue;
        std::string values;
        for (size_t c = 0; c < spec.columns.size(); ++c) {
          if (spec.columns[c].of_source.empty()) values += edges.columns[c][edge.position];
        }
        expected.emplace_back(carried_->NewNode({spec.source_type}, source), now, values);
      }
      Edges is = EdgesOf(reader, type, folded_->book().RowOf({spec.target_type}, {id}).value);
      std::sort(expected.begin(), expected.end());
      std::sort(is.begin(), is.end());
      CHECK(is == expected);
    }
  }
  Edges EdgesOf(const ShardReader& reader, int32_t type, int64_t row) const {
    const EdgeTypeSpec& spec = folded_->schema().edge_types[type];
    Edges edges;
    std::vector<uint64_t> positions;
    const auto take = [&](const ListPart& list) {
      edges.clear();
      positions.clear();
      for (int64_t i = 0; i < list.size(); ++i) {
        edges.emplace_back(list.source(i), list.edge_id(i), "");
        positions.push_back(static_cast<uint64_t>(list.position(i)));
      }
    };
    VICINITY_REQUIRE_OK(reader.ReadList({type}, static_cast<uint64_t>(row), 0, 1 << 20, take));
    for (size_t c = 0; c < spec.columns.size(); ++c) {
      if (!spec.columns[c].of_source.empty()) continue;
      const ShardColumn column = reader.EdgeColumn({type}, static_cast<int32_t>(c));
      for (size_t i = 0; i < edges.size(); ++i) {
        std::get<2>(edges[i]) += RowOf(reader, column, positions[i]);
      }
    }
    return edges;
  }

  WrittenHistory& history_;
  const NaiveFold naive_;
  const std::string folder_;
  const FoldSource source_;
  std::unique_ptr<Dataset> folded_;
  std::unique_ptr<LiveDataset> live_;
  std::unique_ptr<CarriedChanges> carried_;
};

TEST_CASE("a fold at any versions that fit, and what came since, is a fold of all", "[carried]") {
  const int first = testing::SizeFromEnvironment("VICINITY_CARRIED_SEED", 1);
  const int count = testing::SizeFromEnvironment("VICINITY_CARRIED_SEEDS", 48);
  int64_t num_carried = 0;
  int64_t num_left_out = 0;
  for (int seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    const testing::TempDir folder;
    const MemoryGraph graph = GraphOf(seed % 4, seed);
    const auto num_shards = static_cast<int32_t>(1 + seed / 4 % 4);
    const Placement placement = testing::Shuffled(graph, num_shards, seed);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph, placement, folder.File("data")));
    WrittenHistory history(graph, placement, folder.File("data"), folder.File("changes"), seed);
    for (uint64_t steps = 20 + history.live().Below(60); steps > 0; --steps) history.Step();
    Carrying carrying(&history, history.FittingVersions(history.AnyVersions()), folder.File(""));
    for (int32_t s = 0; s < num_shards; ++s) carrying.CheckReads(s);
    // The changes of several shards in any order.
    for (bool more = true; more;) {
      more = false;
      for (int32_t s = 0; s < num_shards; ++s) {
        if (!carrying.HasMore(s)) continue;
        more = true;
        if (history.live().Below(2) == 0) continue;
        carrying.CarryNext(s);
        carrying.CheckReads(s);
        ++num_carried;
      }
      if (history.live().Below(16) == 0) carrying.Reopen();
    }
    carrying.CheckFolds();
    num_left_out += carrying.num_left_out();
  }
  std::cout << count << " histories, " << num_carried << " changes carried, " << num_left_out
            << " new edges left out\n";
  if (count >= 48) CHECK(num_left_out > 0);
}

// A graph of two shards with some changes.
class CarriedChangesTest {
 public:
  CarriedChangesTest()
      : graph_(GraphOf(1, 1)),
        placement_(testing::Shuffled(graph_, 2, 1)),
        history_(Write(), placement_, folder_.File("data"), folder_.File("changes"), 1) {
    while (history_.last(0) < 10 || history_.last(1) < 10) history_.Step();
  }
  FoldSource At(std::vector<uint64_t> versions) {
    return {history_.live().dataset(), ViewsAt(history_.live().live(), versions)};
  }
  std::unique_ptr<Dataset> FoldOf(const FoldSource& source, const std::string& name) {
    VICINITY_REQUIRE_OK(WriteFolded(source, folder_.File(name), NoProgress()).status());
    return OpenGrowing(folder_.File(name));
  }
  proto::Change Change(int32_t shard, uint64_t version) {
    auto change = ShardOf(history_.live().live(), shard)->ReadChange(version);
    VICINITY_REQUIRE_OK(change.status());
    return *std::move(change);
  }
  std::string File(const std::string& name) { return folder_.File(name); }

 private:
  const MemoryGraph& Write() {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, folder_.File("data")));
    return graph_;
  }

  const testing::TempDir folder_;
  const MemoryGraph graph_;
  const Placement placement_;
  WrittenHistory history_;
};

TEST_CASE_METHOD(CarriedChangesTest, "what begins a term is carried empty", "[carried]") {
  const FoldSource source = At({4, 5});
  const auto folded = FoldOf(source, "folded");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto carried,
                                CarriedChanges::Prepare(source, *folded, NoProgress()));
  proto::Change begins;
  begins.set_version(5);
  begins.set_term(7);
  begins.set_unix_micros(8);
  begins.mutable_session()->set_id("writer of term 7");
  begins.mutable_session()->set_sequence(1);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Change first, carried->Carry({0}, begins));
  CHECK(first.version() == 1);
  CHECK(first.term() == 7);
  CHECK(first.batch().ByteSizeLong() == 0);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto live,
                                LiveDataset::Open(*folded, File("carried"), LiveDatasetOptions()));
  const auto shard = ShardOf(*live, 0);
  VICINITY_REQUIRE_OK(shard->Repeat(first, Durability::kBuffered, Soon()));
  CHECK(shard->TermOf(1) == 7);
}

TEST_CASE_METHOD(CarriedChangesTest, "a fold of other versions is refused", "[carried]") {
  const FoldSource source = At({10, 10});
  const FoldSource other = At({0, 0});
  const auto folded = FoldOf(other, "other");
  CHECK(CarriedChanges::Prepare(source, *folded, NoProgress()).status().code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(CarriedChangesTest,
                 "a change that is none of the shard is refused, and the next taken", "[carried]") {
  const FoldSource source = At({3, 3});
  const auto folded = FoldOf(source, "folded");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto carried,
                                CarriedChanges::Prepare(source, *folded, NoProgress()));
  CHECK(carried->next(ShardId{0}) == 4);
  CHECK(carried->Carry({0}, Change(0, 3)).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(carried->Carry({0}, Change(0, 5)).status().code() == absl::StatusCode::kInvalidArgument);
  proto::Change damaged;
  damaged.set_version(4);
  damaged.mutable_batch()->add_node_rows()->add_nodes(0);  // without a row
  CHECK(carried->Carry({0}, damaged).status().code() == absl::StatusCode::kDataLoss);
  damaged = Change(0, 4);
  damaged.add_first_edges(5);
  CHECK(carried->Carry({0}, damaged).status().code() == absl::StatusCode::kDataLoss);
  CHECK(carried->next(ShardId{0}) == 4);
  VICINITY_REQUIRE_OK(carried->Carry({0}, Change(0, 4)).status());
  CHECK(carried->next(ShardId{0}) == 5);
}

}  // namespace
}  // namespace vicinity
