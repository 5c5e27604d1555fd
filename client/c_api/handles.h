// What the handles of the C interface stand for.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/call_cancellation.h"
#include "client/graph.h"
#include "client/loader.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "client/query_loader.h"
#include "client/types/change_values.h"
#include "client/types/device_tensor.h"
#include "client/types/write_values.h"
#include "client/writer.h"
#include "partition/schema/schema.h"
#include "proto/common/mutex.h"

namespace vicinity::c_api {

// A loader with what it stands on.
struct OpenLoader {
  std::shared_ptr<const Graph> graph;  // destroyed after the loader
  std::shared_ptr<const Schema> schema;
  std::unique_ptr<Loader> loader;             // one of these:
  std::unique_ptr<QueryLoader> query_loader;  // the other is null
  std::atomic<bool> in_call{false};  // a thread is in one of the calls that one thread may make

  // What both loaders can be asked.
  template <typename Ask>
  auto With(const Ask& ask) const {
    return query_loader != nullptr ? ask(query_loader.get()) : ask(loader.get());
  }
};

// A column in the memory of a device, until it is handed over.
struct DeviceColumn {
  DeviceKind kind;
  int32_t ordinal;
  std::unique_ptr<DeviceTensor> tensor;  // null: handed over
};

// A batch, shared by its handle and by all its tensors in host memory.
struct OpenBatch {
  OpenBatch(std::shared_ptr<const Schema> batch_schema, std::unique_ptr<MiniBatch> given);
  OpenBatch(std::shared_ptr<const Schema> batch_schema, std::unique_ptr<QueryBatch> given,
            const Query& query);

  const std::shared_ptr<const Schema> schema;
  mutable Mutex mu;
  mutable std::map<int32_t, DeviceColumn> on_device ABSL_GUARDED_BY(mu);  // by column
  const std::unique_ptr<const MiniBatch> batch;  // its tensors are on_device
  // Of a query's loader, whose batches have numbers, positions and labels alone; else null.
  const std::shared_ptr<const QueryAnswer> answer;
  const std::vector<std::vector<int64_t>> query_seeds;  // of its inputs as they first stand in it
  const uint64_t draw = 0;
};

// A query with what it stands on.
struct OpenQuery {
  std::shared_ptr<const Graph> graph;  // destroyed after the query
  std::unique_ptr<const PreparedQuery> query;
};

// Changes as they are given, part by part.
struct GivenChanges {
  GraphChanges changes;
  // Of the part that was added last; null: it has none.
  std::vector<GivenColumn>* columns = nullptr;
  std::vector<GivenRagged>* ragged = nullptr;
  int64_t num_rows = 0;
};

// A writer with what it stands on.
struct OpenWriter {
  std::shared_ptr<const Graph> graph;  // destroyed after the writer
  std::unique_ptr<Writer> writer;
};

}  // namespace vicinity::c_api

struct VicinityGraph {
  std::shared_ptr<const vicinity::Graph> graph;
};

struct VicinityLoader {
  std::unique_ptr<vicinity::c_api::OpenLoader> open;
};

struct VicinityBatch {
  std::shared_ptr<const vicinity::c_api::OpenBatch> open;
};

struct VicinityQuery {
  vicinity::c_api::OpenQuery open;
};

struct VicinityCancellation {
  vicinity::CallCancellation calls;
};

struct VicinityAnswer {
  std::shared_ptr<const vicinity::QueryAnswer> answer;
};

struct VicinityWriter {
  vicinity::c_api::OpenWriter open;
};

struct VicinityChanges {
  mutable vicinity::Mutex mu;
  mutable int num_writes ABSL_GUARDED_BY(mu) = 0;  // under way: meanwhile `given` only is read
  vicinity::c_api::GivenChanges given;             // written under mu
};

struct VicinityWritten {
  std::shared_ptr<const vicinity::Written> written;
};

struct VicinityChangeLog {
  std::shared_ptr<const std::vector<vicinity::ShardChange>> changes;
};
