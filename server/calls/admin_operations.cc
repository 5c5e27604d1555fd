#include "server/calls/admin_operations.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/common/status.h"
#include "proto/health.pb.h"
#include "proto/reflection.pb.h"
#include "server/calls/typed_exchange.h"
#include "server/handlers/health_handler.h"
#include "server/handlers/reflection_handler.h"
#include "server/logging/logging.h"

namespace vicinity {

// In a lane of their own, where calls are counted and not their bytes.
inline int64_t ReplyBytes(const ServerState&, const proto::VerifyRequest&) { return 0; }
inline int64_t ReplyBytes(const ServerState&, const proto::ReadFileRequest&) { return 0; }

namespace {

absl::Status NotHere() { return absl::UnimplementedError("this server was not told how"); }

absl::StatusOr<proto::DrainReply> Drain(const ServerState& state,
                                        const proto::DrainRequest& request) {
  const AdminActions& actions = state.admin->actions;
  if (request.stay() ? !actions.turn_away : !actions.drain) return NotHere();
  proto::DrainReply reply;
  reply.set_server(actions.server);
  if (request.stay()) {
    VICINITY_RETURN_IF_ERROR(actions.turn_away(true));
    return reply;
  }
  // Once: what a second signal does is end the server at once, and the calls under way with it.
  if (!state.admin->drains.exchange(true)) actions.drain();
  return reply;
}

absl::StatusOr<proto::UndrainReply> Undrain(const ServerState& state,
                                            const proto::UndrainRequest&) {
  const AdminActions& actions = state.admin->actions;
  if (!actions.turn_away) return NotHere();
  if (state.admin->drains) return absl::FailedPreconditionError("the server ends");
  VICINITY_RETURN_IF_ERROR(actions.turn_away(false));
  proto::UndrainReply reply;
  reply.set_server(actions.server);
  return reply;
}

absl::StatusOr<proto::SetLogLevelReply> SetLogLevel(const ServerState& state,
                                                    const proto::SetLogLevelRequest& request) {
  spdlog::logger& log = *state.admin->actions.log;
  VICINITY_ASSIGN_OR_RETURN(const auto level, ParseLogLevel(request.level()));
  proto::SetLogLevelReply reply;
  reply.set_before(LogLevelName(log.level()));
  log.set_level(level);
  log.info("the log's level is {}", request.level());
  return reply;
}

absl::StatusOr<proto::ConfigReply> Config(const ServerState& state, const proto::ConfigRequest&) {
  const AdminActions& actions = state.admin->actions;
  if (actions.flags.empty()) return NotHere();
  proto::ConfigReply reply;
  reply.set_server(actions.server);
  const std::string level = LogLevelName(actions.log->level());
  for (const proto::FlagValue& flag : actions.flags) {
    proto::FlagValue* const added = reply.add_flags();
    *added = flag;
    if (flag.name() != "--log-level" || flag.value() == level) continue;
    added->set_value(level);
    added->set_source(proto::FLAG_SOURCE_ADMIN_CALL);
  }
  return reply;
}

absl::StatusOr<proto::LogsReply> Logs(const ServerState& state, const proto::LogsRequest& request) {
  const AdminActions& actions = state.admin->actions;
  if (actions.ring == nullptr) return NotHere();
  spdlog::level::level_enum least = spdlog::level::trace;
  if (!request.level().empty()) {
    VICINITY_ASSIGN_OR_RETURN(least, ParseLogLevel(request.level()));
  }
  const size_t last =
      request.last() == 0 ? std::numeric_limits<size_t>::max() : size_t{request.last()};
  const uint64_t run = actions.ring->run();
  const uint64_t from = request.run() == run ? request.from() : 0;
  LogRing::Lines found = actions.ring->Newest(last, least, from);
  proto::LogsReply reply;
  reply.set_server(actions.server);
  reply.set_forgotten(found.forgotten);
  reply.set_run(run);
  reply.set_next(found.next);
  for (LogRing::Line& line : found.lines) {
    proto::LogLine* const added = reply.add_lines();
    added->set_time_us(
        std::chrono::duration_cast<std::chrono::microseconds>(line.time.time_since_epoch())
            .count());
    added->set_level(LogLevelName(line.level));
    added->set_number(line.number);
    added->set_text(std::move(line.text));
  }
  return reply;
}

// A reply whose making takes long, and ends when nobody waits for it any more.
class Verification final : public ChunkSource<proto::VerifyReply> {
 public:
  Verification(AdminState* admin, const proto::VerifyRequest& request)
      : admin_(*admin), request_(request) {}

  absl::StatusOr<Piece> Next(proto::VerifyReply* reply, IsGone is_gone) override {
    if (admin_.verifies.exchange(true)) {
      return absl::FailedPreconditionError("another call has the files read already");
    }
    absl::StatusOr<proto::VerifyReply> made = admin_.actions.verify(request_, is_gone);
    admin_.verifies = false;
    VICINITY_ASSIGN_OR_RETURN(*reply, std::move(made));
    return Piece::kLast;
  }

 private:
  AdminState& admin_;
  const proto::VerifyRequest& request_;
};

absl::StatusOr<std::unique_ptr<ChunkSource<proto::VerifyReply>>> Verify(
    const ServerState& state, const proto::VerifyRequest& request) {
  if (!state.admin->actions.verify) return NotHere();
  return std::make_unique<Verification>(state.admin, request);
}

absl::StatusOr<proto::ReadFileReply> ReadFile(const ServerState& state,
                                              const proto::ReadFileRequest& request) {
  const AdminActions& actions = state.admin->actions;
  if (!actions.read) return NotHere();
  auto reply = actions.read(request);
  if (reply.ok() && request.offset() == 0) actions.log->info("{} is read", request.path());
  return reply;
}

absl::StatusOr<proto::ReloadCredentialsReply> ReloadCredentials(
    const ServerState& state, const proto::ReloadCredentialsRequest&) {
  if (!state.admin->actions.reload) return NotHere();
  return state.admin->actions.reload();
}

absl::StatusOr<proto::AppointReply> Appoint(const ServerState& state,
                                            const proto::AppointRequest& request) {
  if (!state.admin->actions.appoint) return NotHere();
  return state.admin->actions.appoint(request);
}

absl::StatusOr<proto::SwapReply> Swap(const ServerState& state, const proto::SwapRequest& request) {
  if (!state.admin->actions.swap) return NotHere();
  return state.admin->actions.swap(request);
}

absl::StatusOr<proto::TracesReply> Traces(const ServerState& state,
                                          const proto::TracesRequest& request) {
  if (!state.admin->actions.traces) return NotHere();
  return state.admin->actions.traces(request);
}

absl::StatusOr<grpc::reflection::v1alpha::ServerReflectionResponse> ReflectAdmin(
    const ServerState&, const grpc::reflection::v1alpha::ServerReflectionRequest& request) {
  const google::protobuf::FileDescriptor* const files[] = {
      proto::DrainRequest::descriptor()->file(),
      grpc::health::v1::HealthCheckRequest::descriptor()->file(),
      grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file(),
  };
  return ReflectFiles(files, request);
}

constexpr char kDrain[] = "/vicinity.proto.Admin/Drain";
constexpr char kUndrain[] = "/vicinity.proto.Admin/Undrain";
constexpr char kSetLogLevel[] = "/vicinity.proto.Admin/SetLogLevel";
constexpr char kConfig[] = "/vicinity.proto.Admin/Config";
constexpr char kLogs[] = "/vicinity.proto.Admin/Logs";
constexpr char kVerify[] = "/vicinity.proto.Admin/Verify";
constexpr char kReadFile[] = "/vicinity.proto.Admin/ReadFile";
constexpr char kReloadCredentials[] = "/vicinity.proto.Admin/ReloadCredentials";
constexpr char kAppoint[] = "/vicinity.proto.Admin/Appoint";
constexpr char kSwap[] = "/vicinity.proto.Admin/Swap";
constexpr char kTraces[] = "/vicinity.proto.Admin/Traces";

// What takes long has a lane of its own, so that an order is always heard.
constexpr std::array kAdminOperations = {
    AsLogged(Describes<Drain, kDrain, Lane::kSmall>()),
    AsLogged(Describes<Undrain, kUndrain, Lane::kSmall>()),
    AsLogged(Describes<SetLogLevel, kSetLogLevel, Lane::kSmall>()),
    Describes<Config, kConfig, Lane::kSmall>(),
    Describes<Logs, kLogs, Lane::kSmall>(),
    AsLogged(Describes<Verify, kVerify, Lane::kData>()),
    Describes<ReadFile, kReadFile, Lane::kData>(),
    AsLogged(Describes<ReloadCredentials, kReloadCredentials, Lane::kSmall>()),
    AsLogged(Describes<Appoint, kAppoint, Lane::kSmall>()),
    AsLogged(Describes<Swap, kSwap, Lane::kSmall>()),
    Describes<Traces, kTraces, Lane::kSmall>(),
    Describes<CheckHealth, kCheckPath, Lane::kHealth>(),
    AsConversation(Describes<ReflectAdmin, kReflectPath, Lane::kSmall>()),
};

}  // namespace

Operations AdminOperations() { return kAdminOperations; }

}  // namespace vicinity
