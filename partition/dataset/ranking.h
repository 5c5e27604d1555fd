// Stored rankings: for every home the nodes that its minibatches may need, likeliest first, each
// with its probability. Made from a VIP analysis, kept beside the shards (docs/formats.md).
//
// A home is the set of shards that one trainer is co-located with, as rising shard numbers: {2}, or
// {0, 2} where two trainers share four shards. Its seeds are those of all its shards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "partition/schema/sampling_spec.h"
#include "proto/common/folder_lock.h"
#include "proto/common/ids.h"
#include "proto/manifest.pb.h"

namespace vicinity {

inline constexpr char kDefaultRanking[] = "default";

// One home's order of one node type, nodes of the home included (they come first in a shard, and
// tell what to keep near); nodes that no batch can need are left out.
struct RankedNodes {
  std::vector<int64_t> nodes;        // global ids
  std::vector<float> probabilities;  // falling, > 0
};

// What a stored ranking was made for: homes, the shards of each rising, and how batches are drawn.
// draws.fanouts has one number a hop, which is every edge type's.
struct RankingHomes {
  std::string name;
  std::vector<std::vector<int32_t>> homes;
  SamplingSpec draws{};
};
std::vector<RankingHomes> HomesOfRankings(
    const google::protobuf::RepeatedPtrField<proto::Ranking>& rankings);

// Threads: immutable; any number may read.
class Ranking {
 public:
  // The file of (name, home, type) in `dataset`. NotFound naming the rankings there are, or the
  // homes that the named one was made for; DataLoss for a file that is not whole, or that a later
  // WriteRanking has replaced since `dataset` was opened. Of a dataset of format version 1
  // checksums are checked here, up to 256 MiB.
  static absl::StatusOr<std::unique_ptr<Ranking>> Open(const Dataset& dataset,
                                                       const std::string& name,
                                                       absl::Span<const int32_t> home,
                                                       NodeTypeId type);
  ~Ranking();
  int64_t size() const { return nodes_.size(); }
  // As in memory, which nobody has verified: for tests, and for passes over whole datasets.
  GlobalNode node(int64_t i) const { return {nodes_[i]}; }
  float probability(int64_t i) const { return probabilities_[i]; }
  // Places [first, first + count), verified: global ids as stored (check against the book where one
  // is used as a position) and probabilities. DataLoss naming file and page.
  absl::Status Read(int64_t first, int64_t count, std::vector<int64_t>* nodes,
                    std::vector<float>* probabilities) const;

 private:
  Ranking(std::unique_ptr<VerifiedFile> file, IdArray nodes, absl::Span<const float> probabilities);
  const std::unique_ptr<VerifiedFile> file_;
  const IdArray nodes_;
  const absl::Span<const float> probabilities_;
};

// Writes one file a home and type and enters the ranking in the manifest, replacing one of the same
// name. `description` tells what it was made for, its homes among it; its files are filled in here.
// orders[home][type], homes as in description.homes(). InvalidArgument naming a home without
// shards, with a shard that does not exist or is not rising, or given twice, or an order that names
// a node outside the book or does not fall; nothing has changed then.
//
// One process at a time: others wait, as `wait` says; FailedPrecondition naming the holder when
// that was too long. Killed at any moment it leaves the old ranking or the new one, whole, and
// perhaps files that nothing lists, which the next writer removes.
absl::Status WriteRanking(const std::string& directory, proto::Ranking description,
                          const std::vector<std::vector<RankedNodes>>& orders,
                          const LockWait& wait = {});

}  // namespace vicinity
