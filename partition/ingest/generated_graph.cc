#include "partition/ingest/generated_graph.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "partition/dataset/book.h"
#include "partition/dataset/schema_proto.h"
#include "proto/common/machine.h"
#include "proto/common/parallel.h"
#include "proto/common/random.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kEdgesAPiece = 1 << 18;

// In rounds of a piece for each core: the pieces are made at once and appended in order.
absl::StatusOr<EdgeList> Spool(int64_t num_edges, const EdgeMaker& make, EdgeSpool* spool,
                               Progress* progress) {
  const auto cores = static_cast<size_t>(NumCores());
  std::vector<std::vector<Edge>> pieces(cores);
  progress->Begin("making edges", num_edges, "edges");
  for (int64_t done = 0; done < num_edges;) {
    const int64_t round = std::min(static_cast<int64_t>(cores) * kEdgesAPiece, num_edges - done);
    const int64_t num_pieces = (round + kEdgesAPiece - 1) / kEdgesAPiece;
    VICINITY_RETURN_IF_ERROR(
        ForEachInParallel(num_pieces, NoProgress(), [&](int64_t piece) -> absl::StatusOr<int64_t> {
          const int64_t begin = piece * kEdgesAPiece;
          std::vector<Edge>& edges = pieces[static_cast<size_t>(piece)];
          edges.resize(static_cast<size_t>(std::min(kEdgesAPiece, round - begin)));
          make(done + begin, absl::MakeSpan(edges));
          return static_cast<int64_t>(edges.size());
        }));
    for (int64_t piece = 0; piece < num_pieces; ++piece) {
      VICINITY_RETURN_IF_ERROR(spool->Append(pieces[static_cast<size_t>(piece)]));
    }
    done += round;
    progress->Update(done);
  }
  progress->End();
  return spool->Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetWriter>> CreateGenerated(const std::string& output,
                                                               const std::string& name,
                                                               int64_t num_nodes,
                                                               NodeTypeSpec nodes, bool weights) {
  nodes.name = "node";
  EdgeTypeSpec edges;
  edges.relation = "link";
  if (weights) {
    edges.columns.push_back({"weight", DType::kFloat32, {}});
    edges.weight_column = "weight";
  }
  Schema schema;
  schema.node_types.push_back(std::move(nodes));
  schema.edge_types.push_back(std::move(edges));
  // There and back: the checks are on the way back.
  VICINITY_ASSIGN_OR_RETURN(schema, SchemaFromProto(SchemaToProto(schema)));
  VICINITY_ASSIGN_OR_RETURN(Book book, Book::Create({{0, num_nodes}}));
  return DatasetWriter::Create(output, name, std::move(schema), std::move(book));
}

absl::StatusOr<OutputArray> WriteGeneratedEdges(int64_t num_edges, const EdgeMaker& make,
                                                const CscSpec& spec, DatasetWriter* writer,
                                                IngestReport* report, Progress* progress) {
  const int64_t num_nodes = writer->book().num_nodes(kGeneratedNodes);
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<EdgeSpool> spool,
                            EdgeSpool::Create(spec.spool_directory, num_nodes));
  VICINITY_ASSIGN_OR_RETURN(const EdgeList edges, Spool(num_edges, make, spool.get(), progress));
  std::vector<bool> has_edge(static_cast<size_t>(num_nodes));
  VICINITY_ASSIGN_OR_RETURN(const CscResult csc, BuildCsc(edges, spec, KeyOrder(), writer,
                                                          &has_edge, &has_edge, progress));
  IngestReport::Edges written;
  written.name = writer->schema().EdgeTypeName(kGeneratedEdges.value);
  written.read = num_edges;
  written.reversed = csc.reversed;
  written.self_loops_dropped = csc.self_loops_dropped;
  written.duplicates_dropped = csc.duplicates_dropped;
  written.stored = csc.stored;
  written.max_degree = csc.max_degree;
  report->edges.push_back(std::move(written));
  report->nodes.front().isolated = absl::c_count(has_edge, false);
  return csc.edge_ids;
}

absl::Status WriteGeneratedWeights(uint64_t seed, const OutputArray& edge_ids,
                                   DatasetWriter* writer, Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(
      const OutputArray weights,
      writer->EdgeColumn({0}, kGeneratedEdges, /*column=*/0, edge_ids.num_rows));
  const uint64_t stream = StreamFor(seed, Purpose::kEdgeWeight);
  progress->Begin("writing weights", edge_ids.num_rows, "edges");
  const absl::Status status = ForEachInParallel(
      (edge_ids.num_rows + kEdgesAPiece - 1) / kEdgesAPiece, progress,
      [&](int64_t piece) -> absl::StatusOr<int64_t> {
        const int64_t begin = piece * kEdgesAPiece;
        const int64_t end = std::min(begin + kEdgesAPiece, edge_ids.num_rows);
        for (int64_t i = begin; i < end; ++i) {
          NodeDraws draws(stream, LoadId(edge_ids, i));
          weights.as<float>()[i] = static_cast<float>((draws.Next32() >> 8) + 1) * 0x1p-24f;
        }
        return end - begin;
      });
  progress->End();
  return status;
}

}  // namespace vicinity
