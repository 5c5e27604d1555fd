// A shard whose files are mapped into this process: no RPC, no copy but the last.
#pragma once

#include <optional>

#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"

namespace vicinity {

// Every call is over, and `done` called, when the method returns.
//
// Lifetime: the dataset, which has the shard open, and `traffic` must outlive it.
// Errors:   InvalidArgument naming a row outside the shard; else ShardReader's and Ranking's.
class MappedShard : public ShardAccess {
 public:
  MappedShard(const Dataset& dataset, const Shard& shard, TrafficCounters* traffic);

  bool remote() const override { return false; }
  std::optional<ColumnView> Mapped(NodeTypeId type, int32_t column) const override;
  void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                 Done done) override;
  void FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) override;
  void FetchNames(const ShardNames& names, Cancellation* cancel, Done done) override;
  void ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) override;
  void FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) override;

 private:
  absl::Status CheckRows(absl::Span<const uint64_t> rows, int64_t num_rows,
                         const std::string& type) const;
  absl::Status CopyRows(const ShardRows& rows) const;
  absl::Status CopyNames(const ShardNames& names) const;
  absl::Status CopyRanking(const ShardRanking& ranking) const;

  const Dataset& dataset_;
  const Shard& shard_;
  const ShardReader reader_;
  TrafficCounters* const traffic_;
};

}  // namespace vicinity
