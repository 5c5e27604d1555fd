#include "partition/ingest/generated_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/value_cast.h"
#include "proto/common/parallel.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr ShardId kShard = {0};
constexpr int64_t kNodesAPiece = 1 << 13;

template <typename Integer>
void StoreInteger(double value, char* out) {
  // The largest 64-bit integer has no double: what rounds up to it is clamped before.
  const double low = static_cast<double>(std::numeric_limits<Integer>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  const double rounded = std::nearbyint(value);
  const Integer stored = rounded >= high  ? std::numeric_limits<Integer>::max()
                         : rounded <= low ? std::numeric_limits<Integer>::min()
                                          : static_cast<Integer>(rounded);
  std::memcpy(out, &stored, sizeof(stored));
}

template <typename Value>
void StoreAs(Value value, char* out) {
  std::memcpy(out, &value, sizeof(value));
}

void StoreRandom(DType dtype, NodeDraws* draws, char* out) {
  if (dtype == DType::kBool) {
    *out = static_cast<char>(draws->Next32() & 1);
  } else if (IsFloatingPoint(ToValueType(dtype))) {
    StoreValue(dtype, 2 * Uniform(draws) - 1, out);
  } else {
    const uint64_t bits = draws->Next64();
    std::memcpy(out, &bits, static_cast<size_t>(DTypeBytes(dtype)));
  }
}

}  // namespace

absl::Status SplitShares::Validate() const {
  for (const double share : {train, validation, test}) {
    if (!(share >= 0 && share <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat("a split's share is ", share));
    }
  }
  // Shares such as 0.6, 0.2 and 0.2 add up to a little more than 1.
  if (sum() <= 1 + 1e-9) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the splits' shares add up to ", sum()));
}

uint64_t StreamFor(uint64_t seed, Purpose purpose, uint64_t number) {
  DrawKey key;
  key.run_seed = seed;
  key.epoch = static_cast<uint64_t>(purpose);
  key.batch = number;
  key.edge_type = -1;  // apart from the sampler's draws, should the seeds be the same
  return StreamKey(key);
}

void StoreValue(DType dtype, double value, char* out) {
  switch (dtype) {
    case DType::kBool:
      return StoreAs<uint8_t>(value > 0, out);
    case DType::kInt8:
      return StoreInteger<int8_t>(value, out);
    case DType::kUint8:
      return StoreInteger<uint8_t>(value, out);
    case DType::kInt16:
      return StoreInteger<int16_t>(value, out);
    case DType::kInt32:
      return StoreInteger<int32_t>(value, out);
    case DType::kInt64:
      return StoreInteger<int64_t>(value, out);
    case DType::kFloat16:
      return StoreAs(FloatToHalf(static_cast<float>(value)), out);
    case DType::kBfloat16:
      return StoreAs(FloatToBfloat16(static_cast<float>(value)), out);
    case DType::kFloat32:
      return StoreAs(static_cast<float>(value), out);
    case DType::kFloat64:
      return StoreAs(value, out);
  }
}

absl::Status ForNodes(std::string_view phase, int64_t num_nodes, Progress* progress,
                      const std::function<void(int64_t begin, int64_t end)>& work) {
  progress->Begin(phase, num_nodes, "nodes");
  const absl::Status status =
      ForEachInParallel((num_nodes + kNodesAPiece - 1) / kNodesAPiece, progress,
                        [&](int64_t piece) -> absl::StatusOr<int64_t> {
                          const int64_t begin = piece * kNodesAPiece;
                          const int64_t end = std::min(begin + kNodesAPiece, num_nodes);
                          work(begin, end);
                          return end - begin;
                        });
  progress->End();
  return status;
}

absl::Status WriteDenseKeys(NodeTypeId type, DatasetWriter* writer) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, writer->Keys(kShard, type));
  uint64_t next = 0;
  for (uint64_t& key : keys.as<uint64_t>()) key = next++;
  return absl::OkStatus();
}

absl::Status WriteRandomColumn(uint64_t seed, NodeTypeId type, int column, DatasetWriter* writer,
                               Progress* progress) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray rows, writer->Column(kShard, type, column));
  const ColumnSpec& spec = writer->schema()
                               .node_types[static_cast<size_t>(type.value)]
                               .columns[static_cast<size_t>(column)];
  const int64_t value_bytes = DTypeBytes(spec.dtype);
  const uint64_t stream = StreamFor(seed, Purpose::kColumn, static_cast<uint64_t>(column));
  return ForNodes("writing " + spec.name, rows.num_rows, progress, [&](int64_t begin, int64_t end) {
    for (int64_t node = begin; node < end; ++node) {
      NodeDraws draws(stream, static_cast<uint64_t>(node));
      char* out = rows.data + node * rows.row_bytes;
      for (int64_t i = 0; i < spec.num_values(); ++i, out += value_bytes) {
        StoreRandom(spec.dtype, &draws, out);
      }
    }
  });
}

absl::Status WriteSplits(const SplitShares& shares, uint64_t seed, NodeTypeId type, int column,
                         DatasetWriter* writer, IngestReport::Nodes* report) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray rows, writer->Column(kShard, type, column));
  const absl::Span<uint8_t> splits = rows.as<uint8_t>();
  const uint64_t stream = StreamFor(seed, Purpose::kSplit);
  for (size_t node = 0; node < splits.size(); ++node) {
    NodeDraws draws(stream, node);
    const double draw = Uniform(&draws);
    Split split = Split::kNone;
    if (draw < shares.train) {
      split = Split::kTrain;
      ++report->train;
    } else if (draw < shares.train + shares.validation) {
      split = Split::kValidation;
      ++report->validation;
    } else if (draw < shares.sum()) {
      split = Split::kTest;
      ++report->test;
    }
    splits[node] = static_cast<uint8_t>(split);
  }
  return absl::OkStatus();
}

}  // namespace vicinity
