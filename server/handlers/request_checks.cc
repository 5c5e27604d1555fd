#include "server/handlers/request_checks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/dataset/dataset.h"
#include "proto/common/status.h"

namespace vicinity {

absl::Status CheckFingerprint(const ServerState& state, uint64_t fingerprint) {
  const Dataset& dataset = *state.dataset;
  if (fingerprint == dataset.fingerprint()) return absl::OkStatus();
  if (fingerprint != 0 && fingerprint == state.follows) {
    return absl::FailedPreconditionError(absl::StrCat(
        "server \"", state.name, "\": dataset ", absl::Hex(dataset.fingerprint(), absl::kZeroPad16),
        " has taken the place of ", absl::Hex(fingerprint, absl::kZeroPad16),
        ", which nobody has read for long: open the graph anew"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("server \"", state.name, "\" serves dataset \"", dataset.manifest().name(),
                   "\" with fingerprint ", absl::Hex(dataset.fingerprint(), absl::kZeroPad16),
                   ", the caller means ", absl::Hex(fingerprint, absl::kZeroPad16)));
}

absl::StatusOr<const Shard*> FindShard(const ServerState& state, uint64_t fingerprint,
                                       int32_t shard) {
  VICINITY_RETURN_IF_ERROR(CheckFingerprint(state, fingerprint));
  const Dataset& dataset = *state.dataset;
  if (shard < 0 || shard >= dataset.book().num_shards()) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard ", shard, " does not exist, there are ", dataset.book().num_shards()));
  }
  VICINITY_RETURN_IF_ERROR(state.health->Check(ShardId{shard}));
  const Shard* found = dataset.shard(ShardId{shard});
  if (found == nullptr) {
    const auto id = [](std::string* out, ShardId served) { absl::StrAppend(out, served.value); };
    return absl::FailedPreconditionError(
        absl::StrCat("shard ", shard, " is not served by server \"", state.name, "\", which has ",
                     absl::StrJoin(dataset.wanted(), ", ", id)));
  }
  return found;
}

absl::StatusOr<std::shared_ptr<LiveShard>> FindLive(const ServerState& state, uint64_t fingerprint,
                                                    int32_t shard) {
  VICINITY_RETURN_IF_ERROR(FindShard(state, fingerprint, shard).status());
  if (state.live != nullptr) return state.live->Find(ShardId{shard});
  return absl::UnimplementedError(
      absl::StrCat("server \"", state.name, "\" has shard ", shard,
                   " read-only: where changes are kept, `changes` of the cluster file says, or the "
                   "server's --changes"));
}

absl::StatusOr<ShardReader> ReaderAt(const ServerState& state, uint64_t fingerprint, int32_t shard,
                                     const proto::ReadAt& at) {
  VICINITY_ASSIGN_OR_RETURN(const Shard* const found, FindShard(state, fingerprint, shard));
  if (state.live == nullptr) {
    if (at.version() == 0 && at.term() == 0) return ShardReader(*found);
    return absl::OutOfRangeError(absl::StrCat("shard ", shard, " is read-only on server \"",
                                              state.name, "\", which has no version ", at.version(),
                                              " of term ", at.term(), " of it"));
  }
  // The view keeps its shard, whose place another may take meanwhile.
  struct Kept {
    std::shared_ptr<LiveShard> shard;
    std::shared_ptr<const LiveView> view;
  };
  auto kept = std::make_shared<Kept>();
  VICINITY_ASSIGN_OR_RETURN(kept->shard, state.live->Find(ShardId{shard}));
  std::optional<uint64_t> term;
  if (at.of_term()) term = at.term();
  if (at.exactly()) {
    VICINITY_ASSIGN_OR_RETURN(kept->view, kept->shard->At(at.version(), term));
  } else {
    const uint64_t latest = kept->shard->version();
    VICINITY_ASSIGN_OR_RETURN(kept->view, kept->shard->At(std::max(latest, at.version())));
    if (term.has_value()) VICINITY_RETURN_IF_ERROR(kept->shard->CheckTerm(at.version(), *term));
  }
  const LiveView* const view = kept->view.get();
  return ShardReader(*found, std::shared_ptr<const LiveView>(std::move(kept), view));
}

absl::StatusOr<NodeTypeId> FindNodeType(const Schema& schema, int32_t node_type) {
  if (node_type < 0 || node_type >= static_cast<int64_t>(schema.node_types.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "node type ", node_type, " does not exist, there are ", schema.node_types.size()));
  }
  return NodeTypeId{node_type};
}

absl::StatusOr<EdgeTypeId> FindEdgeType(const Schema& schema, int32_t edge_type) {
  if (edge_type < 0 || edge_type >= static_cast<int64_t>(schema.edge_types.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "edge type ", edge_type, " does not exist, there are ", schema.edge_types.size()));
  }
  return EdgeTypeId{edge_type};
}

absl::StatusOr<absl::Span<const uint64_t>> ReadIds(absl::string_view field,
                                                   const std::string& bytes, const Limits& limits,
                                                   std::vector<uint64_t>* copy) {
  if (bytes.size() % sizeof(uint64_t) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", bytes.size(), " bytes are not whole ids of 8 bytes"));
  }
  const size_t count = bytes.size() / sizeof(uint64_t);
  if (count > static_cast<size_t>(limits.max_ids)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", count, " ids, a request may have ", limits.max_ids));
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) {
    return absl::MakeConstSpan(reinterpret_cast<const uint64_t*>(bytes.data()), count);
  }
  copy->resize(count);
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  return absl::MakeConstSpan(*copy);
}

absl::Status CheckRows(absl::Span<const uint64_t> rows, int64_t num_nodes, const Shard& shard,
                       absl::string_view node_type) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < static_cast<uint64_t>(num_nodes)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("row ", rows[i], " at position ", i, " does not exist: shard ",
                     shard.id().value, " has ", num_nodes, " nodes of type \"", node_type, "\""));
  }
  return absl::OkStatus();
}

}  // namespace vicinity
