#include "client/loading/batch_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/loading/ahead_limits.h"
#include "client/types/row_buffer.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

absl::Status InColumn(const BatchRows::Column& column, const absl::Status& status) {
  return At(absl::StrCat("column ", column.result.spec.name), status);
}

// Has each node's row come where it is first; the others are repeats of that.
std::vector<BatchRows::Repeat> TakeFirst(const NodeList& list, SplitNodes* nodes) {
  std::vector<int64_t> first(list.ids.size());
  std::vector<BatchRows::Repeat> repeats;
  repeats.reserve(list.places.size() - list.ids.size());
  size_t num_known = 0;
  for (size_t row = 0; row < list.places.size(); ++row) {
    const auto place = static_cast<size_t>(list.places[row]);
    if (place == num_known) {
      first[num_known++] = static_cast<int64_t>(row);
    } else {
      repeats.push_back({static_cast<int64_t>(row), first[place]});
    }
  }
  for (int64_t& position : nodes->local_positions) position = first[position];
  for (int64_t& position : nodes->remote_positions) position = first[position];
  return repeats;
}

void CopyRepeats(absl::Span<const BatchRows::Repeat> repeats, BatchColumn* column) {
  const auto row_bytes = static_cast<size_t>(column->spec.row_bytes());
  if (row_bytes == 0) return;
  char* const rows = column->bytes.data();
  for (const BatchRows::Repeat& repeat : repeats) {
    std::memcpy(rows + repeat.row * row_bytes, rows + repeat.first * row_bytes, row_bytes);
  }
}

}  // namespace

PinnedRows::PinnedRows(RowPool* pool, PoolBatch batch) : pool_(pool), batch_(std::move(batch)) {}

PinnedRows::~PinnedRows() {
  if (pool_ != nullptr) pool_->Release(batch_);
}

PinnedRows::PinnedRows(PinnedRows&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), batch_(std::move(other.batch_)) {}

PinnedRows& PinnedRows::operator=(PinnedRows&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(batch_, other.batch_);
  return *this;
}

RowLoader::RowLoader(const ShardRouter& router, std::vector<ColumnPlan> columns)
    : router_(router), columns_(std::move(columns)) {}

BatchRows RowLoader::Split(const SampledGraph& graph) const {
  std::vector<NodeList> lists;
  for (const SampledNodes& of_type : graph.nodes) lists.push_back({of_type.ids, {}});
  return Split(lists);
}

BatchRows RowLoader::Split(absl::Span<const NodeList> lists) const {
  BatchRows rows;
  rows.nodes.resize(lists.size());
  rows.repeats.resize(lists.size());
  rows.columns.resize(columns_.size());
  std::vector<bool> is_split(lists.size(), false);
  for (size_t c = 0; c < columns_.size(); ++c) {
    const NodeTypeId type = columns_[c].type;
    const int32_t number = columns_[c].nodes();
    const NodeList& list = lists[number];
    BatchColumn& result = rows.columns[c].result;
    result.node_type = type.value;
    result.spec = router_.SpecOf(type, columns_[c].column);
    result.num_rows = list.num_rows();
    if (is_split[number]) continue;
    is_split[number] = true;
    rows.nodes[number] =
        NearAndFar(router_, type, list.ids, /*by_shard=*/columns_[c].device != nullptr);
    if (!list.places.empty()) rows.repeats[number] = TakeFirst(list, &rows.nodes[number]);
  }
  return rows;
}

int64_t RowLoader::Bytes(const BatchRows& rows) const {
  int64_t bytes = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const BatchColumn& result = rows.columns[c].result;
    const std::vector<int64_t>& remote = rows.nodes[columns_[c].nodes()].remote;
    bytes += (result.num_rows + static_cast<int64_t>(remote.size())) * result.spec.row_bytes();
  }
  return bytes;
}

int64_t RowLoader::AnnouncedBytes(const BatchRows& rows) const {
  int64_t num_ids = 0;
  for (const ColumnPlan& column : columns_) {
    if (column.pool == nullptr || rows.nodes.empty()) continue;
    num_ids += static_cast<int64_t>(rows.nodes[column.nodes()].remote.size());
  }
  return kAnnouncedIdBytes * num_ids;
}

absl::Status RowLoader::Announce(const BatchRows& rows) const {
  for (const ColumnPlan& column : columns_) {
    if (column.pool == nullptr) continue;
    VICINITY_RETURN_IF_ERROR(column.pool->Announce(rows.nodes[column.nodes()].remote));
  }
  return absl::OkStatus();
}

void RowLoader::Forget() const {
  for (const ColumnPlan& column : columns_) {
    if (column.pool != nullptr) column.pool->Forget();
  }
}

absl::Status RowLoader::Admit(BatchRows* rows, RowCounts* counts) const {
  std::vector<int64_t> fetched(rows->nodes.size(), 0);  // by list, of the column that lacks most
  for (size_t c = 0; c < columns_.size(); ++c) {
    const SplitNodes& nodes = rows->nodes[columns_[c].nodes()];
    BatchRows::Column& column = rows->columns[c];
    const auto num_remote = static_cast<int64_t>(nodes.remote.size());
    int64_t num_fetched = num_remote;
    if (RowPool* pool = columns_[c].pool.get(); pool != nullptr) {
      absl::StatusOr<PoolBatch> admitted = pool->Admit(nodes.remote);
      if (!admitted.ok()) return InColumn(column, admitted.status());
      PoolBatch batch = *std::move(admitted);
      for (const int32_t i : batch.missing) column.missing.push_back(nodes.remote[i]);
      num_fetched = static_cast<int64_t>(batch.missing.size());
      column.pinned = PinnedRows(pool, std::move(batch));
    }
    counts->local += static_cast<int64_t>(nodes.local.size());
    counts->cached += num_remote - num_fetched;
    counts->remote += num_fetched;
    counts->remote_bytes += num_fetched * column.result.spec.row_bytes();
    int64_t& of_list = fetched[columns_[c].nodes()];
    of_list = std::max(of_list, num_fetched);
  }
  for (const int64_t nodes : fetched) counts->fetched_nodes += nodes;
  return absl::OkStatus();
}

absl::Status RowLoader::Fetch(BatchRows* rows, const CallContext& context) const {
  std::vector<ColumnFetch> fetches;
  std::vector<RowBuffer> arrived(columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const BatchRows::Column& column = rows->columns[c];
    arrived[c].resize(column.missing.size() * column.result.spec.row_bytes());
    fetches.push_back(
        {columns_[c].type, columns_[c].column, column.missing, {}, arrived[c].data()});
  }
  VICINITY_RETURN_IF_ERROR(router_.FetchRows(fetches, context));
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (arrived[c].empty()) continue;
    VICINITY_RETURN_IF_ERROR(
        columns_[c].pool->Deliver(rows->columns[c].pinned.batch(), 0, arrived[c]));
    arrived[c] = RowBuffer();
  }
  return absl::OkStatus();
}

bool RowLoader::WaitForTensors(std::chrono::nanoseconds timeout) const {
  const auto start = std::chrono::steady_clock::now();
  return std::all_of(columns_.begin(), columns_.end(), [&](const ColumnPlan& column) {
    const auto waited = std::chrono::steady_clock::now() - start;
    return column.device == nullptr || column.device->WaitForTensor(timeout - waited);
  });
}

absl::Status RowLoader::Assemble(BatchRows* rows, std::chrono::nanoseconds timeout) const {
  std::vector<ColumnFetch> fetches;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const SplitNodes& nodes = rows->nodes[columns_[c].nodes()];
    BatchRows::Column& column = rows->columns[c];
    if (columns_[c].device != nullptr) {
      absl::StatusOr<std::unique_ptr<DeviceTensor>> tensor =
          columns_[c].device->Assemble(nodes, column.pinned.batch(), timeout);
      if (!tensor.ok()) return InColumn(column, tensor.status());
      column.result.tensor = *std::move(tensor);
    } else {
      VICINITY_RETURN_IF_ERROR(InColumn(column, AssembleRemote(c, nodes, &column, timeout)));
      fetches.push_back({columns_[c].type, columns_[c].column, nodes.local, nodes.local_positions,
                         column.result.bytes.data()});
    }
  }
  VICINITY_RETURN_IF_ERROR(router_.FetchRows(fetches, nullptr));
  for (size_t c = 0; c < columns_.size(); ++c) {
    CopyRepeats(rows->repeats[columns_[c].nodes()], &rows->columns[c].result);
  }
  return absl::OkStatus();
}

absl::Status RowLoader::AssembleRemote(size_t c, const SplitNodes& nodes, BatchRows::Column* column,
                                       std::chrono::nanoseconds timeout) const {
  const int64_t row_bytes = column->result.spec.row_bytes();
  column->result.bytes.resize(column->result.num_rows * row_bytes);
  if (columns_[c].pool == nullptr) return absl::OkStatus();
  return columns_[c].pool->Assemble(column->pinned.batch(), nodes.remote_positions, timeout,
                                    column->result.bytes.data());
}

void RowLoader::Count(const RowCounts& counts) const {
  MutexLock lock(&mu_);
  counts_.local += counts.local;
  counts_.cached += counts.cached;
  counts_.remote += counts.remote;
  counts_.remote_bytes += counts.remote_bytes;
  counts_.fetched_nodes += counts.fetched_nodes;
}

RowCounts RowLoader::counts() const {
  MutexLock lock(&mu_);
  return counts_;
}

int64_t RowLoader::device_bytes() const {
  int64_t bytes = 0;
  for (const ColumnPlan& column : columns_) {
    if (column.device == nullptr) continue;
    bytes += column.device->device_bytes();
    if (&column == &columns_.front()) bytes += column.device->side().staging_bytes();
  }
  return bytes;
}

}  // namespace vicinity
