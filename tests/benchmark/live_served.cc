#include "tests/benchmark/live_served.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/shards/fan_out.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "partition/overlay/live_values.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"
#include "tests/benchmark/vicinity_link.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kChunkBytes = 256 << 10;
constexpr int64_t kRowsACall = 4096;
constexpr int64_t kTargetsACall = 1024;
constexpr int kFanout = 15;
constexpr int kCallsATurn = 60;
constexpr int kTurns = 7;
constexpr int kWriters = 4;
constexpr int kEdgesABatch = 10'000;
constexpr int kRowsABatch = 1'000;
constexpr int kBatchesOfWriter = 30;

template <typename Request>
void Ask(ShardAccess* shard, const Request& request) {
  FanOut calls;
  shard->Ask(request, nullptr, calls.Add());
  Check(calls.Wait());
}

class Reading {
 public:
  explicit Reading(const Dataset& dataset)
      : num_nodes_(dataset.book().num_nodes(NodeTypeId{0})),
        row_bytes_(dataset.schema().node_types[0].columns[0].row_bytes()),
        rows_(kRowsACall * row_bytes_, '\0') {}

  double RowSeconds(ShardAccess* shard) {
    ShardRows request;
    request.row_bytes = row_bytes_;
    request.out = rows_.data();
    std::mt19937_64 random(7);
    return FastestSeconds(1, [&] {
      for (int call = 0; call < kCallsATurn; ++call) {
        const std::vector<uint64_t> some = Some(&random, kRowsACall);
        request.rows = some;
        Ask(shard, request);
      }
    });
  }

  double HopSeconds(ShardAccess* shard) {
    ShardHop hop;
    hop.relations.resize(1);
    hop.relations[0].spec.fanout = kFanout;
    Neighbors out;
    hop.out = absl::MakeSpan(&out, 1);
    std::mt19937_64 random(7);
    return FastestSeconds(1, [&] {
      for (int call = 0; call < kCallsATurn; ++call) {
        const std::vector<uint64_t> some = Some(&random, kTargetsACall);
        hop.relations[0].rows = some;
        hop.draw.batch = call;
        out.Clear();
        Ask(shard, hop);
      }
    });
  }

 private:
  std::vector<uint64_t> Some(std::mt19937_64* random, int64_t count) const {
    std::vector<uint64_t> some(count);
    for (uint64_t& row : some) row = (*random)() % num_nodes_;
    return some;
  }

  const int64_t num_nodes_;
  const int64_t row_bytes_;
  std::string rows_;
};

void Compare(const Dataset& dataset, ShardAccess* live, ShardAccess* files,
             const std::string& state, BenchReport* report) {
  Reading reading(dataset);
  const auto compare = [&](const std::string& what, int64_t a_call, const auto& seconds) {
    double ours = 1e300;
    double baseline = 1e300;
    seconds(live);  // fills caches
    for (int turn = 0; turn < kTurns; ++turn) {
      ours = std::min(ours, seconds(live));
      baseline = std::min(baseline, seconds(files));
    }
    const double each = 1e9 / static_cast<double>(kCallsATurn * a_call);
    report->Add({"live",
                 absl::StrCat("served ", what, ", ", state),
                 "ns/target",
                 ours * each,
                 baseline * each,
                 {}});
  };
  compare("rows of 512 bytes", kRowsACall,
          [&](ShardAccess* shard) { return reading.RowSeconds(shard); });
  compare("15 neighbours", kTargetsACall,
          [&](ShardAccess* shard) { return reading.HopSeconds(shard); });
}

// Writers of one process, each with a session of its own.
class Writing {
 public:
  Writing(const Dataset& dataset, ShardAccess* shard)
      : num_nodes_(dataset.book().num_nodes(NodeTypeId{0})),
        row_bytes_(dataset.schema().node_types[0].columns[0].row_bytes()),
        shard_(shard),
        sequences_(kWriters, 0) {}

  proto::WriteBatch Edges(std::mt19937_64* random, int64_t num_targets) const {
    proto::WriteBatch batch;
    proto::NewEdges& edges = *batch.add_new_edges();
    for (int i = 0; i < kEdgesABatch; ++i) {
      edges.add_sources((*random)() % num_nodes_);
      edges.add_targets((*random)() % num_targets);
    }
    edges.add_columns()->set_rows(std::string(kEdgesABatch * sizeof(float), '\0'));
    edges.add_columns()->set_rows(std::string(kEdgesABatch * sizeof(int64_t), '\0'));
    return batch;
  }
  proto::WriteBatch Rows(std::mt19937_64* random, int64_t num_targets) const {
    proto::WriteBatch batch;
    proto::NodeRows& rows = *batch.add_node_rows();
    for (int i = 0; i < kRowsABatch; ++i) rows.add_nodes((*random)() % num_targets);
    rows.mutable_values()->set_rows(std::string(kRowsABatch * row_bytes_, 'x'));
    return batch;
  }
  void Write(int writer, const proto::WriteBatch& batch, Durability durability) {
    proto::WriteSession session;
    session.set_id(absl::StrCat("writer ", writer));
    session.set_sequence(++sequences_[writer]);
    AppliedBatch applied;
    Ask(shard_, ShardWrite{&session, &batch, durability, &applied});
  }

  // Of batches that were made before.
  template <typename Make>
  double Seconds(Durability durability, const Make& make) {
    std::vector<std::vector<proto::WriteBatch>> batches(kWriters);
    std::mt19937_64 random(3);
    for (auto& of_writer : batches) {
      for (int i = 0; i < kBatchesOfWriter; ++i) of_writer.push_back(make(&random));
    }
    return FastestSeconds(1, [&] {
      std::vector<std::thread> threads;
      for (int writer = 0; writer < kWriters; ++writer) {
        threads.emplace_back([&, writer] {
          for (const proto::WriteBatch& batch : batches[writer]) Write(writer, batch, durability);
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
  }

  int64_t num_nodes() const { return num_nodes_; }
  int64_t row_bytes() const { return row_bytes_; }

 private:
  const int64_t num_nodes_;
  const int64_t row_bytes_;
  ShardAccess* const shard_;
  std::vector<uint64_t> sequences_;
};

void MeasureWriters(Writing* writing, BenchReport* report) {
  const int64_t all = writing->num_nodes();
  for (const Durability durability : {Durability::kBuffered, Durability::kSync}) {
    const std::string how = durability == Durability::kSync ? ", on disk" : ", buffered";
    const double edges = writing->Seconds(
        durability, [&](std::mt19937_64* random) { return writing->Edges(random, all); });
    report->Add({"live",
                 absl::StrCat("four writers' new edges, 10,000 a batch", how),
                 "edges/s",
                 kWriters * kBatchesOfWriter * kEdgesABatch / edges,
                 {},
                 {}});
    const double rows = writing->Seconds(
        durability, [&](std::mt19937_64* random) { return writing->Rows(random, all); });
    report->Add({"live",
                 absl::StrCat("four writers' rows of 512 bytes, 1,000 a batch", how),
                 "MB/s",
                 kWriters * kBatchesOfWriter * kRowsABatch *
                     static_cast<double>(writing->row_bytes()) / 1e6 / rows,
                 {},
                 {}});
  }
}

// Online readers: two hops, 10 neighbours each, around one node, in two calls one after the other.
class OnlineReaders {
 public:
  explicit OnlineReaders(const Dataset& dataset, ShardAccess* shard)
      : num_nodes_(dataset.book().num_nodes(NodeTypeId{0})), shard_(shard) {}

  struct Seen {
    double requests_a_second = 0;
    double p50_ms = 0;
    double p99_ms = 0;
  };
  Seen Read(absl::Duration time) const {
    std::vector<std::vector<double>> waits(kReaders);
    std::vector<std::thread> threads;
    const absl::Time until = absl::Now() + time;
    for (int reader = 0; reader < kReaders; ++reader) {
      threads.emplace_back([this, reader, until, &waits] {
        std::mt19937_64 random(reader);
        while (absl::Now() < until) waits[reader].push_back(Request(&random));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const auto& each : waits) all.insert(all.end(), each.begin(), each.end());
    std::sort(all.begin(), all.end());
    return {static_cast<double>(all.size()) / absl::ToDoubleSeconds(time), all[all.size() / 2],
            all[all.size() * 99 / 100]};
  }

 private:
  static constexpr int kReaders = 4;

  // What it waited for, in milliseconds.
  double Request(std::mt19937_64* random) const {
    const absl::Time begun = absl::Now();
    std::vector<uint64_t> targets = {(*random)() % num_nodes_};
    for (int hops = 0; hops < 2; ++hops) {
      ShardHop hop;
      hop.relations.resize(1);
      hop.relations[0].spec.fanout = 10;
      hop.relations[0].rows = targets;
      hop.draw.batch = static_cast<int64_t>((*random)() % 1000);
      Neighbors out;
      hop.out = absl::MakeSpan(&out, 1);
      Ask(shard_, hop);
      targets.assign(out.sources.begin(), out.sources.end());
      if (targets.empty()) break;
    }
    return absl::ToDoubleMilliseconds(absl::Now() - begun);
  }

  const int64_t num_nodes_;
  ShardAccess* const shard_;
};

// Writes rows at a rate, until it goes.
class SteadyIngest {
 public:
  SteadyIngest(Writing* writing, double bytes_a_second)
      : thread_([this, writing, bytes_a_second] {
          std::mt19937_64 random(5);
          const double a_batch = static_cast<double>(kRowsABatch * writing->row_bytes());
          absl::Time next = absl::Now();
          while (!stop_) {
            writing->Write(1, writing->Rows(&random, writing->num_nodes()), Durability::kSync);
            written_ += kRowsABatch * writing->row_bytes();
            next += absl::Seconds(a_batch / bytes_a_second);
            absl::SleepFor(next - absl::Now());
          }
        }) {}
  ~SteadyIngest() {
    stop_ = true;
    thread_.join();
  }
  int64_t written() const { return written_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> written_{0};
  std::thread thread_;
};

double BarrierMilliseconds(ShardAccess* shard) {
  std::vector<double> waits;
  for (int i = 0; i < 500; ++i) {
    const absl::Time begun = absl::Now();
    ShardVersion version;
    Ask(shard, ShardBarrier{&version});
    waits.push_back(absl::ToDoubleMilliseconds(absl::Now() - begun));
  }
  std::sort(waits.begin(), waits.end());
  return waits[waits.size() * 99 / 100];
}

void MeasureBoth(const Dataset& dataset, ShardAccess* shard, Writing* writing,
                 BenchReport* report) {
  constexpr absl::Duration kTime = absl::Seconds(5);
  const double rate = 5e6 * std::max(1U, std::thread::hardware_concurrency());
  const OnlineReaders readers(dataset, shard);
  const OnlineReaders::Seen alone = readers.Read(kTime);
  OnlineReaders::Seen beside;
  double barrier = 0;
  double ingested = 0;
  {
    const SteadyIngest ingest(writing, rate);
    const absl::Time begun = absl::Now();
    beside = readers.Read(kTime);
    ingested = static_cast<double>(ingest.written()) / absl::ToDoubleSeconds(absl::Now() - begun);
    barrier = BarrierMilliseconds(shard);
  }
  const auto add = [report](const std::string& what, const char* unit, double ours,
                            std::optional<double> baseline) {
    report->Add({"live", what, unit, ours, baseline, {}});
  };
  add("four online readers beside ingest, of themselves alone", "requests/s",
      beside.requests_a_second, alone.requests_a_second);
  add("... p50", "ms", beside.p50_ms, alone.p50_ms);
  add("... p99", "ms", beside.p99_ms, alone.p99_ms);
  add("rows that were written meanwhile, on disk", "MB/s", ingested / 1e6, {});
  add("a barrier beside it, p99", "ms", barrier, {});
}

}  // namespace

ServedPair::ServedPair(std::string directory, const std::string& folder)
    : directory_(std::move(directory)),
      files_(StartVicinity(directory_, kChunkBytes)),
      live_(StartVicinity(directory_, kChunkBytes, {}, folder)) {}

void ServedPair::Measure(const Dataset& dataset, BenchReport* report) const {
  // As from another host.
  VicinityLink files(files_->port(), dataset, proto::PRECISION_STORED, {}, kByBulkTcp);
  VicinityLink live(live_->port(), dataset, proto::PRECISION_STORED, {}, kByBulkTcp);
  Compare(dataset, live.shard(), files.shard(), "nothing changed", report);
  Writing writing(dataset, live.shard());
  std::mt19937_64 random(1);
  const int64_t tenth = writing.num_nodes() / 10;
  for (int64_t i = 0; i < 2 * tenth; i += kRowsABatch) {
    writing.Write(0, writing.Rows(&random, tenth), Durability::kBuffered);
  }
  for (int64_t i = 0; i < 2 * tenth; i += kEdgesABatch) {
    writing.Write(0, writing.Edges(&random, tenth), Durability::kBuffered);
  }
  Compare(dataset, live.shard(), files.shard(), "a tenth changed", report);
  MeasureWriters(&writing, report);
  MeasureBoth(dataset, live.shard(), &writing, report);
}

}  // namespace vicinity::benchmark
