// The part of client/c_api/vicinity.h that concerns loaders.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "client/c_api/call.h"
#include "client/c_api/descriptions.h"
#include "client/c_api/handles.h"
#include "client/c_api/options.h"
#include "client/c_api/seeds.h"
#include "client/c_api/vicinity.h"
#include "client/loader.h"
#include "client/query/query.h"
#include "client/query_loader.h"
#include "client/types/result.h"
#include "client/types/seed_values.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {
namespace {

// Holds the calls that one thread may make at a time.
class OneThread {
 public:
  explicit OneThread(OpenLoader* open) : open_(open), first_(!open->in_call.exchange(true)) {}
  ~OneThread() {
    if (first_) open_->in_call = false;
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  Error Check() const {
    if (first_) return Error();
    return Error(ErrorCode::kFailedPrecondition,
                 "another thread is in a call of this loader: its batches are taken by one thread");
  }

 private:
  OpenLoader* const open_;
  const bool first_;
};

// `seeds`: null for none.
Error TakeSeeds(const VicinitySeeds* seeds, LoaderOptions* options) {
  if (seeds == nullptr) return Error();
  Result<SeedList> listed = ReadSeeds(*seeds);
  if (!listed.ok()) return listed.error();
  options->seeds = *std::move(listed);
  options->seed_times = ReadSeedTimes(*seeds);
  return Error();
}

// Without a loader yet.
std::unique_ptr<VicinityLoader> HandleOf(const VicinityGraph& graph) {
  auto handle = std::make_unique<VicinityLoader>();
  handle->open = std::make_unique<OpenLoader>();
  handle->open->graph = graph.graph;
  handle->open->schema = std::make_shared<const Schema>(graph.graph->schema());
  return handle;
}

// `seeds`, `weights`: null for none.
Error Create(const VicinityGraph& graph, const char* options_json, const VicinitySeeds* seeds,
             const VicinityNegativeWeights* weights, VicinityLoader** loader) {
  Result<LoaderOptions> options = ParseLoaderOptions(graph.graph->schema(), options_json);
  if (!options.ok()) return options.error();
  Error error = TakeSeeds(seeds, &*options);
  if (!error.ok()) return error;
  if (weights != nullptr) {
    Result<NegativeWeights> read = ReadNegativeWeights(*weights);
    if (!read.ok()) return read.error();
    options->negative_weights = *std::move(read);
  }
  Result<std::unique_ptr<Loader>> created = Loader::Create(graph.graph.get(), *options);
  if (!created.ok()) return created.error();
  std::unique_ptr<VicinityLoader> handle = HandleOf(graph);
  handle->open->loader = *std::move(created);
  *loader = handle.release();
  return Error();
}

Error CreateForQuery(const VicinityGraph& graph, const char* text, const char* options_json,
                     const VicinitySeeds* seeds, VicinityLoader** loader) {
  const Result<Query> query = Query::Parse(text);
  if (!query.ok()) return query.error();
  Result<LoaderOptions> options = ParseQueryLoaderOptions(graph.graph->schema(), options_json);
  if (!options.ok()) return options.error();
  Error error = TakeSeeds(seeds, &*options);
  if (!error.ok()) return error;
  Result<std::unique_ptr<QueryLoader>> created =
      QueryLoader::Create(graph.graph.get(), *query, *options);
  if (!created.ok()) return created.error();
  std::unique_ptr<VicinityLoader> handle = HandleOf(graph);
  handle->open->query_loader = *std::move(created);
  *loader = handle.release();
  return Error();
}

Error StartEpoch(OpenLoader* open, int64_t epoch, int64_t first_step, int64_t end_step) {
  const OneThread one_thread(open);
  Error error = one_thread.Check();
  if (!error.ok()) return error;
  return open->With([&](auto* loader) { return loader->StartEpoch(epoch, first_step, end_step); });
}

Error ResumeEpoch(OpenLoader* open, int64_t epoch, int64_t batches_done) {
  const OneThread one_thread(open);
  Error error = one_thread.Check();
  if (!error.ok()) return error;
  return open->With([&](auto* loader) { return loader->ResumeEpoch(epoch, batches_done); });
}

std::shared_ptr<const OpenBatch> Opened(const OpenLoader& open, std::unique_ptr<MiniBatch> batch) {
  return std::make_shared<const OpenBatch>(open.schema, std::move(batch));
}

std::shared_ptr<const OpenBatch> Opened(const OpenLoader& open, std::unique_ptr<QueryBatch> batch) {
  return std::make_shared<const OpenBatch>(open.schema, std::move(batch),
                                           open.query_loader->query());
}

// Null at the epoch's end, `ready` false at the limit.
Error Next(OpenLoader* open, int64_t wait_ms, VicinityBatch** batch, bool* ready) {
  const OneThread one_thread(open);
  Error error = one_thread.Check();
  if (!error.ok()) return error;
  return open->With([&](auto* loader) -> Error {
    *ready = wait_ms == -1 || loader->WaitForNext(std::chrono::milliseconds(wait_ms));
    if (!*ready) return Error();
    auto next = loader->Next();
    if (!next.ok()) return next.error();
    *batch = nullptr;
    if (*next == nullptr) return Error();
    auto handle = std::make_unique<VicinityBatch>();
    handle->open = Opened(*open, *std::move(next));
    *batch = handle.release();
    return Error();
  });
}

}  // namespace
}  // namespace vicinity::c_api

using vicinity::Error;
using vicinity::ErrorCode;
using vicinity::c_api::Call;
using vicinity::c_api::CheckGiven;

extern "C" {

int32_t vicinity_loader_create(VicinityGraph* graph, const char* options_json,
                               VicinityLoader** loader) {
  return vicinity_loader_create_with_seeds(graph, options_json, /*seeds=*/nullptr, loader);
}

int32_t vicinity_loader_create_with_seeds(VicinityGraph* graph, const char* options_json,
                                          const VicinitySeeds* seeds, VicinityLoader** loader) {
  return vicinity_loader_create_with_weights(graph, options_json, seeds, /*weights=*/nullptr,
                                             loader);
}

int32_t vicinity_loader_create_with_weights(VicinityGraph* graph, const char* options_json,
                                            const VicinitySeeds* seeds,
                                            const VicinityNegativeWeights* weights,
                                            VicinityLoader** loader) {
  return Call([&]() -> Error {
    Error error =
        CheckGiven({{"graph", graph}, {"options_json", options_json}, {"loader", loader}});
    if (!error.ok()) return error;
    return vicinity::c_api::Create(*graph, options_json, seeds, weights, loader);
  });
}

int32_t vicinity_loader_create_for_query(VicinityGraph* graph, const char* query_text,
                                         const char* options_json, const VicinitySeeds* seeds,
                                         VicinityLoader** loader) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"graph", graph},
                              {"query_text", query_text},
                              {"options_json", options_json},
                              {"loader", loader}});
    if (!error.ok()) return error;
    return vicinity::c_api::CreateForQuery(*graph, query_text, options_json, seeds, loader);
  });
}

void vicinity_loader_release(VicinityLoader* loader) { delete loader; }

int64_t vicinity_loader_num_seeds(const VicinityLoader* loader) {
  if (loader == nullptr) return 0;
  return loader->open->With([](const auto* open) { return open->num_seeds(); });
}

int64_t vicinity_loader_steps_per_epoch(const VicinityLoader* loader) {
  if (loader == nullptr) return 0;
  return loader->open->With([](const auto* open) { return open->steps_per_epoch(); });
}

int32_t vicinity_loader_start_epoch(VicinityLoader* loader, int64_t epoch, int64_t first_step,
                                    int64_t end_step) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"loader", loader}});
    if (!error.ok()) return error;
    return vicinity::c_api::StartEpoch(loader->open.get(), epoch, first_step, end_step);
  });
}

int32_t vicinity_loader_resume_epoch(VicinityLoader* loader, int64_t epoch, int64_t batches_done) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"loader", loader}});
    if (!error.ok()) return error;
    return vicinity::c_api::ResumeEpoch(loader->open.get(), epoch, batches_done);
  });
}

int32_t vicinity_loader_next(VicinityLoader* loader, int64_t wait_ms, VicinityBatch** batch) {
  bool ready = true;
  const int32_t code = Call([&]() -> Error {
    Error error = CheckGiven({{"loader", loader}, {"batch", batch}});
    if (!error.ok()) return error;
    constexpr int64_t kMostMs = int64_t{24} * 3600 * 1000;
    if (wait_ms < -1 || wait_ms > kMostMs) {
      return Error(ErrorCode::kInvalidArgument,
                   "wait_ms is " + std::to_string(wait_ms) + ": -1, or up to a day");
    }
    return vicinity::c_api::Next(loader->open.get(), wait_ms, batch, &ready);
  });
  return ready ? code : VICINITY_NOT_READY;
}

int32_t vicinity_loader_stats(const VicinityLoader* loader, char** json) {
  return Call([&]() -> Error {
    Error error = CheckGiven({{"loader", loader}, {"json", json}});
    if (!error.ok()) return error;
    return vicinity::c_api::GiveText(vicinity::c_api::Describe(loader->open->With(
                                         [](const auto* open) { return open->stats(); })),
                                     json);
  });
}

}  // extern "C"
