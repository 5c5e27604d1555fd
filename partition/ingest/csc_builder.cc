#include "partition/ingest/csc_builder.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "partition/ingest/formats/spool_file.h"
#include "proto/common/machine.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr uint64_t kEdgesASorting = uint64_t{1} << 18;
constexpr int64_t kProgressStep = int64_t{1} << 20;

// Where edges lie: position i is edge ids[i] from sources[i].
struct Lists {
  OutputArray sources;
  OutputArray ids;
};

class Builder {
 public:
  Builder(const EdgeList& edges, const CscSpec& spec, const KeyOrder& sources,
          DatasetWriter* writer, Progress* progress)
      : edges_(edges),
        spec_(spec),
        order_(sources),
        writer_(writer),
        progress_(progress),
        ends_(EndsOf(writer->schema(), spec)),
        num_targets_(writer->book().num_nodes(ends_.second)) {}

  absl::StatusOr<CscResult> Build(std::vector<bool>* source_has_edge,
                                  std::vector<bool>* target_has_edge) {
    writer_->SetEdgeIdBound(spec_.type,
                            static_cast<uint64_t>(edges_.size()) * (spec_.add_reverse ? 2 : 1));
    Count(source_has_edge, target_has_edge);
    Lists lists;
    VICINITY_ASSIGN_OR_RETURN(lists, spec_.dedup ? Scratch() : Final());
    VICINITY_RETURN_IF_ERROR(Place(lists));
    VICINITY_RETURN_IF_ERROR(Sort(lists));
    if (spec_.dedup) {
      VICINITY_ASSIGN_OR_RETURN(lists, Compact(lists));
    }
    VICINITY_RETURN_IF_ERROR(WriteOffsets());
    result_.sources = lists.sources;
    result_.edge_ids = lists.ids;
    return result_;
  }

 private:
  static std::pair<NodeTypeId, NodeTypeId> EndsOf(const Schema& schema, const CscSpec& spec) {
    const EdgeTypeSpec& type = schema.edge_types[static_cast<size_t>(spec.type.value)];
    return {NodeTypeId{type.source_type}, NodeTypeId{type.target_type}};
  }

  // Calls visit(target, source, edge id) for what edge e becomes: none, one or two edges.
  template <typename Visit>
  void VisitEdge(int64_t e, Visit visit) const {
    const Edge edge = edges_[e];
    const int64_t source = spec_.reversed ? edge.target : edge.source;
    const int64_t target = spec_.reversed ? edge.source : edge.target;
    if (spec_.drop_self_loops && source == target) return;
    visit(target, source, e);
    if (spec_.add_reverse && source != target) visit(source, target, edges_.size() + e);
  }

  // Fills begins_, so that a target's edges have their places.
  void Count(std::vector<bool>* source_has_edge, std::vector<bool>* target_has_edge) {
    progress_->Begin("counting edges", edges_.size(), "edges");
    begins_.assign(static_cast<size_t>(num_targets_) + 1, 0);
    int64_t seen = 0;
    for (int64_t e = 0; e < edges_.size(); ++e) {
      const int64_t before = seen;
      VisitEdge(e, [&](int64_t target, int64_t source, int64_t) {
        ++begins_[static_cast<size_t>(target) + 1];
        (*source_has_edge)[static_cast<size_t>(source)] = true;
        (*target_has_edge)[static_cast<size_t>(target)] = true;
        ++seen;
      });
      result_.self_loops_dropped += seen == before;
      if (e % kProgressStep == 0) progress_->Update(e);
    }
    progress_->End();
    result_.reversed = seen - (edges_.size() - result_.self_loops_dropped);
    result_.stored = seen;
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  absl::StatusOr<Lists> Final() {
    Lists lists;
    VICINITY_ASSIGN_OR_RETURN(lists.sources, writer_->Sources(kShard, spec_.type, result_.stored));
    VICINITY_ASSIGN_OR_RETURN(lists.ids, writer_->EdgeIds(kShard, spec_.type, result_.stored));
    return lists;
  }

  // As Final(), in a temporary file: how many edges stay is known only once they are sorted.
  absl::StatusOr<Lists> Scratch() {
    VICINITY_ASSIGN_OR_RETURN(scratch_, SpoolFile::Create(spec_.spool_directory));
    const int64_t node_bytes = writer_->NodeIdBytes(ends_.first);
    const int64_t id_bytes = writer_->EdgeIdBytes(spec_.type);
    // Ids first: wherever either is 8 bytes wide, it then stays aligned.
    const int64_t ids_size = (result_.stored * id_bytes + 7) / 8 * 8;
    VICINITY_ASSIGN_OR_RETURN(const absl::Span<char> bytes,
                              scratch_->MapFixed(ids_size + result_.stored * node_bytes));
    return Lists{{bytes.data() + ids_size, result_.stored, node_bytes},
                 {bytes.data(), result_.stored, id_bytes}};
  }

  // Targets cut into ranges of about `num_edges` edges each: the boundaries.
  std::vector<int64_t> CutTargets(uint64_t num_edges) const {
    std::vector<int64_t> cuts = {0};
    while (cuts.back() < num_targets_) {
      const uint64_t goal = begins_[static_cast<size_t>(cuts.back())] + num_edges;
      // The first boundary at or beyond the goal; at least one target further.
      const auto found =
          std::lower_bound(begins_.begin() + cuts.back() + 1, begins_.end() - 1, goal);
      cuts.push_back(found - begins_.begin());
    }
    return cuts;
  }

  // Calls work(first target, target after the last) for the ranges of CutTargets, in parallel.
  template <typename Work>
  absl::Status ForTargets(std::string_view phase, uint64_t edges_a_range, Work work) {
    const std::vector<int64_t> cuts = CutTargets(edges_a_range);
    progress_->Begin(phase, static_cast<int64_t>(begins_.back()), "edges");
    const absl::Status status = ForEachInParallel(
        static_cast<int64_t>(cuts.size()) - 1, progress_,
        [&](int64_t i) -> absl::StatusOr<int64_t> {
          const size_t range = static_cast<size_t>(i);
          work(cuts[range], cuts[range + 1]);
          return static_cast<int64_t>(begins_[static_cast<size_t>(cuts[range + 1])] -
                                      begins_[static_cast<size_t>(cuts[range])]);
        });
    progress_->End();
    return status;
  }

  absl::Status Place(const Lists& lists) {
    next_.assign(begins_.begin(), begins_.end() - 1);
    const auto cores = static_cast<uint64_t>(NumCores());
    return ForTargets("placing edges", static_cast<uint64_t>(result_.stored) / cores + 1,
                      [&](int64_t first, int64_t end) {
                        for (int64_t e = 0; e < edges_.size(); ++e) {
                          VisitEdge(e, [&](int64_t target, int64_t source, int64_t id) {
                            if (target < first || target >= end) return;
                            const int64_t i =
                                static_cast<int64_t>(next_[static_cast<size_t>(target)]++);
                            StoreId(lists.sources, i, static_cast<uint64_t>(source));
                            StoreId(lists.ids, i, static_cast<uint64_t>(id));
                          });
                        }
                      });
  }

  // From here on next_[v] is the end of v's list: with `dedup` before begins_[v + 1].
  absl::Status Sort(const Lists& lists) {
    return ForTargets("sorting edges", kEdgesASorting, [&](int64_t first, int64_t end) {
      std::vector<Ranked> list;
      for (int64_t target = first; target < end; ++target) {
        SortList(lists, static_cast<size_t>(target), &list);
      }
    });
  }

  struct Ranked {
    uint64_t rank;  // of the source's key
    uint64_t id;
    int64_t time = 0;
    friend bool operator<(const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.id < b.id;
    }
  };

  void SortList(const Lists& lists, size_t target, std::vector<Ranked>* list) {
    const int64_t begin = static_cast<int64_t>(begins_[target]);
    const int64_t end = static_cast<int64_t>(next_[target]);
    list->clear();
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t source = LoadId(lists.sources, i);
      const uint64_t rank =
          order_.rank.empty() ? source : static_cast<uint64_t>(order_.rank[source]);
      const uint64_t id = LoadId(lists.ids, i);
      list->push_back({rank, id, spec_.time_of ? spec_.time_of(source, id) : 0});
    }
    if (!std::is_sorted(list->begin(), list->end())) std::sort(list->begin(), list->end());
    if (spec_.dedup) {
      const auto same = [](const Ranked& a, const Ranked& b) { return a.rank == b.rank; };
      list->erase(std::unique(list->begin(), list->end(), same), list->end());
    }
    if (spec_.time_of) SortByTime(list);
    int64_t i = begin;
    for (const Ranked& edge : *list) {
      const uint64_t source =
          order_.rank.empty() ? edge.rank : static_cast<uint64_t>(order_.node[edge.rank]);
      StoreId(lists.sources, i, source);
      StoreId(lists.ids, i, edge.id);
      ++i;
    }
    next_[target] = static_cast<uint64_t>(i);
  }

  // Those of one time stay in their order.
  static void SortByTime(std::vector<Ranked>* list) {
    const auto earlier = [](const Ranked& a, const Ranked& b) { return a.time < b.time; };
    if (std::is_sorted(list->begin(), list->end(), earlier)) return;
    std::stable_sort(list->begin(), list->end(), earlier);
  }

  // Copies the lists to their final places, without the gaps that duplicates left.
  absl::StatusOr<Lists> Compact(const Lists& lists) {
    std::vector<uint64_t> final_begins = {0};
    final_begins.reserve(begins_.size());
    for (size_t target = 0; target < next_.size(); ++target) {
      final_begins.push_back(final_begins.back() + next_[target] - begins_[target]);
    }
    const int64_t before = std::exchange(result_.stored, static_cast<int64_t>(final_begins.back()));
    result_.duplicates_dropped = before - result_.stored;
    VICINITY_ASSIGN_OR_RETURN(const Lists final_lists, Final());
    VICINITY_RETURN_IF_ERROR(
        ForTargets("dropping duplicates", kEdgesASorting, [&](int64_t first, int64_t end) {
          for (size_t target = static_cast<size_t>(first); target < static_cast<size_t>(end);
               ++target) {
            int64_t to = static_cast<int64_t>(final_begins[target]);
            const int64_t end = static_cast<int64_t>(next_[target]);
            for (int64_t i = static_cast<int64_t>(begins_[target]); i < end; ++i, ++to) {
              StoreId(final_lists.sources, to, LoadId(lists.sources, i));
              StoreId(final_lists.ids, to, LoadId(lists.ids, i));
            }
          }
        }));
    begins_ = std::move(final_begins);
    scratch_.reset();
    return final_lists;
  }

  absl::Status WriteOffsets() {
    VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets, writer_->Offsets(kShard, spec_.type));
    std::copy(begins_.begin(), begins_.end(), offsets.as<uint64_t>().begin());
    for (size_t target = 0; target + 1 < begins_.size(); ++target) {
      result_.max_degree =
          std::max(result_.max_degree, static_cast<int64_t>(begins_[target + 1] - begins_[target]));
    }
    return absl::OkStatus();
  }

  const EdgeList& edges_;
  const CscSpec& spec_;
  const KeyOrder& order_;
  DatasetWriter* const writer_;
  Progress* const progress_;
  const std::pair<NodeTypeId, NodeTypeId> ends_;
  const int64_t num_targets_;
  CscResult result_;
  std::vector<uint64_t> begins_;  // num_targets_ + 1: where each target's list begins
  std::vector<uint64_t> next_;    // where the list's next edge goes, at last: where it ends
  std::unique_ptr<SpoolFile> scratch_;
};

}  // namespace

KeyOrder KeyOrder::Of(const std::vector<uint64_t>& keys) {
  KeyOrder order;
  if (std::is_sorted(keys.begin(), keys.end())) return order;
  order.node.resize(keys.size());
  std::iota(order.node.begin(), order.node.end(), 0);
  std::sort(order.node.begin(), order.node.end(), [&keys](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  order.rank.resize(keys.size());
  for (size_t rank = 0; rank < order.node.size(); ++rank) {
    order.rank[static_cast<size_t>(order.node[rank])] = static_cast<int64_t>(rank);
  }
  return order;
}

absl::StatusOr<CscResult> BuildCsc(const EdgeList& edges, const CscSpec& spec,
                                   const KeyOrder& sources, DatasetWriter* writer,
                                   std::vector<bool>* source_has_edge,
                                   std::vector<bool>* target_has_edge, Progress* progress) {
  return Builder(edges, spec, sources, writer, progress).Build(source_has_edge, target_has_edge);
}

}  // namespace vicinity
