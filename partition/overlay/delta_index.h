// What has changed of a shard, in memory: which rows have another value and since when, which edges
// have come to a list and which have gone, which keys are new. The rows themselves are in the store
// (partition/overlay/delta_store.h), but for those of new edges, which are here, since draws need
// their weights and times.
//
// Everything is kept with the version that brought it, and nothing is taken back: what there was at
// a version stays as it is while later ones come, so a reader is one number. Versions only rise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "partition/dataset/shard_overlay.h"
#include "partition/overlay/changed_bits.h"
#include "partition/overlay/row_blocks.h"
#include "partition/schema/schema.h"

namespace vicinity {

// What happened to one target's list.
struct ListDelta {
  struct Gone {
    uint64_t version;
    int64_t position;
  };
  struct Cleared {
    uint64_t version;
    int64_t edges_before;  // how many new ones of the type there were: all of the list's are gone
  };
  // Of few lists; all by rising version.
  struct Rare {
    std::vector<Gone> gone;
    std::vector<Cleared> cleared;
    std::vector<uint64_t> reweighted;  // versions with another weight for one of its edges
  };
  std::vector<int64_t> added;  // numbers of new edges of the type; they rise
  std::unique_ptr<Rare> rare;
};

// Threads: one writer; readers exclude it (LiveShard has the lock), but for who asks "may".
// Memory:  of a changed row some 40 bytes, of a new edge 16 to 32 and its columns, of a gone
// one 16.
class DeltaIndex {
  struct Chain;
  struct NewNodeRows;

 public:
  // `num_nodes` and `num_edges`: of each type, what the shard's files have.
  DeltaIndex(const Schema& schema, std::vector<int64_t> num_nodes, std::vector<int64_t> num_edges);

  // Of one version, each; no later one than was told before.
  void AddRows(const ShardPart& part, absl::Span<const uint64_t> rows, uint64_t version);
  // `nodes`: the global ids of the new nodes, whose rows come next in the shard.
  void AddNodes(int32_t type, absl::Span<const uint64_t> keys, absl::Span<const uint64_t> nodes,
                uint64_t version);
  void RemoveKeys(int32_t type, absl::Span<const uint64_t> keys, uint64_t version);
  // Rows of the targets; columns: each all edges' values.
  void AddEdges(int32_t type, absl::Span<const uint64_t> sources, absl::Span<const uint64_t> rows,
                absl::Span<const char* const> columns, uint64_t version);
  void RemoveEdge(int32_t type, uint64_t row, int64_t position, uint64_t version);
  void ClearList(int32_t type, uint64_t row, uint64_t version);
  void Reweight(int32_t type, uint64_t row, uint64_t version);

  // At a version:
  int64_t NumNodes(int32_t type, uint64_t version) const;  // with those in the files
  int64_t NumEdges(int32_t type, uint64_t version) const;
  // The version that brought a row's value; 0: it is as in the files, or a new edge's own. Of a new
  // node without another value, the version that brought the node. `place`: where whoever keeps
  // rows has said that this one is; kNoPlace: nowhere.
  static constexpr int64_t kNoPlace = -1;
  struct Row {
    uint64_t version = 0;
    int64_t place = kNoPlace;
  };
  Row FindRow(const ShardPart& part, uint64_t row, uint64_t version) const {
    return FinderOf(part).Find(row, version);
  }
  // The same for who finds many rows of one part: memory is asked for ahead of them.
  class RowFinder {
   public:
    void Prefetch(uint64_t row) const { chains_->prefetch(row); }
    Row Find(uint64_t row, uint64_t version) const;

   private:
    friend class DeltaIndex;
    const DeltaIndex* index_;
    const absl::flat_hash_map<uint64_t, Chain>* chains_;
    const NewNodeRows* nodes_;  // null: its rows are not nodes'
  };
  RowFinder FinderOf(const ShardPart& part) const;
  // ... which must have been told of.
  void SetPlace(const ShardPart& part, uint64_t row, uint64_t version, int64_t place);
  std::optional<int64_t> Node(int32_t type, uint64_t key, uint64_t version) const;
  // Null: nothing happened to it, at any version.
  const ListDelta* List(int32_t type, uint64_t row) const;

  // Whether a row or list of the files may be another, at any version: a change that a reader has
  // been told of is one.
  const ChangedBits& MayChange(const ShardPart& part) const;
  bool HasKeys(int32_t type) const { return !keys_[type].empty(); }

  // Of nodes and edges that are new, by their number among the shard's:
  uint64_t key(int32_t type, int64_t i) const { return nodes_[type].keys.number(i); }
  uint64_t source(int32_t type, int64_t i) const { return edges_[type].sources.number(i); }
  const char* edge_row(int32_t type, int32_t column, int64_t i) const {
    return edges_[type].columns[column].row(i);
  }
  int64_t nodes_in_files(int32_t type) const { return nodes_[type].in_files; }
  int64_t edges_in_files(int32_t type) const { return edges_[type].in_files; }
  int64_t memory_bytes() const;  // about

  // A number for each part.
  static uint64_t NameOf(const ShardPart& part);

 private:
  // A value at each version that brought one, the latest first.
  struct Chain {
    uint64_t version;
    int64_t value;
    int64_t older;  // in older_; -1: none
  };
  using Chains = absl::flat_hash_map<uint64_t, Chain>;
  struct Mark {
    uint64_t version;
    int64_t count;  // of new ones, from that version on
  };
  struct NewNodeRows {
    int64_t in_files;
    RowBlocks keys{sizeof(uint64_t)};
    std::vector<Mark> marks{};
  };
  struct NewEdgeRows {
    int64_t in_files;
    RowBlocks sources{sizeof(uint64_t)};
    std::vector<RowBlocks> columns{};
    std::vector<Mark> marks{};
  };

  // Of one part of the shard; all there are are made at the beginning.
  struct PartRows {
    explicit PartRows(int64_t in_files) : bits(in_files) {}
    ChangedBits bits;
    Chains chains{};  // values: places
  };

  void AddPart(const ShardPart& part, int64_t in_files);
  PartRows& RowsOf(const ShardPart& part) const { return *parts_.find(NameOf(part))->second; }
  ListDelta& ListOf(int32_t type, uint64_t row);
  ListDelta::Rare& RareOf(int32_t type, uint64_t row);
  static int64_t CountAt(const std::vector<Mark>& marks, uint64_t version);
  // The version that brought the i-th.
  static uint64_t VersionOf(const std::vector<Mark>& marks, int64_t i);
  static void MarkCount(uint64_t version, int64_t count, std::vector<Mark>* marks);
  void Put(uint64_t at, int64_t value, uint64_t version, Chains* chains);
  const Chain* Find(const Chains& chains, uint64_t at, uint64_t version) const;

  std::vector<NewNodeRows> nodes_;  // by type
  std::vector<NewEdgeRows> edges_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<PartRows>> parts_;  // of lists the bits alone
  std::vector<Chains> keys_;                                        // by node type
  std::vector<absl::flat_hash_map<uint64_t, ListDelta>> lists_;     // by edge type
  std::vector<Chain> older_;
};

}  // namespace vicinity
