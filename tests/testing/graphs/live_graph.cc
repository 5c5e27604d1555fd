#include "tests/testing/graphs/live_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/overlay/live_shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

LiveGraph::LiveGraph(const MemoryGraph& graph, const Placement& placement, const std::string& data,
                     std::string changes, uint64_t seed)
    : graph_(graph), changes_(std::move(changes)), random_(seed) {
  Dataset::Options options;
  options.grows = true;
  auto dataset = Dataset::Open(data, options);
  VICINITY_REQUIRE_OK(dataset.status());
  dataset_ = *std::move(dataset);
  for (const std::unique_ptr<Shard>& shard : dataset_->shards()) {
    bases_.push_back(std::make_unique<LiveBase>(
        LiveBase{dataset_->schema(), dataset_->book(), *shard, dataset_->fingerprint()}));
    models_.push_back(std::make_unique<LiveModel>(graph, placement, *bases_.back()));
    batches_.push_back(
        std::make_unique<RandomBatches>(*bases_.back(), *models_.back(), seed + 7 * bases_.size()));
    sequences_.push_back(0);
  }
  Reopen();
}

void LiveGraph::Reopen() {
  live_.reset();
  auto live = LiveDataset::Open(*dataset_, changes_, LiveDatasetOptions());
  VICINITY_REQUIRE_OK(live.status());
  live_ = *std::move(live);
}

absl::Status LiveGraph::ApplyAny() {
  const auto shard = static_cast<int32_t>(Below(bases_.size()));
  const proto::WriteBatch batch = batches_[shard]->Batch();
  return batch.ByteSizeLong() == 0 ? absl::OkStatus() : Apply(shard, batch).status();
}

absl::StatusOr<AppliedBatch> LiveGraph::Apply(int32_t shard, const proto::WriteBatch& batch) {
  proto::WriteSession session;
  session.set_id("writer");
  session.set_sequence(sequences_[shard] + 1);
  VICINITY_ASSIGN_OR_RETURN(const std::shared_ptr<LiveShard> to, live_->Find({shard}));
  VICINITY_ASSIGN_OR_RETURN(AppliedBatch applied, to->Apply(session, batch, Durability::kBuffered,
                                                            absl::Now() + absl::Minutes(1)));
  ++sequences_[shard];
  models_[shard]->Apply(*bases_[shard], batch);
  return applied;
}

// Puts together what is expected.
class LiveGraph::Folding {
 public:
  Folding(const LiveGraph& live, const EdgeOrder& order) : live_(live), order_(order) {}

  Folded Fold() {
    MemoryGraph& graph = folded_.graph;
    graph.schema = live_.graph_.schema;
    std::vector<std::vector<int64_t>> begins;
    for (int32_t t = 0; t < static_cast<int32_t>(graph.schema.node_types.size()); ++t) {
      AddNodes(t, &begins.emplace_back());
    }
    folded_.placement.book = *Book::Create(std::move(begins));
    for (int32_t e = 0; e < static_cast<int32_t>(graph.schema.edge_types.size()); ++e) AddEdges(e);
    return std::move(folded_);
  }

 private:
  struct Edge {
    std::pair<int, int64_t> order;
    int64_t source;  // positions
    int64_t target;
    int64_t position;
    int32_t shard;
  };

  void AddNodes(int32_t type, std::vector<int64_t>* begins) {
    NodeTypeSpec& spec = folded_.graph.schema.node_types[type];
    MemoryNodes& nodes = folded_.graph.nodes.emplace_back();
    nodes.columns.resize(spec.columns.size());
    nodes.ragged.resize(spec.ragged.size());
    std::map<int64_t, int64_t>& positions = positions_.emplace_back();
    std::vector<int64_t>& order = folded_.placement.order.emplace_back();
    begins->push_back(0);
    for (size_t s = 0; s < live_.models_.size(); ++s) {
      const ModelNodes& model = live_.models_[s]->nodes(type);
      const LiveBase& base = live_.base(static_cast<int32_t>(s));
      for (size_t row = 0; row < model.keys.size(); ++row) {
        const uint64_t key = model.keys[row];
        const int64_t id =
            base.book.NodeAt({type}, {base.shard.id(), {static_cast<int64_t>(row)}}).value;
        const auto lists = static_cast<size_t>(base.book.DirectoryShard(key).value);
        if (live_.models_[lists]->nodes(type).directory.at(key) != id) continue;
        positions[id] = static_cast<int64_t>(nodes.keys.size());
        order.push_back(static_cast<int64_t>(order.size()));
        nodes.keys.push_back(key);
        if (!model.names.empty()) nodes.names.push_back(model.names[row]);
        for (size_t c = 0; c < nodes.columns.size(); ++c) nodes.columns[c] += model.columns[c][row];
        for (size_t c = 0; c < nodes.ragged.size(); ++c) {
          nodes.ragged[c].push_back(model.ragged[c][row]);
        }
      }
      begins->push_back(static_cast<int64_t>(nodes.keys.size()));
    }
    const auto is_out = [&](uint64_t key) { return key >= nodes.keys.size(); };
    if (spec.id_kind == IdKind::kDense &&
        std::any_of(nodes.keys.begin(), nodes.keys.end(), is_out)) {
      spec.id_kind = IdKind::kInt64;
    }
  }

  void AddEdges(int32_t type) {
    const EdgeTypeSpec& spec = folded_.graph.schema.edge_types[type];
    std::vector<Edge> edges = EdgesOf(type);
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.order < b.order; });
    MemoryEdges& all = folded_.graph.edges.emplace_back();
    all.columns.resize(spec.columns.size());
    for (const Edge& edge : edges) {
      all.sources.push_back(edge.source);
      all.targets.push_back(edge.target);
      for (size_t c = 0; c < spec.columns.size(); ++c) {
        const std::string& copied = spec.columns[c].of_source;
        if (copied.empty()) {
          all.columns[c] += live_.models_[edge.shard]->edges(type).columns[c][edge.position];
        } else {
          const int column = folded_.graph.schema.node_types[spec.source_type].FindColumn(copied);
          all.columns[c] += folded_.graph.row({spec.source_type}, column, edge.source);
        }
      }
    }
  }
  std::vector<Edge> EdgesOf(int32_t type) const {
    const EdgeTypeSpec& spec = folded_.graph.schema.edge_types[type];
    const auto num_shards = static_cast<int32_t>(live_.models_.size());
    std::vector<Edge> edges;
    for (int32_t s = 0; s < num_shards; ++s) {
      const LiveBase& base = live_.base(s);
      const ModelEdges& model = live_.models_[s]->edges(type);
      for (size_t row = 0; row < model.lists.size(); ++row) {
        const int64_t id =
            base.book.NodeAt({spec.target_type}, {{s}, {static_cast<int64_t>(row)}}).value;
        const auto target = positions_[spec.target_type].find(id);
        if (target == positions_[spec.target_type].end()) continue;
        for (const ModelEdge& edge : model.lists[row]) {
          const auto source = positions_[spec.source_type].find(edge.source);
          if (source == positions_[spec.source_type].end()) continue;
          edges.push_back(
              {order_(type, s, edge.edge_id), source->second, target->second, edge.position, s});
        }
      }
    }
    return edges;
  }

  const LiveGraph& live_;
  const EdgeOrder& order_;
  Folded folded_{MemoryGraph(), Placement{{}, *Book::Create({{0, 0}})}};
  std::vector<std::map<int64_t, int64_t>> positions_;  // by type and old global id
};

LiveGraph::Folded LiveGraph::Expected(const EdgeOrder& order) const {
  return Folding(*this, order).Fold();
}

}  // namespace vicinity::testing
