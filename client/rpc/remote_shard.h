// A shard behind a server: each operation as one RPC, or as several where it is too large for one.
#pragma once

#include <cstdint>
#include <functional>

#include "client/rpc/hop_pieces.h"
#include "client/rpc/server_connection.h"
#include "client/shards/shard_access.h"
#include "partition/dataset/book.h"
#include "partition/dataset/schema.h"
#include "proto/common/ids.h"
#include "proto/service.pb.h"

namespace vicinity {

// A request that the server refuses as wrong, though it is within the limits that its hello gave,
// is cut anew and asked once more if another hello gives smaller ones: it may have been restarted
// with them.
//
// Lifetime: connection, schema and book must outlive it.
// Errors:   as ShardAccess; "shard 2 at 127.0.0.1:7502 (server c): SampleNeighbors: no answer in
//           5.0 s". Each RPC has the call timeout for itself.
class RemoteShard : public ShardAccess {
 public:
  RemoteShard(ShardId shard, uint64_t fingerprint, ServerConnection* connection,
              const Schema& schema, const Book& book);

  bool remote() const override { return true; }
  void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                 Done done) override;
  void FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) override;
  void FetchNames(const ShardNames& names, Cancellation* cancel, Done done) override;
  void ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) override;
  void FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) override;

 private:
  // Cuts a request by limits and asks its pieces.
  using AskWithin = std::function<void(const RequestLimits& limits, Done done)>;
  void AskByLimits(AskWithin question, Cancellation* cancel, Done done);

  // Runs [0, count) in parts of `most`, as many at once as there are channels.
  void RunParts(int64_t count, int64_t most,
                std::function<void(int64_t begin, int64_t end, Done done)> part, Done done) const;

  void SampleOne(const ShardHop& hop, const SamplePiece& piece, absl::Span<Neighbors> out,
                 Cancellation* cancel, Done done);
  void FetchSome(const ShardRows& rows, int64_t begin, int64_t end, Cancellation* cancel,
                 Done done);
  proto::Precision PrecisionOf(const ShardRows& rows) const;
  void FetchSomeNames(const ShardNames& names, int64_t begin, int64_t end, Cancellation* cancel,
                      Done done);
  void ResolveSome(const ShardKeys& keys, int64_t begin, int64_t end, Cancellation* cancel,
                   Done done);
  // What `out` lacks, a part at a time.
  void FetchMore(const ShardRanking& ranking, Cancellation* cancel, Done done);

  const ShardId shard_;
  const uint64_t fingerprint_;
  ServerConnection* const connection_;
  const Schema& schema_;
  const Book& book_;
};

}  // namespace vicinity
