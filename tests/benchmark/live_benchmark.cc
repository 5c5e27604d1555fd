// What changes cost: those who write them, those who read over them, and who opens them again. One
// shard of a random graph of lists of 20 edges with weights and times, and rows of 512 bytes,
// behind a server (live_served.h), then in this process, without a network.
//
// Baselines here, in turns with what is measured: of writes and of rows that memory does not have
// RocksDB alone, with as many records of the same bytes, as durable; of other reads the same reader
// without an overlay. Small writes half a million edges, full five million.
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/live_view.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "sampler/local_sampler.h"
#include "sampler/one_hop.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_trainer.h"
#include "tests/benchmark/live_served.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kNodes = 100'000;
constexpr int64_t kEdges = 2'000'000;
constexpr int64_t kWidth = 128;  // floats of a row
constexpr int64_t kRowBytes = kWidth * 4;
constexpr int kEdgesABatch = 1'000;
constexpr int kRowsABatch = 256;
constexpr int kTargets = 1'024;
constexpr int kFanout = 15;
constexpr int kTurns = 5;
constexpr int kCallsATurn = 200;
constexpr EdgeTypeId kLinks{0};
constexpr NodeTypeId kNode{0};

std::unique_ptr<Dataset> OpenGraph(const std::string& directory) {
  testing::RandomGraphOptions options;
  options.num_nodes = kNodes;
  options.num_edges = kEdges;
  options.feature_width = kWidth;
  options.weights = true;
  options.times = true;
  Must(testing::WriteGraph(testing::RandomGraph(options), directory));
  return Must(Dataset::Open(directory));
}

// RocksDB by itself, in a folder of its own.
class Bare {
 public:
  explicit Bare(const std::string& folder) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    rocksdb::DB* db = nullptr;
    MustRocks(rocksdb::DB::Open(options, folder, &db));
    db_.reset(db);
  }
  void Write(int count, const std::string& value, bool durable) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < count; ++i) {
      const uint64_t key[] = {random_(), next_++};
      MustRocks(batch.Put({reinterpret_cast<const char*>(key), sizeof(key)}, value));
    }
    Write(&batch, durable);
  }
  // Rows by their numbers, each of them once.
  void WriteRows(int64_t count) {
    for (int64_t row = 0; row < count; ++row) {
      rocksdb::WriteBatch batch;
      MustRocks(batch.Put(KeyOf(&row), std::string(kRowBytes, 'x')));
      Write(&batch, false);
    }
  }
  // ... and their bytes, one behind the other.
  void ReadRows(const std::vector<uint64_t>& rows, std::string* out) {
    std::vector<rocksdb::Slice> keys;
    for (const uint64_t& row : rows) keys.push_back(KeyOf(&row));
    std::vector<rocksdb::PinnableSlice> values(rows.size());
    std::vector<rocksdb::Status> found(rows.size());
    db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(),
                  values.data(), found.data());
    out->clear();
    for (size_t i = 0; i < rows.size(); ++i) {
      MustRocks(found[i]);
      out->append(values[i].data(), values[i].size());
    }
  }

 private:
  template <typename Row>
  static rocksdb::Slice KeyOf(const Row* row) {
    return {reinterpret_cast<const char*>(row), sizeof(*row)};
  }
  void Write(rocksdb::WriteBatch* batch, bool durable) {
    rocksdb::WriteOptions options;
    options.sync = durable;
    MustRocks(db_->Write(options, batch));
  }
  static void MustRocks(const rocksdb::Status& status) {
    if (!status.ok()) Must(absl::InternalError(status.ToString()));
  }
  std::unique_ptr<rocksdb::DB> db_;
  std::mt19937_64 random_{1};
  uint64_t next_ = 0;
};

class Live {
 public:
  Live(const Dataset& dataset, std::string folder)
      : base_{dataset.schema(), dataset.book(), *dataset.shards()[0], dataset.fingerprint()},
        folder_(std::move(folder)) {
    Open();
  }

  void Open(const LiveShardOptions& options = LiveShardOptions()) {
    shard_.reset();
    shard_ = Must(LiveShard::Open(base_, folder_, options));
  }
  void WriteEdges(int count, bool durable) {
    proto::WriteBatch batch;
    proto::NewEdges& edges = *batch.add_new_edges();
    for (int i = 0; i < count; ++i) {
      edges.add_sources(random_() % kNodes);
      edges.add_targets(random_() % targets_);
    }
    edges.add_columns()->set_rows(std::string(count * sizeof(float), '\0'));
    edges.add_columns()->set_rows(std::string(count * sizeof(int64_t), '\0'));
    Write(std::move(batch), durable);
  }
  void WriteRows(int count, bool durable) {
    proto::WriteBatch batch;
    proto::NodeRows& rows = *batch.add_node_rows();
    for (int i = 0; i < count; ++i) rows.add_nodes(random_() % targets_);
    rows.mutable_values()->set_rows(std::string(count * kRowBytes, 'x'));
    Write(std::move(batch), durable);
  }
  // Writes go to the first of the nodes alone.
  void Narrow(int64_t targets) { targets_ = targets; }
  const LiveShard& shard() const { return *shard_; }
  const LiveBase& base() const { return base_; }

 private:
  void Write(proto::WriteBatch batch, bool durable) {
    proto::WriteSession session;
    session.set_id("benchmark");
    session.set_sequence(++sequence_);
    Must(shard_
             ->Apply(session, std::move(batch), durable ? Durability::kSync : Durability::kBuffered,
                     absl::Now() + absl::Minutes(1))
             .status());
  }

  const LiveBase base_;
  const std::string folder_;
  std::unique_ptr<LiveShard> shard_;
  std::mt19937_64 random_{1};
  int64_t targets_ = kNodes;
  uint64_t sequence_ = 0;
};

template <typename Work>
double SecondsOf(int times, const Work& work) {
  return FastestSeconds(1, [&] {
    for (int i = 0; i < times; ++i) work();
  });
}

struct Writes {
  std::string what;
  std::string metric;
  int times;           // batches a turn
  double a_batch;      // of what the metric counts
  int records;         // a batch, of the baseline
  std::string record;  // ... each
};

template <typename Write>
void MeasureWrites(const Writes& writes, const Write& write, const std::string& folder,
                   BenchReport* report) {
  for (const bool durable : {false, true}) {
    Bare bare(absl::StrCat(folder, "/bare ", writes.what, durable));
    double ours = 1e300;
    double baseline = 1e300;
    for (int turn = 0; turn < kTurns; ++turn) {
      ours = std::min(ours, SecondsOf(writes.times, [&] { write(durable); }));
      baseline = std::min(baseline, SecondsOf(writes.times, [&] {
                            bare.Write(writes.records, writes.record, durable);
                          }));
    }
    const double total = writes.times * writes.a_batch;
    report->Add({"live",
                 absl::StrCat(writes.what, durable ? ", on disk" : ", buffered"),
                 writes.metric,
                 total / ours,
                 total / baseline,
                 {}});
  }
}

// A call's rows or lists, any of all.
std::vector<uint64_t> SomeRows(std::mt19937_64* random) {
  std::vector<uint64_t> rows(kTargets);
  for (uint64_t& row : rows) row = (*random)() % kNodes;
  return rows;
}

double FetchSeconds(const ShardReader& reader) {
  std::mt19937_64 random(7);
  std::string out;
  return SecondsOf(kCallsATurn, [&] {
    const std::vector<uint64_t> rows = SomeRows(&random);
    Must(reader.ReadRows(
        reader.NodeColumn(kNode, 0), rows, [&] { out.clear(); },
        [&](size_t, const char* row) { out.append(row, kRowBytes); }));
  });
}

double SampleSeconds(const Schema& schema, const ShardReader& reader, bool weighted) {
  std::mt19937_64 random(7);
  OneHopOptions options;
  options.fanout = kFanout;
  options.weighted = weighted;
  Neighbors neighbors;
  return SecondsOf(kCallsATurn, [&] {
    const std::vector<uint64_t> rows = SomeRows(&random);
    neighbors.Clear();
    options.stream = random();
    Must(SampleShard(schema, reader, kLinks, rows, options, &neighbors));
  });
}

void MeasureReads(const Live& live, const std::string& state, BenchReport* report) {
  const auto view = live.shard().Latest();
  const ShardReader over(live.base().shard, view.get());
  const ShardReader files(live.base().shard);
  const auto compare = [&](const std::string& what, const auto& seconds) {
    double ours = 1e300;
    double baseline = 1e300;
    seconds(over);  // fills caches
    for (int turn = 0; turn < kTurns; ++turn) {
      ours = std::min(ours, seconds(over));
      baseline = std::min(baseline, seconds(files));
    }
    const double each = 1e9 / (kCallsATurn * kTargets);
    report->Add(
        {"live", absl::StrCat(what, ", ", state), "ns/target", ours * each, baseline * each, {}});
  };
  compare("rows of 512 bytes", [](const ShardReader& reader) { return FetchSeconds(reader); });
  for (const bool weighted : {false, true}) {
    compare(weighted ? "15 neighbours by weight" : "15 neighbours", [&](const ShardReader& reader) {
      return SampleSeconds(live.base().schema, reader, weighted);
    });
  }
}

// All rows have changed, and memory has none of them.
void MeasureStored(Live* live, const std::string& folder, BenchReport* report) {
  Bare bare(folder + "/bare rows");
  bare.WriteRows(kNodes);
  for (int64_t i = 0; i < 2 * kNodes; i += kRowsABatch) live->WriteRows(kRowsABatch, false);
  LiveShardOptions nothing_kept;
  nothing_kept.row_cache_bytes = 0;
  live->Open(nothing_kept);
  const auto view = live->shard().Latest();
  const ShardReader over(live->base().shard, view.get());
  double ours = 1e300;
  double baseline = 1e300;
  std::string out;
  for (int turn = 0; turn < kTurns; ++turn) {
    ours = std::min(ours, FetchSeconds(over));
    std::mt19937_64 random(7);
    baseline =
        std::min(baseline, SecondsOf(kCallsATurn, [&] { bare.ReadRows(SomeRows(&random), &out); }));
  }
  const double rows = kCallsATurn * kTargets;
  report->Add({"live",
               "rows of 512 bytes, of the store alone",
               "rows/s",
               rows / ours,
               rows / baseline,
               {}});
}

void Run(const BenchOptions& options) {
  const testing::TempDir folder;
  const int scale = options.size == "full" ? 10 : 1;
  const std::unique_ptr<Dataset> dataset = OpenGraph(folder.File("graph"));
  const ServedPair served(folder.File("graph"), folder.File("served"));
  BenchReport report(options, std::cout);
  served.Measure(*dataset, &report);
  {
    Live live(*dataset, folder.File("few"));
    MeasureReads(live, "nothing changed", &report);
    live.Narrow(kNodes / 10);
    for (int64_t i = 0; i < kNodes / 5; i += kRowsABatch) live.WriteRows(kRowsABatch, false);
    for (int64_t i = 0; i < kNodes / 5; i += kEdgesABatch) live.WriteEdges(kEdgesABatch, false);
    MeasureReads(live, "a tenth changed", &report);
  }
  {
    Live live(*dataset, folder.File("all"));
    MeasureStored(&live, folder.File("all"), &report);
  }
  Live live(*dataset, folder.File("many"));
  const int64_t before = live.shard().memory_bytes();
  MeasureWrites(
      {"new edges, 1,000 a batch", "edges/s", 50 * scale, kEdgesABatch, kEdgesABatch,
       std::string(20, 'x')},
      [&](bool durable) { live.WriteEdges(kEdgesABatch, durable); }, folder.File("many"), &report);
  const int64_t num_edges = int64_t{50} * scale * kEdgesABatch * kTurns * 2;
  report.Add(
      {"live",
       "memory of new edges, lists as they come",
       "bytes/edge",
       static_cast<double>(live.shard().memory_bytes() - before) / static_cast<double>(num_edges),
       {},
       {}});
  report.Add({"live",
              absl::StrCat("opening with ", num_edges, " new edges"),
              "s",
              SecondsOf(1, [&] { live.Open(); }),
              {},
              {}});
  MeasureWrites(
      {"rows of 512 bytes, 256 a batch", "MB/s", 20 * scale, kRowsABatch * kRowBytes / 1e6,
       kRowsABatch, std::string(kRowBytes, 'x')},
      [&](bool durable) { live.WriteRows(kRowsABatch, durable); }, folder.File("many"), &report);
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
