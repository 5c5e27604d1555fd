// The paths that training spends its time in, each once on a fixed small graph, for callgrind to
// count instructions: those are the same in every run, which times on a shared machine are not.
// deploy/perf.sh runs it and compares with tests/perf/instructions.txt.
//
// Without valgrind it runs the same work, and counts nothing.
#include <valgrind/callgrind.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cache/pool/look_ahead_planner.h"
#include "cache/vip/seed_chances.h"
#include "cache/vip/vip.h"
#include "partition/schema/sampling_spec.h"
#include "proto/bulk_fields.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "proto/wire_checksum.h"
#include "sampler/local_sampler.h"
#include "server/handlers/rows_handler.h"
#include "server/handlers/sample_handler.h"
#include "tests/server/serving.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity {
namespace {

constexpr int64_t kNodes = 20'000;
constexpr NodeTypeId kNode{0};

void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "hot_paths: %s\n", status.ToString().c_str());
  std::exit(1);
}

// Does the work once, so that memory is there, and again under callgrind's eyes.
void Count(const char* name, const std::function<void()>& work) {
  work();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  work();
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

testing::MemoryGraph Graph() {
  testing::RandomGraphOptions options;
  options.num_nodes = kNodes;
  options.num_edges = 15 * kNodes;
  options.feature_width = 64;
  options.weights = true;
  return testing::RandomGraph(options);
}

std::vector<uint64_t> RowsOfFirstShard(const testing::Serving& serving, int count) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> rows(count);
  const int64_t there = serving.dataset().book().num_nodes(kNode, ShardId{0});
  for (uint64_t& row : rows) row = random() % there;
  return rows;
}

void CountServer(const testing::Serving& serving) {
  const std::vector<uint64_t> rows = RowsOfFirstShard(serving, 4000);
  for (const bool weighted : {false, true}) {
    proto::SampleRequest request;
    request.set_fingerprint(serving.fingerprint());
    request.set_targets(testing::Packed(rows));
    proto::SampleRequest::Relation* const relation = request.add_relations();
    relation->mutable_spec()->set_fanout(10);
    relation->set_num_targets(rows.size());
    relation->mutable_spec()->set_weighted(weighted);
    Count(weighted ? "sample_one_hop_weighted" : "sample_one_hop", [&] {
      std::vector<proto::SampleChunk> chunks;
      Must(testing::Collect(SampleNeighbors, serving.state(), request, &chunks));
    });
  }
  proto::RowsRequest request;
  request.set_fingerprint(serving.fingerprint());
  request.set_rows(testing::Packed(rows));
  std::vector<proto::RowsChunk> chunks;
  Count("gather_rows", [&] {
    chunks.clear();
    Must(testing::Collect(FetchRows, serving.state(), request, &chunks));
  });
  std::vector<proto::RowsChunk> copies(3 * chunks.size());
  for (size_t i = 0; i < copies.size(); ++i) copies[i] = chunks[i % chunks.size()];
  Count("pack_reply", [&] {
    for (size_t i = 0; i < chunks.size(); ++i) {
      proto::RowsChunk chunk = std::move(copies.back());
      copies.pop_back();
      chunk.set_checksum(ReplyChecksum(1, chunk));
      const grpc::ByteBuffer packed = PackMessage(&chunk, BulkFields(&chunk));
    }
  });
}

void CountTrainer(const testing::Serving& serving) {
  const SamplingSpec spec =
      SamplingSpec::Uniform(serving.dataset().schema(), std::vector<int64_t>{15, 10, 5});
  std::vector<int64_t> seeds(256);
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = static_cast<int64_t>(i) * 7;
  Count("sample_minibatch", [&] {
    Must(SampleLocal(serving.dataset(), kNode, seeds, spec, {1, 0, 0}).status());
  });
  std::vector<HomeSeeds> homes(3, HomeSeeds{kNode, {}});
  for (int64_t node = 0; node < kNodes; node += 10) homes[node % 3].nodes.push_back(node);
  VipOptions options;
  options.sampling = spec;
  options.batch_size = 64;
  options.num_threads = 1;
  Count("vip_pass",
        [&] { Must(ComputeVip(serving.dataset(), homes, options, NoProgress()).status()); });
}

void CountPlanner() {
  constexpr int kBatches = 20;
  std::mt19937_64 random(2);
  std::vector<int64_t> ranked(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) ranked[i] = i;
  std::vector<std::vector<int64_t>> batches(kBatches);
  for (std::vector<int64_t>& batch : batches) {
    for (int i = 0; i < 2000; ++i) {
      const uint64_t drawn = random() % kNodes;
      batch.push_back(static_cast<int64_t>(drawn * drawn / kNodes));  // low ones more often
    }
  }
  LookAheadPlanner::Options options;
  options.capacity_rows = kNodes / 10;
  auto planner = LookAheadPlanner::Create(options, ranked);
  Must(planner.status());
  Count("plan_batches", [&] {
    RowPlan plan;
    for (const std::vector<int64_t>& batch : batches) Must((*planner)->Announce(batch));
    for (const std::vector<int64_t>& batch : batches) {
      Must((*planner)->Admit(batch, &plan));
      (*planner)->Release(plan.ticket);
    }
  });
}

TEST_CASE("the hot paths do their work", "[perf]") {
  const testing::Serving serving(Graph());
  CountServer(serving);
  CountTrainer(serving);
  CountPlanner();
}

}  // namespace
}  // namespace vicinity
