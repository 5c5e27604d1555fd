#include "tests/testing/graphs/certified_batch.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/checksum.h"

namespace vicinity::testing {
namespace {

class Checker {
 public:
  Checker(const CertifiedGraph& graph, const MiniBatch& batch) : graph_(graph), batch_(batch) {
    for (const int64_t global : batch.graph.nodes[0].ids) {
      const bool known = global >= 0 && global < graph.shape().num_nodes;
      ids_.push_back(known ? graph.IdOf(global) : -1);
      if (!known) Wrong(&verdict_.wrong_edges, absl::StrCat("there is no node ", global));
    }
  }

  BatchVerdict Check(const SamplingSpec& spec) {
    for (size_t hop = 0; hop < batch_.graph.hops.size(); ++hop) {
      for (const Block& block : batch_.graph.hops[hop]) {
        CheckBlock(block, spec.fanouts[hop][block.edge_type]);
      }
    }
    for (const BatchColumn& column : batch_.columns) {
      if (column.spec.name == "features") CheckFeatures(column);
    }
    for (size_t i = 0; i < batch_.labels.size(); ++i) {
      const int64_t id = ids_[batch_.graph.seeds[0].positions[i]];
      ++verdict_.rows;
      if (batch_.labels[i] == graph_.Label(id)) continue;
      Wrong(&verdict_.wrong_rows, absl::StrCat("label ", batch_.labels[i], " of node ", id));
    }
    return verdict_;
  }

 private:
  void CheckBlock(const Block& block, int64_t fanout) {
    for (int64_t i = 0; i < block.num_targets(); ++i) {
      const int64_t target = ids_[block.first_target + i];
      const int64_t count = block.offsets[i + 1] - block.offsets[i];
      const int64_t degree = graph_.Degree(target);
      if (count != (fanout == kAllNeighbors ? degree : std::min(degree, fanout))) {
        Wrong(&verdict_.wrong_edges, absl::StrCat(count, " in-edges of node ", target));
      }
      for (int64_t at = block.offsets[i]; at < block.offsets[i + 1]; ++at) {
        ++verdict_.edges;
        const int64_t source = ids_[block.sources[at]];
        if (block.edge_ids.empty() ? graph_.CheckEdge(source, target)
                                   : graph_.CheckEdge(source, target, block.edge_ids[at])) {
          continue;
        }
        Wrong(&verdict_.wrong_edges, absl::StrCat("edge ", source, " to ", target));
      }
    }
  }

  void CheckFeatures(const BatchColumn& column) {
    const int64_t row_bytes = column.spec.row_bytes();
    const std::string_view bytes(column.bytes.data(), column.bytes.size());
    if (column.num_rows != static_cast<int64_t>(ids_.size()) ||
        static_cast<int64_t>(bytes.size()) != column.num_rows * row_bytes) {
      return Wrong(&verdict_.wrong_rows,
                   absl::StrCat(bytes.size(), " bytes of ", ids_.size(), " rows"));
    }
    for (int64_t i = 0; i < column.num_rows; ++i) {
      ++verdict_.rows;
      const RowFault fault = graph_.CheckRow(ids_[i], bytes.substr(i * row_bytes, row_bytes));
      if (fault == RowFault::kNone) continue;
      Wrong(&verdict_.wrong_rows,
            absl::StrCat("the row of node ", ids_[i], " is ", RowFaultName(fault)));
    }
  }

  void Wrong(int64_t* count, const std::string& what) {
    if (verdict_.first_wrong.empty()) {
      verdict_.first_wrong =
          absl::StrCat("epoch ", batch_.epoch, ", step ", batch_.step, ": ", what);
    }
    ++*count;
  }

  const CertifiedGraph& graph_;
  const MiniBatch& batch_;
  std::vector<int64_t> ids_;  // the user's, of the batch's nodes; -1: no node
  BatchVerdict verdict_;
};

template <typename T, typename Allocator>
void Append(const std::vector<T, Allocator>& values, RunningChecksum* sum) {
  const auto size = static_cast<uint64_t>(values.size());
  sum->Append({reinterpret_cast<const char*>(&size), sizeof(size)});
  sum->Append({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

}  // namespace

BatchVerdict CheckBatch(const CertifiedGraph& graph, const SamplingSpec& spec,
                        const MiniBatch& batch) {
  return Checker(graph, batch).Check(spec);
}

uint64_t Digest(const MiniBatch& batch) {
  RunningChecksum sum;
  Append(std::vector<int64_t>{batch.epoch, batch.step}, &sum);
  for (const SampledSeeds& seeds : batch.graph.seeds) {
    Append(std::vector<int64_t>{seeds.node_type}, &sum);
    Append(seeds.positions, &sum);
  }
  for (const SampledNodes& nodes : batch.graph.nodes) {
    Append(nodes.ids, &sum);
    Append(nodes.hop_ends, &sum);
  }
  for (const std::vector<Block>& hop : batch.graph.hops) {
    for (const Block& block : hop) {
      Append(std::vector<int64_t>{block.edge_type, block.first_target}, &sum);
      Append(block.offsets, &sum);
      Append(block.sources, &sum);
      Append(block.edge_ids, &sum);
    }
  }
  for (const BatchColumn& column : batch.columns) Append(column.bytes, &sum);
  Append(batch.labels, &sum);
  return sum.value();
}

}  // namespace vicinity::testing
