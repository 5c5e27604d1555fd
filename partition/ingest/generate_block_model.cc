#include "partition/ingest/generate_block_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/ingest/csc_builder.h"
#include "partition/ingest/edge_spool.h"
#include "partition/ingest/formats/spool_file.h"
#include "partition/ingest/generated_graph.h"
#include "partition/ingest/weighted_pick.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/parallel.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr double kMostEdges = 0x1p40;
// Weights are whole sixteenths, so that picks are exact and libm's last bit decides nothing.
constexpr double kWeightUnits = 16;
// Integer columns keep this many steps for each unit of a mean.
constexpr double kIntegerSteps = 16;

// Who is in which community, and how likely an edge is to end at whom.
//
// Memory: about 36 bytes a node.
class Communities {
 public:
  Communities(const BlockModelOptions& options, Progress* progress)
      : num_nodes_(options.num_nodes), num_communities_(options.num_communities) {
    ShuffleMembers(options.seed);
    std::vector<uint32_t> weights(static_cast<size_t>(num_nodes_));
    DrawWeights(options, &weights, progress);
    BuildPicks(weights, progress);
  }

  int64_t num_nodes() const { return num_nodes_; }
  int64_t begin(int64_t community) const {
    return static_cast<int64_t>(static_cast<__int128>(num_nodes_) * community / num_communities_);
  }
  // Members lie together; the position tells the community.
  int64_t member(int64_t position) const { return members_[static_cast<size_t>(position)]; }
  int64_t CommunityAt(int64_t position) const {
    const auto community =
        static_cast<int64_t>(static_cast<__int128>(position) * num_communities_ / num_nodes_);
    // Rounding down twice can be one short.
    return begin(community + 1) <= position ? community + 1 : community;
  }

  int64_t PickCommunity(NodeDraws* draws) const { return communities_.Pick(draws); }
  int64_t PickMember(int64_t community, NodeDraws* draws) const {
    return member(begin(community) + picks_[static_cast<size_t>(community)].Pick(draws));
  }
  // One other than `community`, in proportion to weight. There must be two.
  int64_t PickOtherCommunity(int64_t community, NodeDraws* draws) const {
    // More than one try in a million is needed only where one community has nearly all weight.
    for (int tries = 0; tries < 256; ++tries) {
      const int64_t other = PickCommunity(draws);
      if (other != community) return other;
    }
    return (community + 1) % num_communities_;
  }

 private:
  void ShuffleMembers(uint64_t seed) {
    members_.resize(static_cast<size_t>(num_nodes_));
    std::iota(members_.begin(), members_.end(), 0);
    NodeDraws draws(StreamFor(seed, Purpose::kCommunity), 0);
    for (size_t i = members_.size(); i > 1; --i) {
      std::swap(members_[i - 1], members_[draws.Below(i)]);
    }
  }

  // Pareto's law, cut off where one node would begin to dominate.
  void DrawWeights(const BlockModelOptions& options, std::vector<uint32_t>* weights,
                   Progress* progress) {
    const uint64_t stream = StreamFor(options.seed, Purpose::kWeight);
    const double power = -1 / (options.exponent - 1);
    const double cap = std::max(std::sqrt(static_cast<double>(num_nodes_)), 1.0);
    // Nothing in it can fail.
    (void)ForNodes("drawing degrees", num_nodes_, progress, [&](int64_t begin, int64_t end) {
      for (int64_t position = begin; position < end; ++position) {
        NodeDraws draws(stream, static_cast<uint64_t>(member(position)));
        const double weight = std::min(std::pow(1 - Uniform(&draws), power), cap);
        (*weights)[static_cast<size_t>(position)] = static_cast<uint32_t>(weight * kWeightUnits);
      }
    });
  }

  void BuildPicks(const std::vector<uint32_t>& weights, Progress* progress) {
    picks_.resize(static_cast<size_t>(num_communities_));
    progress->Begin("weighing communities", num_communities_, "communities");
    (void)ForEachInParallel(
        num_communities_, progress, [&](int64_t community) -> absl::StatusOr<int64_t> {
          const size_t size = static_cast<size_t>(begin(community + 1) - begin(community));
          picks_[static_cast<size_t>(community)] = WeightedPick(
              absl::MakeSpan(weights).subspan(static_cast<size_t>(begin(community)), size));
          return 1;
        });
    progress->End();
    std::vector<uint64_t> totals;
    for (const WeightedPick& pick : picks_) totals.push_back(pick.total());
    communities_ = WeightedPick(absl::MakeConstSpan(totals));
  }

  const int64_t num_nodes_;
  const int64_t num_communities_;
  std::vector<int64_t> members_;     // community by community
  std::vector<WeightedPick> picks_;  // of a member, by community
  WeightedPick communities_;
};

void MakeEdges(const BlockModelOptions& options, const Communities& communities, uint64_t stream,
               int64_t first, absl::Span<Edge> edges) {
  for (size_t i = 0; i < edges.size(); ++i) {
    NodeDraws draws(stream, static_cast<uint64_t>(first) + i);
    const int64_t own = communities.PickCommunity(&draws);
    const bool leaves = options.num_communities > 1 && Uniform(&draws) < options.mixing;
    const int64_t other = leaves ? communities.PickOtherCommunity(own, &draws) : own;
    edges[i].target = communities.PickMember(own, &draws);
    edges[i].source = communities.PickMember(other, &draws);
  }
}

absl::Status WriteFeatures(const BlockModelOptions& options, const Communities& communities,
                           DatasetWriter* writer, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray rows, writer->Column(kShard, kGeneratedNodes, 0));
  const DType dtype = options.features.dtype;
  const int64_t value_bytes = DTypeBytes(dtype);
  const bool integers = dtype >= DType::kInt8 && dtype <= DType::kInt64;
  const double scale = integers ? kIntegerSteps : 1;
  const uint64_t mean_stream = StreamFor(options.seed, Purpose::kMean);
  const uint64_t noise_stream = StreamFor(options.seed, Purpose::kColumn);
  return ForNodes("writing features", options.num_nodes, progress, [&](int64_t begin, int64_t end) {
    std::vector<double> mean(static_cast<size_t>(options.features.width));
    int64_t mean_of = -1;
    for (int64_t position = begin; position < end; ++position) {
      const int64_t community = communities.CommunityAt(position);
      if (community != std::exchange(mean_of, community)) {
        NodeDraws draws(mean_stream, static_cast<uint64_t>(community));
        for (double& value : mean) value = Bell(&draws);
      }
      const int64_t node = communities.member(position);
      NodeDraws draws(noise_stream, static_cast<uint64_t>(node));
      char* out = rows.data + node * rows.row_bytes;
      for (const double value : mean) {
        StoreValue(dtype, (value + options.noise * Bell(&draws)) * scale, out);
        out += value_bytes;
      }
    }
  });
}

absl::Status WriteLabels(const BlockModelOptions& options, const Communities& communities,
                         int column, DatasetWriter* writer) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray rows,
                            writer->Column(kShard, kGeneratedNodes, column));
  const absl::Span<int32_t> labels = rows.as<int32_t>();
  for (int64_t community = 0; community < options.num_communities; ++community) {
    const auto label = static_cast<int32_t>(community % options.num_classes);
    for (int64_t i = communities.begin(community); i < communities.begin(community + 1); ++i) {
      labels[static_cast<size_t>(communities.member(i))] = label;
    }
  }
  return absl::OkStatus();
}

NodeTypeSpec NodesOf(const BlockModelOptions& options) {
  NodeTypeSpec nodes;
  if (options.features.width > 0) nodes.columns.push_back(options.features.spec());
  if (options.num_classes > 0) {
    nodes.columns.push_back({"label", DType::kInt32, {}});
    nodes.label_column = "label";
    nodes.num_classes = options.num_classes;
  }
  if (options.splits.sum() > 0) {
    nodes.columns.push_back({"split", DType::kUint8, {}});
    nodes.split_column = "split";
  }
  return nodes;
}

absl::Status WriteNodes(const BlockModelOptions& options, const Communities& communities,
                        DatasetWriter* writer, IngestReport::Nodes* report, Progress* progress) {
  VICINITY_RETURN_IF_ERROR(WriteDenseKeys(kGeneratedNodes, writer));
  report->name = writer->schema().node_types[0].name;
  report->count = options.num_nodes;
  int column = 0;
  if (options.features.width > 0) {
    VICINITY_RETURN_IF_ERROR(WriteFeatures(options, communities, writer, progress));
    ++column;
  }
  if (options.num_classes > 0) {
    VICINITY_RETURN_IF_ERROR(WriteLabels(options, communities, column++, writer));
    report->num_classes = options.num_classes;
    report->labelled = options.num_nodes;
  }
  if (options.splits.sum() == 0) return absl::OkStatus();
  return WriteSplits(options.splits, options.seed, kGeneratedNodes, column, writer, report);
}

}  // namespace

absl::Status BlockModelOptions::Validate() const {
  const auto refuse = [](absl::string_view option, double value) {
    return absl::InvalidArgumentError(absl::StrCat(option, " is ", value));
  };
  if (num_nodes < 1 || num_nodes > kMostGeneratedNodes) {
    return refuse("num_nodes", static_cast<double>(num_nodes));
  }
  if (!(average_degree >= 0 && average_degree * static_cast<double>(num_nodes) <= kMostEdges)) {
    return refuse("average_degree", average_degree);
  }
  if (num_communities < 1 || num_communities > num_nodes) {
    return refuse("num_communities", static_cast<double>(num_communities));
  }
  if (num_classes < 0 || num_classes > num_communities) return refuse("num_classes", num_classes);
  if (!(mixing >= 0 && mixing <= 1)) return refuse("mixing", mixing);
  if (!(exponent > 2 && exponent < 1e6)) return refuse("exponent", exponent);
  if (features.width < 0) return refuse("the features' width", features.width);
  if (!(noise >= 0 && noise < 1e6)) return refuse("noise", noise);
  return splits.Validate();
}

absl::StatusOr<IngestReport> GenerateBlockModel(const BlockModelOptions& options,
                                                const std::string& output, Progress* progress) {
  VICINITY_RETURN_IF_ERROR(options.Validate());
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<DatasetWriter> writer,
      CreateGenerated(output, options.name, options.num_nodes, NodesOf(options)));
  const Communities communities(options, progress);
  IngestReport report;
  report.nodes.emplace_back();
  VICINITY_RETURN_IF_ERROR(
      WriteNodes(options, communities, writer.get(), &report.nodes[0], progress));

  CscSpec spec;
  spec.spool_directory = SpoolDirectoryFor(output);
  spec.add_reverse = options.symmetric;
  spec.drop_self_loops = true;
  spec.dedup = true;
  const double in_edges = options.average_degree * static_cast<double>(options.num_nodes);
  const uint64_t stream = StreamFor(options.seed, Purpose::kEdges);
  const EdgeMaker make = [&](int64_t first, absl::Span<Edge> edges) {
    MakeEdges(options, communities, stream, first, edges);
  };
  VICINITY_RETURN_IF_ERROR(
      WriteGeneratedEdges(std::llround(options.symmetric ? in_edges / 2 : in_edges), make, spec,
                          writer.get(), &report, progress)
          .status());
  VICINITY_RETURN_IF_ERROR(
      writer->Finish(nullptr, absl::StrCat("vicinity generate block-model, seed ", options.seed)));
  return report;
}

}  // namespace vicinity
