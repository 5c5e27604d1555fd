#include "server/health/store_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/overlay/live_shard.h"
#include "partition/overlay/store_number.h"
#include "proto/common/ids.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

struct StoreMetric {
  StoreNumber number;
  const char* name;
  const char* help;
  const char* work = nullptr;  // a label's value; null: there is no such label
  MetricKind kind = MetricKind::kGauge;
};

constexpr char kJobs[] = "vicinity_server_rocksdb_jobs";
constexpr char kJobsHelp[] = "Work in the background on a shard's changes: flushes and merges";

constexpr StoreMetric kMetrics[] = {
    {StoreNumber::kBufferBytes, "vicinity_server_rocksdb_buffer_bytes",
     "Changes of a shard that are not yet sorted onto disk, in memory and in the log"},
    {StoreNumber::kCacheBytes, "vicinity_server_rocksdb_cache_bytes",
     "Blocks of a shard's changes that were read and are kept"},
    {StoreNumber::kReaderBytes, "vicinity_server_rocksdb_reader_bytes",
     "Memory to find a shard's changes in their files"},
    {StoreNumber::kFileBytes, "vicinity_server_rocksdb_file_bytes",
     "Sorted files of a shard's changes"},
    {StoreNumber::kPendingBytes, "vicinity_server_rocksdb_pending_bytes",
     "Sorted files of a shard's changes that are to be merged, about"},
    {StoreNumber::kFlushes, kJobs, kJobsHelp, "flush"},
    {StoreNumber::kMerges, kJobs, kJobsHelp, "merge"},
    {StoreNumber::kWriteStopped, "vicinity_server_rocksdb_write_stopped",
     "1 while writes to a shard wait for that work"},
    {StoreNumber::kWriteRate, "vicinity_server_rocksdb_write_rate_bytes",
     "Bytes a second that writes to a shard are held to by that work; 0: they are not"},
    {StoreNumber::kErrors, "vicinity_server_rocksdb_errors_total",
     "Faults in the background on a shard's changes", nullptr, MetricKind::kCounter},
};

}  // namespace

void AddStoreMetrics(const Dataset& dataset, const LiveDataset& live,
                     MetricRegistry::Group* group) {
  for (const ShardId id : dataset.wanted()) {
    for (const StoreMetric& metric : kMetrics) {
      MetricLabels labels = {{"shard", absl::StrCat(id.value)}};
      if (metric.work != nullptr) labels.emplace_back("work", metric.work);
      // Looked up each time: another one may take its place.
      group->Add({metric.name, metric.help, metric.kind}, std::move(labels),
                 [&live, id, number = metric.number] {
                   const auto found = live.Find(id);
                   return found.ok() ? static_cast<double>((*found)->store_number(number)) : 0.0;
                 });
    }
  }
}

}  // namespace vicinity
