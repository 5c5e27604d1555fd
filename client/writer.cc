#include "client/writer.h"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/graph_impl.h"
#include "client/shards/call_context.h"
#include "client/types/error.h"
#include "client/writes/change_writer.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

constexpr int kSessionWords = 4;  // of 32 bits

constexpr std::chrono::hours kLongestWait(24 * 365);

std::string MakeSession() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < kSessionWords; ++i) {
    const uint32_t word = random();
    id.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return id;
}

// What stands in the way of writing to it; "": nothing.
std::string ReadOnlyBecause(const Graph& graph) {
  if (!graph.impl().versions().empty()) {
    return "this graph stays at the versions that it was opened at: write with the one that it is "
           "of";
  }
  if (graph.is_live()) return "";
  return "the graph is read-only: its servers take changes when the cluster file has `changes` and "
         "they are started by it, or with --changes DIR";
}

}  // namespace

class Writer::Impl {
 public:
  Impl(const GraphImpl& graph, ChangeWriterOptions options)
      : graph_(graph), writer_(graph.router(), std::move(options)) {}

  absl::Status Write(const GraphChanges& changes, Written* written) {
    absl::Status ready = graph_.CheckProcess();
    if (!ready.ok()) return ready;
    return WithinResources([&] { return writer_.Write(changes, StartOperation(), written); });
  }

 private:
  const GraphImpl& graph_;
  ChangeWriter writer_;
};

Result<std::unique_ptr<Writer>> Writer::Create(const Graph* graph, const WriterOptions& options) {
  if (graph == nullptr) return Error(ErrorCode::kInvalidArgument, "graph is null");
  if (options.give_up_after.count() < 0 || options.give_up_after > kLongestWait) {
    return Error(ErrorCode::kInvalidArgument, "give_up_after is " +
                                                  std::to_string(options.give_up_after.count()) +
                                                  " ms, should be from 0 to a year");
  }
  if (const std::string why = ReadOnlyBecause(*graph); !why.empty()) {
    return Error(ErrorCode::kFailedPrecondition, why);
  }
  ChangeWriterOptions core;
  core.durability = options.durability;
  core.give_up_after = options.give_up_after;
  core.make_session = MakeSession;
  return std::unique_ptr<Writer>(
      new Writer(std::make_unique<Impl>(graph->impl(), std::move(core))));
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::~Writer() = default;

Result<Written> Writer::Write(const GraphChanges& changes) {
  Written written;
  const Error error = Write(changes, &written);
  if (!error.ok()) return error;
  return written;
}

Error Writer::Write(const GraphChanges& changes, Written* written) {
  return ToError(impl_->Write(changes, written));
}

}  // namespace vicinity
