#include "client/sample_reader.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/wire_array.h"
#include "proto/common/status.h"

namespace vicinity {

SampleReader::SampleReader(std::vector<ExpectedRelation> relations, bool want_edge_ids)
    : relations_(std::move(relations)), want_edge_ids_(want_edge_ids) {}

absl::Status SampleReader::Add(const proto::SampleChunk& chunk) {
  VICINITY_RETURN_IF_ERROR(Locate(chunk));
  VICINITY_RETURN_IF_ERROR(AddCounts(chunk));
  return AddSources(chunk);
}

absl::Status SampleReader::Finish() const {
  const bool last = current_ + 1 >= relations_.size();
  if (relations_.empty() || (last && targets_ == relations_[current_].num_targets)) {
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
  if (chunk.relation() == current_ + 1 && targets_ == relations_[current_].num_targets) {
    ++current_;
    targets_ = 0;
  }
  // A list that did not fit goes on: its target is named again.
  const int64_t first = chunk.first_target();
  const bool in_order = chunk.relation() == current_ &&
                        (first == targets_ || (targets_ > 0 && first == targets_ - 1));
  if (in_order) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("a chunk of relation ", chunk.relation(), " from target ",
                                          first, " where relation ", current_, ", target ",
                                          targets_, " is next"));
}

absl::Status SampleReader::AddCounts(const proto::SampleChunk& chunk) {
  const ExpectedRelation& relation = relations_[current_];
  const std::string& counts = chunk.counts();
  const auto num_counts = static_cast<int64_t>(counts.size() / sizeof(uint32_t));
  if (counts.empty() || counts.size() % sizeof(uint32_t) != 0 ||
      chunk.first_target() + num_counts > relation.num_targets) {
    return absl::InternalError(absl::StrCat(counts.size(), " bytes of counts from target ",
                                            chunk.first_target(), " of ", relation.num_targets));
  }
  std::vector<uint32_t>& all = relation.out->counts;
  uint64_t sum = 0;
  for (int64_t i = 0; i < num_counts; ++i) {
    const auto count = ArrayValue<uint32_t>(counts, i);
    sum += count;
    uint64_t total = count;
    if (chunk.first_target() + i < targets_) {
      total += all.back();
      all.back() = static_cast<uint32_t>(total);
    } else {
      all.push_back(count);
    }
    const uint64_t most = relation.fanout > 0 ? static_cast<uint64_t>(relation.fanout)
                                              : std::numeric_limits<uint32_t>::max();
    if (total > most) {
      return absl::InternalError(absl::StrCat(total, " neighbours for target ",
                                              chunk.first_target() + i, " where ", most,
                                              " is the most"));
    }
  }
  targets_ = chunk.first_target() + num_counts;
  const size_t ids = want_edge_ids_ ? chunk.sources().size() : 0;
  if (chunk.sources().size() != sum * sizeof(int64_t) || chunk.edge_ids().size() != ids) {
    return absl::InternalError(absl::StrCat("counts say ", sum, " neighbours, there are ",
                                            chunk.sources().size(), " bytes of them and ",
                                            chunk.edge_ids().size(), " of edge ids"));
  }
  return absl::OkStatus();
}

absl::Status SampleReader::AddSources(const proto::SampleChunk& chunk) {
  const ExpectedRelation& relation = relations_[current_];
  std::vector<int64_t>& sources = relation.out->sources;
  const size_t before = sources.size();
  AppendArray(chunk.sources(), &sources);
  AppendArray(chunk.edge_ids(), &relation.out->edge_ids);
  for (size_t i = before; i < sources.size(); ++i) {
    if (sources[i] < 0 || sources[i] >= relation.num_sources) {
      return absl::InternalError(absl::StrCat("neighbour ", sources[i], " where there are ",
                                              relation.num_sources, " nodes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace vicinity
