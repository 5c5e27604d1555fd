#include "partition/fold/carried_changes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/dataset/book.h"
#include "partition/overlay/batch_check.h"
#include "partition/overlay/grown_ids.h"
#include "partition/overlay/live_base.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "proto/manifest.pb.h"

namespace vicinity {
namespace {

using Positions = std::vector<int>;  // of what is carried of a part, rising
using Ids = google::protobuf::RepeatedField<uint64_t>;

void KeepIds(const Positions& positions, Ids* ids) {
  for (size_t i = 0; i < positions.size(); ++i) {
    ids->Set(static_cast<int>(i), ids->Get(positions[i]));
  }
  ids->Truncate(static_cast<int>(positions.size()));
}

void KeepRows(const Positions& positions, int64_t row_bytes, proto::ColumnValues* values) {
  std::string kept;
  for (const int i : positions) kept.append(values->rows(), i * row_bytes, row_bytes);
  values->set_rows(std::move(kept));
}

void KeepRows(const Positions& positions, proto::RaggedValues* values) {
  proto::RaggedValues kept;
  size_t next = 0;
  size_t begin = 0;  // of row i
  for (int i = 0; i < values->sizes_size(); ++i) {
    const uint32_t size = values->sizes(i);
    if (next < positions.size() && positions[next] == i) {
      kept.add_sizes(size);
      kept.mutable_rows()->append(values->rows(), begin, size);
      ++next;
    }
    begin += size;
  }
  *values = std::move(kept);
}

// Drops the parts of which nothing is left.
template <typename Parts, typename IsEmpty>
void DropEmpty(const IsEmpty& is_empty, Parts* parts) {
  parts->erase(std::remove_if(parts->begin(), parts->end(), is_empty), parts->end());
}

}  // namespace

// Carries one change.
class CarriedChanges::Carrier {
 public:
  Carrier(const CarriedChanges& ids, ShardId shard, std::vector<NewEdgesOf>* edges)
      : ids_(ids), schema_(ids.source_.schema()), shard_(shard), edges_(*edges) {}

  void Carry(proto::Change* change) {
    proto::WriteBatch& batch = *change->mutable_batch();
    for (int p = 0; p < batch.new_nodes_size(); ++p) {
      const int64_t at_fold = NewNodesAtFold({batch.new_nodes(p).node_type()});
      change->set_first_nodes(p, change->first_nodes(p) - static_cast<uint64_t>(at_fold));
    }
    for (int p = 0; p < batch.new_edges_size(); ++p) {
      change->set_first_edges(p, CarryNew(batch.mutable_new_edges(p)));
    }
    for (proto::NodeRows& part : *batch.mutable_node_rows()) Carry(&part);
    for (proto::NodeRaggedRows& part : *batch.mutable_node_ragged_rows()) Carry(&part);
    for (proto::EdgeRows& part : *batch.mutable_edge_rows()) Carry(&part);
    for (proto::EdgeNames& part : *batch.mutable_gone_edges()) CarryNames(&part);
    for (proto::GoneNodes& part : *batch.mutable_gone_nodes()) {
      CarryNodes({part.node_type()}, part.mutable_nodes());
    }
    // Keys stay what they are, and each is there or not as in the old shard.
    DropEmptyParts(&batch);
  }

 private:
  int64_t NewNodesAtFold(NodeTypeId type) const {
    return ids_.kept_.num_rows(shard_, type) - ids_.source_.book().num_nodes(type, shard_);
  }

  // Carries ids and gives the positions of those that are.
  Positions CarryNodes(NodeTypeId type, Ids* nodes) const {
    Positions positions;
    for (int i = 0; i < nodes->size(); ++i) {
      const int64_t node = ids_.NewNode(type, nodes->Get(i));
      if (node < 0) continue;
      nodes->Set(i, static_cast<uint64_t>(node));
      positions.push_back(i);
    }
    KeepIds(positions, nodes);
    return positions;
  }

  // Gives the new number of the part's first edge.
  uint64_t CarryNew(proto::NewEdges* part) {
    const EdgeTypeSpec& type = schema_.edge_types[part->edge_type()];
    NewEdgesOf& all = edges_[part->edge_type()];
    const auto first = all.now - all.at_fold - static_cast<int64_t>(all.left_out.size());
    Positions positions;
    for (int i = 0; i < part->targets_size(); ++i, ++all.now) {
      const int64_t source = ids_.NewNode({type.source_type}, part->sources(i));
      const int64_t target = ids_.NewNode({type.target_type}, part->targets(i));
      if (source < 0 || target < 0) {
        all.left_out.push_back(all.now);
        continue;
      }
      part->set_sources(i, static_cast<uint64_t>(source));
      part->set_targets(i, static_cast<uint64_t>(target));
      positions.push_back(i);
    }
    if (static_cast<int>(positions.size()) < part->targets_size()) {
      KeepIds(positions, part->mutable_sources());
      KeepIds(positions, part->mutable_targets());
      for (int c = 0; c < part->columns_size(); ++c) {
        KeepRows(positions, type.columns[c].row_bytes(), part->mutable_columns(c));
      }
    }
    return static_cast<uint64_t>(first);
  }

  void Carry(proto::NodeRows* part) const {
    const ColumnSpec& column = schema_.node_types[part->node_type()].columns[part->column()];
    KeepRows(CarryNodes({part->node_type()}, part->mutable_nodes()), column.row_bytes(),
             part->mutable_values());
  }
  void Carry(proto::NodeRaggedRows* part) const {
    KeepRows(CarryNodes({part->node_type()}, part->mutable_nodes()), part->mutable_values());
  }
  void Carry(proto::EdgeRows* part) const {
    const EdgeTypeSpec& type = schema_.edge_types[part->edges().edge_type()];
    KeepRows(CarryNames(part->mutable_edges()), type.columns[part->column()].row_bytes(),
             part->mutable_values());
  }
  Positions CarryNames(proto::EdgeNames* edges) const {
    const EdgeTypeId type{edges->edge_type()};
    const NodeTypeId target_type{schema_.edge_types[type.value].target_type};
    Positions positions;
    for (int i = 0; i < edges->targets_size(); ++i) {
      const int64_t target = ids_.NewNode(target_type, edges->targets(i));
      const int64_t edge = ids_.NewEdge(shard_, type, edges->edge_ids(i));
      if (target < 0 || edge < 0) continue;
      edges->set_targets(i, static_cast<uint64_t>(target));
      edges->set_edge_ids(i, static_cast<uint64_t>(edge));
      positions.push_back(i);
    }
    KeepIds(positions, edges->mutable_targets());
    KeepIds(positions, edges->mutable_edge_ids());
    return positions;
  }

  // New nodes and edges have an answer for each of their parts.
  static void DropEmptyParts(proto::WriteBatch* batch) {
    const auto names_none = [](const auto& part) { return part.nodes().empty(); };
    DropEmpty(names_none, batch->mutable_node_rows());
    DropEmpty(names_none, batch->mutable_node_ragged_rows());
    DropEmpty(names_none, batch->mutable_gone_nodes());
    DropEmpty([](const proto::EdgeRows& part) { return part.edges().targets().empty(); },
              batch->mutable_edge_rows());
    DropEmpty([](const proto::EdgeNames& part) { return part.targets().empty(); },
              batch->mutable_gone_edges());
  }

  const CarriedChanges& ids_;
  const Schema& schema_;
  const ShardId shard_;
  std::vector<NewEdgesOf>& edges_;  // of the shard
};

CarriedChanges::CarriedChanges(const FoldSource& source, const Dataset& folded, KeptNodes kept)
    : source_(source), folded_(folded), kept_(std::move(kept)) {
  for (int32_t s = 0; s < source.num_shards(); ++s) {
    OfShard& shard = shards_.emplace_back();
    shard.at_fold = source.reader({s}).version();
    shard.next = shard.at_fold + 1;
    for (int32_t e = 0; e < static_cast<int32_t>(source.schema().edge_types.size()); ++e) {
      const int64_t at_fold = source.reader({s}).num_edges({e}) - source.files({s}).num_edges({e});
      shard.edges.push_back({at_fold, at_fold, {}});
    }
  }
}

absl::StatusOr<std::unique_ptr<CarriedChanges>> CarriedChanges::Prepare(const FoldSource& source,
                                                                        const Dataset& folded,
                                                                        Progress* progress) {
  if (!folded.whole()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folded.directory(), ": the folded dataset is not open as a whole"));
  }
  VICINITY_ASSIGN_OR_RETURN(KeptNodes kept, KeptNodes::Find(source, progress));
  std::unique_ptr<CarriedChanges> carried(new CarriedChanges(source, folded, std::move(kept)));
  VICINITY_RETURN_IF_ERROR(carried->CheckFoldedFrom());
  VICINITY_RETURN_IF_ERROR(carried->CheckNodes());
  VICINITY_RETURN_IF_ERROR(carried->FindEdges(progress));
  return carried;
}

absl::Status CarriedChanges::IsOtherFold(const std::string& why) const {
  std::string versions;
  for (const OfShard& shard : shards_) {
    absl::StrAppend(&versions, versions.empty() ? "" : ",", shard.at_fold);
  }
  return absl::FailedPreconditionError(
      absl::StrCat(folded_.directory(), " is no fold of ", source_.dataset().directory(),
                   " (dataset ", absl::Hex(source_.dataset().fingerprint(), absl::kZeroPad16),
                   ") at versions ", versions, ": ", why));
}

absl::Status CarriedChanges::IsOtherFold(const std::string& what, int64_t number,
                                         int64_t expected) const {
  return IsOtherFold(absl::StrCat("it has ", number, " ", what, ", and not ", expected));
}

absl::Status CarriedChanges::CheckFoldedFrom() const {
  if (!folded_.manifest().has_folded_from()) {
    return IsOtherFold("its manifest does not say that it is one (folded_from)");
  }
  const proto::FoldedFrom& from = folded_.manifest().folded_from();
  bool same = from.fingerprint() == source_.dataset().fingerprint() &&
              from.versions_size() == static_cast<int>(shards_.size());
  for (size_t s = 0; same && s < shards_.size(); ++s) {
    same = from.versions(static_cast<int>(s)) == shards_[s].at_fold;
  }
  if (same) return absl::OkStatus();
  return IsOtherFold(absl::StrCat("its manifest says that it is one of dataset ",
                                  absl::Hex(from.fingerprint(), absl::kZeroPad16), " at versions ",
                                  absl::StrJoin(from.versions(), ",")));
}

absl::Status CarriedChanges::CheckNodes() const {
  const Book& book = folded_.book();
  if (book.num_shards() != source_.num_shards()) {
    return IsOtherFold("shards", book.num_shards(), source_.num_shards());
  }
  const auto edge_types = static_cast<int64_t>(folded_.schema().edge_types.size());
  const auto expected_types = static_cast<int64_t>(source_.schema().edge_types.size());
  if (book.num_node_types() != source_.book().num_node_types()) {
    return IsOtherFold("node types", book.num_node_types(), source_.book().num_node_types());
  }
  if (edge_types != expected_types) return IsOtherFold("edge types", edge_types, expected_types);
  for (int32_t t = 0; t < book.num_node_types(); ++t) {
    for (int32_t s = 0; s < book.num_shards(); ++s) {
      const int64_t expected = kept_.NewRow({s}, {t}, kept_.num_rows({s}, {t}));
      const int64_t number = book.num_nodes({t}, {s});
      if (number == expected) continue;
      return IsOtherFold(
          absl::StrCat("nodes of type \"", source_.schema().node_types[t].name, "\" in shard ", s),
          number, expected);
    }
  }
  return absl::OkStatus();
}

absl::Status CarriedChanges::CheckEdges(EdgeTypeId type) const {
  int64_t number = 0;
  for (const std::unique_ptr<Shard>& shard : folded_.shards()) {
    number += shard->edges(type).num_edges();
  }
  const KeptEdges& kept = edges_[type.value];
  if (number == kept.of_files + kept.added) return absl::OkStatus();
  return IsOtherFold(
      absl::StrCat("edges of type \"", source_.schema().EdgeTypeName(type.value), "\""), number,
      kept.of_files + kept.added);
}

absl::Status CarriedChanges::FindEdges(Progress* progress) {
  for (int32_t e = 0; e < static_cast<int32_t>(source_.schema().edge_types.size()); ++e) {
    VICINITY_ASSIGN_OR_RETURN(KeptEdges kept,
                              FindKeptEdges(source_, kept_, {e}, nullptr, progress));
    edges_.push_back(std::move(kept));
    VICINITY_RETURN_IF_ERROR(CheckEdges({e}));
  }
  return absl::OkStatus();
}

int64_t CarriedChanges::NewNode(NodeTypeId type, uint64_t node) const {
  if (node >= static_cast<uint64_t>(kMaxNodes)) return -1;
  const Book::Place place = source_.book().PlaceOf(type, {static_cast<int64_t>(node)});
  const int64_t since = place.row.value - kept_.num_rows(place.shard, type);
  if (since < 0) return kept_.NewId(type, node);
  return GrownIds(folded_.book().num_nodes(type), source_.num_shards()).IdOf(place.shard, since);
}

int64_t CarriedChanges::NewEdge(ShardId shard, EdgeTypeId type, uint64_t edge) const {
  const NewEdgeIds& ids = edges_[type.value].ids;
  const GrownIds grown(LiveBase::kFirstNewEdge, source_.num_shards());
  const auto id = static_cast<int64_t>(edge);
  if (id < 0) return -1;
  if (!grown.IsNew(id)) return ids.HasOfFiles(id) ? static_cast<int64_t>(ids.OfFiles(id)) : -1;
  if (!(grown.OwnerOf(id) == shard)) return -1;
  const int64_t number = grown.NumberOf(id);
  const NewEdgesOf& since = shards_[shard.value].edges[type.value];
  if (number < since.at_fold) {
    const int64_t place = PlaceOfNewEdge(source_, shard, number);
    return ids.HasNew(place) ? static_cast<int64_t>(ids.New(place)) : -1;
  }
  const auto left_out = std::lower_bound(since.left_out.begin(), since.left_out.end(), number);
  if (left_out != since.left_out.end() && *left_out == number) return -1;
  return grown.IdOf(shard, number - since.at_fold - (left_out - since.left_out.begin()));
}

// Nothing in it leads outside of the arrays afterwards, and new edges are numbered as here.
absl::Status CarriedChanges::CheckChange(ShardId shard, proto::Change* change) const {
  for (proto::EdgeRows& part : *change->mutable_batch()->mutable_edge_rows()) {
    part.mutable_edges()->clear_positions();
  }
  for (proto::EdgeNames& part : *change->mutable_batch()->mutable_gone_edges()) {
    part.clear_positions();
  }
  const proto::WriteBatch& batch = change->batch();
  const Dataset& dataset = source_.dataset();
  const LiveBase base{dataset.schema(), dataset.book(), *dataset.shard(shard),
                      dataset.fingerprint()};
  // That which begins a term is empty.
  if (batch.ByteSizeLong() > 0) VICINITY_RETURN_IF_ERROR(CheckBatch(base, batch));
  if (change->first_nodes_size() != batch.new_nodes_size() ||
      change->first_edges_size() != batch.new_edges_size()) {
    return absl::DataLossError("it does not say which number each of its parts begins with");
  }
  for (int p = 0; p < batch.new_nodes_size(); ++p) {
    const NodeTypeId type{batch.new_nodes(p).node_type()};
    const int64_t at_fold = kept_.num_rows(shard, type) - source_.book().num_nodes(type, shard);
    if (change->first_nodes(p) >= static_cast<uint64_t>(at_fold)) continue;
    return absl::DataLossError(absl::StrCat("its new nodes begin with number ",
                                            change->first_nodes(p), ", and the fold has ",
                                            at_fold));
  }
  std::vector<uint64_t> expected;
  for (const NewEdgesOf& edges : shards_[shard.value].edges) expected.push_back(edges.now);
  for (int p = 0; p < batch.new_edges_size(); ++p) {
    uint64_t& next = expected[batch.new_edges(p).edge_type()];
    if (change->first_edges(p) != next) {
      return absl::DataLossError(absl::StrCat("its new edges begin with number ",
                                              change->first_edges(p), " where ", next,
                                              " comes next"));
    }
    next += batch.new_edges(p).targets_size();
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::Change> CarriedChanges::Carry(ShardId shard, proto::Change change) {
  OfShard& of_shard = shards_[shard.value];
  if (change.version() != of_shard.next) {
    return absl::InvalidArgumentError(absl::StrCat("version ", change.version(), " of shard ",
                                                   shard.value, ", where ", of_shard.next,
                                                   " comes next"));
  }
  if (const absl::Status fits = CheckChange(shard, &change); !fits.ok()) {
    return absl::DataLossError(absl::StrCat("version ", change.version(), " of shard ", shard.value,
                                            " is none: ", std::string(fits.message())));
  }
  Carrier(*this, shard, &of_shard.edges).Carry(&change);
  change.set_version(change.version() - of_shard.at_fold);
  ++of_shard.next;
  return change;
}

}  // namespace vicinity
