// Changes that were made to a graph while its fold was made, as changes of the folded dataset.
//
// A fold takes its time, and servers go on meanwhile. It is made of version V of each shard (V need
// not be the same number for all). What came since is carried over, each change by itself:
//
//   version V + i of the old shard  ->  version i of the new one
//   node of the files, or new by V  ->  its id in the new files: its rank among those that are left
//   new node since                  ->  N + i x K + s with the new files' N, i counted from V on
//   edge of the files, or new by V  ->  its id in the new files
//   new edge since                  ->  2^48 + i x K + s, i counted from V on, without those that
//   are
//                                       left out
//
// Session, time and term stay. What names a node or edge that the fold has left behind is left out:
// a node whose key was gone at V, and an edge at such a node. That happens where a removal has a
// part in each of two shards and V lies between them, where somebody writes to what is gone, and
// where a removed node's out-edges are removed later. New edges at such a node are left out, too,
// and so is what names them afterwards. The new shards are the old ones without what no fold would
// keep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/fold/fold_source.h"
#include "partition/fold/kept_edges.h"
#include "partition/fold/kept_nodes.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/live.pb.h"

namespace vicinity {

// Threads:  the changes of one shard come from one thread at a time, those of several shards from
//           several at once. Ids may be asked for by any number of threads, but those of a shard's
//           new edges not while a change of the shard is carried.
// Lifetime: `source` and `folded` outlive it.
// Memory:   9 bits a node and an edge id, of all types; 8 bytes for each new edge that is left out.
class CarriedChanges {
 public:
  // `source`: the dataset that was folded, at the versions that `folded` was made at. Looks through
  // it as the fold did. FailedPrecondition if `folded` is not the fold of it at these versions, by
  // its manifest (folded_from) or its sizes; else what reading gives. Terms are not compared here:
  // that the log which changes come from is the one that was folded is for the caller to know.
  static absl::StatusOr<std::unique_ptr<CarriedChanges>> Prepare(const FoldSource& source,
                                                                 const Dataset& folded,
                                                                 Progress* progress);

  // What LiveShard::Repeat takes over the folded dataset, of a change as LiveShard::ReadChange and
  // the servers' Changes give it: with its rows. Each gives one, perhaps with an empty batch.
  // New nodes and new edges keep their parts, even where a part has no edges any more, so that a
  // writer who sends a batch again gets an answer of the form that it expects.
  //
  // A shard's versions come one after the other, from the first behind V on: whoever begins anew
  // begins there, and drops those that the new shard has. InvalidArgument naming both versions for
  // another one than next(), DataLoss naming the version for a change that is none of the shard;
  // then nothing has changed.
  absl::StatusOr<proto::Change> Carry(ShardId shard, proto::Change change);
  // The old version that Carry takes next.
  uint64_t next(ShardId shard) const { return shards_[shard.value].next; }

  // Ids in the folded dataset, with what has been carried so far; -1: it is left out. `node`,
  // `edge`: an id in the old one; whether the old one has it is not looked at for nodes that are
  // new since.
  int64_t NewNode(NodeTypeId type, uint64_t node) const;
  // `shard`: of its target.
  int64_t NewEdge(ShardId shard, EdgeTypeId type, uint64_t edge) const;

 private:
  // New edges of one type in a shard.
  struct NewEdgesOf {
    int64_t at_fold = 0;            // how many
    int64_t now = 0;                // with those that were carried or left out
    std::vector<int64_t> left_out;  // numbers, rising
  };
  struct OfShard {
    uint64_t at_fold = 0;
    uint64_t next = 0;
    std::vector<NewEdgesOf> edges;  // by type
  };
  class Carrier;

  CarriedChanges(const FoldSource& source, const Dataset& folded, KeptNodes kept);
  absl::Status FindEdges(Progress* progress);
  absl::Status CheckFoldedFrom() const;
  absl::Status CheckNodes() const;
  absl::Status CheckEdges(EdgeTypeId type) const;
  absl::Status IsOtherFold(const std::string& why) const;
  absl::Status IsOtherFold(const std::string& what, int64_t number, int64_t expected) const;
  absl::Status CheckChange(ShardId shard, proto::Change* change) const;

  const FoldSource& source_;
  const Dataset& folded_;
  const KeptNodes kept_;
  std::vector<KeptEdges> edges_;  // by type
  std::vector<OfShard> shards_;
};

}  // namespace vicinity
