#include "server/handlers/resolve_handler.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/reply_size.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// Some hundred microseconds' work.
constexpr size_t kKeysBetweenLooks = 1024;

// One message, whatever the number of keys: clients ask for no more than fit.
class ResolvedKeys final : public ChunkSource<proto::ResolveReply> {
 public:
  // `keys` in the request or in `copy`.
  ResolvedKeys(ShardReader reader, NodeTypeId type, std::vector<uint64_t> copy,
               absl::Span<const uint64_t> keys)
      : reader_(std::move(reader)), type_(type), copy_(std::move(copy)), keys_(keys) {}

  absl::StatusOr<Piece> Next(proto::ResolveReply* reply, IsGone is_gone) override {
    reply->set_version(reader_.version());
    reply->set_term(reader_.term());
    std::string* out = reply->mutable_global_ids();
    out->reserve(keys_.size() * sizeof(int64_t));
    std::vector<int64_t> nodes;
    for (size_t i = 0; i < keys_.size(); i += nodes.size()) {
      if (is_gone()) return GoneError();
      nodes.resize(std::min(kKeysBetweenLooks, keys_.size() - i));
      VICINITY_RETURN_IF_ERROR(
          reader_.FindKeys(type_, keys_.subspan(i, nodes.size()), nodes.data()));
      out->append(reinterpret_cast<const char*>(nodes.data()), nodes.size() * sizeof(int64_t));
    }
    return Piece::kLast;
  }

 private:
  const ShardReader reader_;
  const NodeTypeId type_;
  const std::vector<uint64_t> copy_;
  const absl::Span<const uint64_t> keys_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::ResolveReply>>> ResolveKeys(
    const ServerState& state, const proto::ResolveRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type,
                            FindNodeType(state.dataset->schema(), request.node_type()));
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> keys,
                            ReadIds("keys", request.keys(), state.limits, &copy));
  const Book& book = state.dataset->book();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (const ShardId owner = book.DirectoryShard(keys[i]); !(owner == reader.shard().id())) {
      return absl::InvalidArgumentError(absl::StrCat("key ", keys[i], " at position ", i,
                                                     " is listed in shard ", owner.value,
                                                     ", not in shard ", reader.shard().id().value));
    }
  }
  return std::make_unique<ResolvedKeys>(std::move(reader), type, std::move(copy), keys);
}

int64_t ReplyBytes(const ServerState&, const proto::ResolveRequest& request) {
  return static_cast<int64_t>(request.keys().size());
}

}  // namespace vicinity
