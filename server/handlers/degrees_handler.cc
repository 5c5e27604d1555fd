#include "server/handlers/degrees_handler.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"
#include "server/handlers/request_checks.h"

namespace vicinity {
namespace {

// Some hundred microseconds' work.
constexpr size_t kTargetsBetweenLooks = 4096;

// One message, whatever the number of targets: clients ask for no more than fit.
class Degrees final : public ChunkSource<proto::DegreesReply> {
 public:
  // `targets` in the request or in `copy`.
  Degrees(ShardReader reader, EdgeTypeId edge_type, std::vector<uint64_t> copy,
          absl::Span<const uint64_t> targets)
      : reader_(std::move(reader)),
        edge_type_(edge_type),
        copy_(std::move(copy)),
        targets_(targets) {}

  absl::StatusOr<Piece> Next(proto::DegreesReply* reply, IsGone is_gone) override {
    reply->set_version(reader_.version());
    reply->set_term(reader_.term());
    std::string* const out = reply->mutable_degrees();
    out->reserve(targets_.size() * sizeof(int64_t));
    while (out->size() < targets_.size() * sizeof(int64_t)) {
      if (is_gone()) return GoneError();
      const size_t before = out->size();
      VICINITY_RETURN_IF_ERROR(reader_.ReadDegrees(
          edge_type_, targets_.subspan(before / sizeof(int64_t), kTargetsBetweenLooks),
          [&] { out->resize(before); },
          [&](size_t, int64_t degree) {
            out->append(reinterpret_cast<const char*>(&degree), sizeof(degree));
            return true;
          }));
    }
    return Piece::kLast;
  }

 private:
  const ShardReader reader_;
  const EdgeTypeId edge_type_;
  const std::vector<uint64_t> copy_;
  const absl::Span<const uint64_t> targets_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ChunkSource<proto::DegreesReply>>> FetchDegrees(
    const ServerState& state, const proto::DegreesRequest& request) {
  VICINITY_ASSIGN_OR_RETURN(ShardReader reader, FindReader(state, request));
  const Schema& schema = state.dataset->schema();
  VICINITY_ASSIGN_OR_RETURN(const EdgeTypeId type, FindEdgeType(schema, request.edge_type()));
  const NodeTypeId target_type{schema.edge_types[type.value].target_type};
  std::vector<uint64_t> copy;
  VICINITY_ASSIGN_OR_RETURN(const absl::Span<const uint64_t> targets,
                            ReadIds("targets", request.targets(), state.limits, &copy));
  VICINITY_RETURN_IF_ERROR(CheckRows(targets, reader.num_nodes(target_type), reader.shard(),
                                     schema.node_types[target_type.value].name));
  return std::make_unique<Degrees>(std::move(reader), type, std::move(copy), targets);
}

int64_t ReplyBytes(const ServerState&, const proto::DegreesRequest& request) {
  return static_cast<int64_t>(request.targets().size());
}

}  // namespace vicinity
