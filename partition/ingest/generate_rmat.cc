#include "partition/ingest/generate_rmat.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/ingest/csc_builder.h"
#include "partition/ingest/edge_spool.h"
#include "partition/ingest/formats/spool_file.h"
#include "partition/ingest/generated_graph.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kMaxScale = 31;
constexpr double kMostEdges = 0x1p40;

// A permutation of the numbers below 2^bits: every step can be undone.
class Shuffle {
 public:
  Shuffle(uint64_t seed, int bits)
      : mask_((uint64_t{1} << bits) - 1), shift_(std::max(bits / 2, 1)) {
    NodeDraws draws(StreamFor(seed, Purpose::kShuffle), 0);
    for (Round& round : rounds_) round = {draws.Next64() | 1, draws.Next64()};
  }
  uint64_t operator()(uint64_t number) const {
    for (const Round& round : rounds_) {
      number = (number * round.factor + round.term) & mask_;
      number ^= number >> shift_;
    }
    return number;
  }

 private:
  struct Round {
    uint64_t factor = 1;  // odd
    uint64_t term = 0;
  };
  const uint64_t mask_;
  const int shift_;
  Round rounds_[4];
};

// Descends from the whole adjacency matrix to one entry of it, a quadrant at a time.
class RmatEdges {
 public:
  explicit RmatEdges(const RmatOptions& options)
      : stream_(StreamFor(options.seed, Purpose::kEdges)),
        scale_(options.scale),
        shuffled_(options.shuffle),
        shuffle_(options.seed, options.scale),
        below_a_(Threshold(options.a)),
        below_b_(Threshold(options.a + options.b)),
        below_c_(Threshold(options.a + options.b + options.c)) {}

  void Make(int64_t first, absl::Span<Edge> edges) const {
    for (size_t i = 0; i < edges.size(); ++i) {
      edges[i] = MakeEdge(static_cast<uint64_t>(first) + i);
    }
  }

 private:
  static uint64_t Threshold(double share) {
    return static_cast<uint64_t>(std::ldexp(std::min(share, 1.0), 32));
  }

  Edge MakeEdge(uint64_t number) const {
    NodeDraws draws(stream_, number);
    uint64_t source = 0;
    uint64_t target = 0;
    for (int level = 0; level < scale_; ++level) {
      const uint64_t draw = draws.Next32();
      source = source << 1 | static_cast<uint64_t>(draw >= below_b_);
      target = target << 1 |
               static_cast<uint64_t>((draw >= below_a_ && draw < below_b_) || draw >= below_c_);
    }
    if (shuffled_) {
      source = shuffle_(source);
      target = shuffle_(target);
    }
    return {static_cast<int64_t>(source), static_cast<int64_t>(target)};
  }

  const uint64_t stream_;
  const int scale_;
  const bool shuffled_;
  const Shuffle shuffle_;
  const uint64_t below_a_;
  const uint64_t below_b_;
  const uint64_t below_c_;
};

}  // namespace

absl::Status RmatOptions::Validate() const {
  const auto refuse = [](absl::string_view option, double value) {
    return absl::InvalidArgumentError(absl::StrCat(option, " is ", value));
  };
  if (scale < 0 || scale > kMaxScale) return refuse("scale", scale);
  if (!(edges_per_node >= 0 && std::ldexp(edges_per_node, scale) <= kMostEdges)) {
    return refuse("edges_per_node", edges_per_node);
  }
  if (!(a >= 0)) return refuse("a", a);
  if (!(b >= 0)) return refuse("b", b);
  if (!(c >= 0)) return refuse("c", c);
  if (!(a + b + c <= 1 + 1e-9)) return refuse("a + b + c", a + b + c);
  for (const GeneratedColumn& column : columns) {
    if (column.width < 1) return refuse(absl::StrCat("the width of ", column.name), column.width);
  }
  return splits.Validate();
}

absl::StatusOr<IngestReport> GenerateRmat(const RmatOptions& options, const std::string& output,
                                          Progress* progress) {
  VICINITY_RETURN_IF_ERROR(options.Validate());
  const int64_t num_nodes = int64_t{1} << options.scale;
  const int64_t num_edges = std::llround(std::ldexp(options.edges_per_node, options.scale));
  const bool has_splits = options.splits.sum() > 0;

  NodeTypeSpec nodes;
  for (const GeneratedColumn& column : options.columns) nodes.columns.push_back(column.spec());
  if (has_splits) {
    nodes.columns.push_back({"split", DType::kUint8, {}});
    nodes.split_column = "split";
  }
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<DatasetWriter> writer,
      CreateGenerated(output, options.name, num_nodes, std::move(nodes), options.weights));
  VICINITY_RETURN_IF_ERROR(WriteDenseKeys(kGeneratedNodes, writer.get()));

  IngestReport report;
  report.nodes.emplace_back();
  report.nodes[0].name = writer->schema().node_types[0].name;
  report.nodes[0].count = num_nodes;
  const int num_columns = static_cast<int>(options.columns.size());
  for (int column = 0; column < num_columns; ++column) {
    VICINITY_RETURN_IF_ERROR(
        WriteRandomColumn(options.seed, kGeneratedNodes, column, writer.get(), progress));
  }
  if (has_splits) {
    VICINITY_RETURN_IF_ERROR(WriteSplits(options.splits, options.seed, kGeneratedNodes, num_columns,
                                         writer.get(), &report.nodes[0]));
  }
  CscSpec spec;
  spec.spool_directory = SpoolDirectoryFor(output);
  spec.add_reverse = options.symmetric;
  spec.drop_self_loops = options.drop_self_loops;
  spec.dedup = options.dedup;
  const RmatEdges edges(options);
  const EdgeMaker make = [&edges](int64_t first, absl::Span<Edge> made) {
    edges.Make(first, made);
  };
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray edge_ids,
      WriteGeneratedEdges(num_edges, make, spec, writer.get(), &report, progress));
  if (options.weights) {
    VICINITY_RETURN_IF_ERROR(WriteGeneratedWeights(options.seed, edge_ids, writer.get(), progress));
  }
  VICINITY_RETURN_IF_ERROR(
      writer->Finish(nullptr, absl::StrCat("vicinity generate rmat, seed ", options.seed)));
  return report;
}

}  // namespace vicinity
