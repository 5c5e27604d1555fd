#include "client/rpc/sample_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/rpc/wire_array.h"
#include "proto/common/status.h"

namespace vicinity {

SampleReader::SampleReader(std::vector<ExpectedRelation> relations, EdgeDetail detail)
    : relations_(std::move(relations)), detail_(detail) {}

absl::Status SampleReader::Add(const proto::SampleChunk& chunk, const SlicedMessage& arrays) {
  VICINITY_RETURN_IF_ERROR(Locate(chunk));
  VICINITY_RETURN_IF_ERROR(AddCounts(chunk, arrays));
  return AddSources(arrays);
}

absl::Status SampleReader::Finish() const {
  const bool last = current_ + 1 >= relations_.size();
  if (relations_.empty() || (last && !more_ && targets_ == relations_[current_].num_targets)) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the answer ends after ", targets_,
                                          " targets of relation ", current_, " of ",
                                          relations_.size()));
}

absl::Status SampleReader::Locate(const proto::SampleChunk& chunk) {
  if (chunk.relation() >= relations_.size()) {
    return absl::InternalError(
        absl::StrCat("relation ", chunk.relation(), " of ", relations_.size(), " in a chunk"));
  }
  if (chunk.relation() == current_ + 1 && !more_ && targets_ == relations_[current_].num_targets) {
    ++current_;
    targets_ = 0;
  }
  // A list that did not fit goes on: its target is named again.
  const int64_t first = chunk.first_target();
  if (chunk.relation() == current_ && first == targets_ - (more_ ? 1 : 0)) {
    more_ = chunk.more();
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("a chunk of relation ", chunk.relation(), " from target ",
                                          first, " where relation ", current_, ", target ",
                                          targets_, " is next"));
}

absl::Status SampleReader::AddCounts(const proto::SampleChunk& chunk, const SlicedMessage& arrays) {
  const ExpectedRelation& relation = relations_[current_];
  const SlicedBytes& counts = arrays[proto::SampleChunk::kCountsFieldNumber];
  const auto num_counts = static_cast<int64_t>(counts.size() / sizeof(uint32_t));
  if (counts.empty() || counts.size() % sizeof(uint32_t) != 0 ||
      chunk.first_target() + num_counts > relation.num_targets) {
    return absl::InternalError(absl::StrCat(counts.size(), " bytes of counts from target ",
                                            chunk.first_target(), " of ", relation.num_targets));
  }
  std::vector<uint32_t>& all = relation.out->counts;
  const auto begin = static_cast<int64_t>(all.size());
  AppendArray(counts, &all);
  const uint64_t sum = std::accumulate(all.begin() + begin, all.end(), uint64_t{0});
  if (chunk.first_target() < targets_) {  // the first goes on with a list
    const uint64_t total = uint64_t{all[begin - 1]} + all[begin];
    all[begin - 1] = static_cast<uint32_t>(std::min<uint64_t>(total, UINT32_MAX));
    all.erase(all.begin() + begin);
  }
  if (relation.fanout > 0) {
    const auto longest = std::max_element(all.end() - num_counts, all.end());
    if (*longest > static_cast<uint64_t>(relation.fanout)) {
      return absl::InternalError(absl::StrCat(*longest, " neighbours for target ",
                                              longest - all.begin(), " where ", relation.fanout,
                                              " is the most"));
    }
  }
  targets_ = chunk.first_target() + num_counts;
  const size_t bytes = sum * sizeof(int64_t);
  const size_t source_bytes = arrays[proto::SampleChunk::kSourcesFieldNumber].size();
  const size_t id_bytes = arrays[proto::SampleChunk::kEdgeIdsFieldNumber].size();
  const size_t position_bytes = arrays[proto::SampleChunk::kEdgePositionsFieldNumber].size();
  const size_t time_bytes = arrays[proto::SampleChunk::kEdgeTimesFieldNumber].size();
  if (source_bytes != bytes || id_bytes != (detail_.ids ? bytes : 0) ||
      position_bytes != (detail_.positions ? bytes : 0) ||
      time_bytes != (detail_.times && relation.by_time ? bytes : 0)) {
    return absl::InternalError(absl::StrCat(
        "counts say ", sum, " neighbours, there are ", source_bytes, " bytes of them, ", id_bytes,
        " of edge ids, ", position_bytes, " of edge positions and ", time_bytes, " of times"));
  }
  return absl::OkStatus();
}

absl::Status SampleReader::AddSources(const SlicedMessage& arrays) {
  const ExpectedRelation& relation = relations_[current_];
  std::vector<int64_t>& sources = relation.out->sources;
  const size_t before = sources.size();
  AppendArray(arrays[proto::SampleChunk::kSourcesFieldNumber], &sources);
  AppendArray(arrays[proto::SampleChunk::kEdgeIdsFieldNumber], &relation.out->edge_ids);
  AppendArray(arrays[proto::SampleChunk::kEdgePositionsFieldNumber], &relation.out->edge_positions);
  AppendArray(arrays[proto::SampleChunk::kEdgeTimesFieldNumber], &relation.out->edge_times);
  for (size_t i = before; i < sources.size(); ++i) {
    if (sources[i] < 0 || sources[i] >= relation.num_sources) {
      return absl::InternalError(absl::StrCat("neighbour ", sources[i], " where there are ",
                                              relation.num_sources, " nodes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
