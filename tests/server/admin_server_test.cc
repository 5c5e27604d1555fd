#include "server/admin_server.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "proto/admin.grpc.pb.h"
#include "proto/common/grpc_status.h"
#include "server/handlers/chunk_source.h"
#include "server/health/serving_states.h"
#include "server/logging/log_ring.h"
#include "server/logging/logging.h"
#include "server/security/credentials.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using proto::Admin;

class AdminTest {
 protected:
  AdminTest() {
    actions_.server = "a";
    actions_.log = MakeSilentLogger();
    VICINITY_ASSERT_OK_AND_ASSIGN(trust_, ServerTrust::Load({}, actions_.log));
  }
  void Start() {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        server_, AdminServer::Start({"127.0.0.1", 0}, trust_.get(), &serving_, actions_));
    REQUIRE(server_->address().port > 0);
    stub_ = Admin::NewStub(
        grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials()));
  }
  template <typename Request, typename Reply>
  absl::Status Call(grpc::Status (Admin::Stub::*method)(grpc::ClientContext*, const Request&,
                                                        Reply*),
                    const Request& request, Reply* reply, int milliseconds = 30'000) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(milliseconds));
    return FromGrpc(((*stub_).*method)(&context, request, reply));
  }

  std::unique_ptr<ServerTrust> trust_;
  ServingStates serving_;
  AdminActions actions_;
  std::unique_ptr<AdminServer> server_;
  std::unique_ptr<Admin::Stub> stub_;
};

TEST_CASE_METHOD(AdminTest, "a drain begins and answers", "[admin]") {
  std::atomic<int> drains{0};
  actions_.drain = [&drains] { ++drains; };
  Start();
  proto::DrainReply reply;
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Drain, proto::DrainRequest(), &reply));
  CHECK(reply.server() == "a");
  CHECK(drains == 1);
}

TEST_CASE_METHOD(AdminTest, "a drain asked for twice does not cut the calls under way", "[admin]") {
  std::atomic<int> drains{0};  // the second would be a second SIGTERM, which forces the end
  actions_.drain = [&drains] { ++drains; };
  Start();
  for (int i = 0; i < 3; ++i) {
    proto::DrainReply reply;
    VICINITY_REQUIRE_OK(Call(&Admin::Stub::Drain, proto::DrainRequest(), &reply));
    CHECK(reply.server() == "a");
  }
  CHECK(drains == 1);
}

TEST_CASE_METHOD(AdminTest, "clients are turned away and taken again, unless it ends", "[admin]") {
  std::atomic<int> drains{0};
  std::atomic<bool> away{false};
  actions_.drain = [&drains] { ++drains; };
  actions_.turn_away = [&away](bool turns) {
    away = turns;
    return absl::OkStatus();
  };
  Start();
  proto::DrainRequest stay;
  stay.set_stay(true);
  proto::DrainReply drained;
  proto::UndrainReply undrained;
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Drain, stay, &drained));
  CHECK(away);
  CHECK(drains == 0);
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Undrain, proto::UndrainRequest(), &undrained));
  CHECK(undrained.server() == "a");
  CHECK_FALSE(away);
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Drain, proto::DrainRequest(), &drained));
  CHECK(drains == 1);
  VICINITY_CHECK_CODE(Call(&Admin::Stub::Undrain, proto::UndrainRequest(), &undrained),
                      absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(AdminTest, "the log level is set, and a wrong one is not", "[admin]") {
  Start();
  actions_.log->set_level(spdlog::level::info);
  proto::SetLogLevelRequest request;
  proto::SetLogLevelReply reply;
  request.set_level("debug");
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::SetLogLevel, request, &reply));
  CHECK(reply.before() == "info");
  CHECK(actions_.log->level() == spdlog::level::debug);
  request.set_level("loud");
  VICINITY_CHECK_CODE(Call(&Admin::Stub::SetLogLevel, request, &reply),
                      absl::StatusCode::kInvalidArgument);
  CHECK(actions_.log->level() == spdlog::level::debug);
}

TEST_CASE_METHOD(AdminTest, "flags are told, the log's level as it is now", "[admin]") {
  const auto add = [this](const char* name, const char* value, proto::FlagSource source) {
    actions_.flags.emplace_back();
    actions_.flags.back().set_name(name);
    actions_.flags.back().set_value(value);
    actions_.flags.back().set_source(source);
  };
  add("--max-calls", "7", proto::FLAG_SOURCE_COMMAND_LINE);
  add("--log-level", "info", proto::FLAG_SOURCE_DEFAULT);
  actions_.log->set_level(spdlog::level::info);
  Start();
  proto::ConfigReply reply;
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Config, proto::ConfigRequest(), &reply));
  CHECK(reply.server() == "a");
  REQUIRE(reply.flags_size() == 2);
  CHECK(reply.flags(0).name() == "--max-calls");
  CHECK(reply.flags(0).value() == "7");
  CHECK(reply.flags(0).source() == proto::FLAG_SOURCE_COMMAND_LINE);
  CHECK(reply.flags(1).source() == proto::FLAG_SOURCE_DEFAULT);
  proto::SetLogLevelRequest level;
  level.set_level("warning");
  proto::SetLogLevelReply ignored;
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::SetLogLevel, level, &ignored));
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Config, proto::ConfigRequest(), &reply));
  CHECK(reply.flags(1).value() == "warning");
  CHECK(reply.flags(1).source() == proto::FLAG_SOURCE_ADMIN_CALL);
}

TEST_CASE_METHOD(AdminTest, "the last lines of the log are told, by level", "[admin]") {
  const auto ring = std::make_shared<LogRing>();
  actions_.ring = ring;
  actions_.log = MakeLogger(LogFormat::kText, spdlog::level::info, ring);
  Start();
  actions_.log->info("one");
  actions_.log->warn("two");
  proto::LogsRequest request;
  proto::LogsReply reply;
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Logs, request, &reply));
  REQUIRE(reply.lines_size() == 2);
  CHECK(reply.lines(0).text() == "one");
  CHECK(reply.lines(0).level() == "info");
  CHECK(reply.lines(1).time_us() >= reply.lines(0).time_us());
  CHECK(reply.lines(1).time_us() / 1'000'000 >= 1'600'000'000);
  CHECK(reply.forgotten() == 0);
  actions_.log->info("three");
  request.set_last(1);
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Logs, request, &reply));
  REQUIRE(reply.lines_size() == 1);
  CHECK(reply.lines(0).text() == "three");
  request.set_level("warning");
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Logs, request, &reply));
  REQUIRE(reply.lines_size() == 1);
  CHECK(reply.lines(0).text() == "two");
  CHECK(reply.lines(0).number() == 2);
  CHECK(reply.run() == ring->run());
  CHECK(reply.next() == 4);
  proto::LogsRequest since;
  since.set_run(reply.run());
  since.set_from(3);
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Logs, since, &reply));
  REQUIRE(reply.lines_size() == 1);
  CHECK(reply.lines(0).text() == "three");
  since.set_run(reply.run() + 1);  // of the server before it was started again
  VICINITY_REQUIRE_OK(Call(&Admin::Stub::Logs, since, &reply));
  CHECK(reply.lines_size() == 3);
  request.set_level("loud");
  VICINITY_CHECK_CODE(Call(&Admin::Stub::Logs, request, &reply),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE_METHOD(AdminTest, "one verification runs at a time, and ends with its caller",
                 "[admin]") {
  std::atomic<int> running{0};
  actions_.verify = [&running](const proto::VerifyRequest&,
                               IsGone is_gone) -> absl::StatusOr<proto::VerifyReply> {
    ++running;
    while (!is_gone()) std::this_thread::yield();
    --running;
    return absl::CancelledError("gone");
  };
  Start();
  proto::VerifyReply reply;
  grpc::ClientContext context;
  std::thread first([&] {
    proto::VerifyReply ignored;
    stub_->Verify(&context, {}, &ignored);
  });
  while (running == 0) std::this_thread::yield();
  VICINITY_CHECK_CODE(Call(&Admin::Stub::Verify, proto::VerifyRequest(), &reply),
                      absl::StatusCode::kFailedPrecondition);
  context.TryCancel();
  first.join();
  while (running > 0) std::this_thread::yield();
}

TEST_CASE_METHOD(AdminTest, "a reload's error is told, and what nobody can do is said", "[admin]") {
  actions_.reload = []() -> absl::StatusOr<proto::ReloadCredentialsReply> {
    return absl::InvalidArgumentError("access:3: no");
  };
  Start();
  proto::ReloadCredentialsReply reply;
  const absl::Status status =
      Call(&Admin::Stub::ReloadCredentials, proto::ReloadCredentialsRequest(), &reply);
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "access:3: no");
  proto::DrainReply drained;
  VICINITY_CHECK_CODE(Call(&Admin::Stub::Drain, proto::DrainRequest(), &drained),
                      absl::StatusCode::kUnimplemented);
}

TEST_CASE_METHOD(AdminTest, "a damaged request is told from a fault of the server's", "[admin]") {
  // Generated services end what they cannot parse with Internal and an empty text.
  Start();
  grpc::GenericStub stub(
      grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials()));
  for (const char* path : {"/vicinity.proto.Admin/SetLogLevel", "/grpc.health.v1.Health/Check"}) {
    CAPTURE(path);
    const grpc::Slice damaged(std::string("\xff\xff"));
    const grpc::ByteBuffer request(&damaged, 1);
    grpc::ByteBuffer reply;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    std::promise<grpc::Status> ended;
    stub.UnaryCall(&context, path, {}, &request, &reply,
                   [&ended](const grpc::Status& status) { ended.set_value(status); });
    VICINITY_CHECK_CODE(FromGrpc(ended.get_future().get()), absl::StatusCode::kAborted);
  }
}

TEST_CASE_METHOD(AdminTest, "an error that repeats a long text does not harm the next call",
                 "[admin]") {
  Start();
  proto::SetLogLevelRequest request;
  request.set_level(std::string(5000, '\x7f'));
  for (int i = 0; i < 10; ++i) {
    proto::SetLogLevelReply reply;
    VICINITY_CHECK_CODE(Call(&Admin::Stub::SetLogLevel, request, &reply),
                        absl::StatusCode::kInvalidArgument);
    proto::VerifyReply verified;
    VICINITY_CHECK_CODE(Call(&Admin::Stub::Verify, proto::VerifyRequest(), &verified),
                        absl::StatusCode::kUnimplemented);
  }
}

TEST_CASE_METHOD(AdminTest, "orders are heard while files are read", "[admin]") {
  std::atomic<int> drains{0};
  std::atomic<bool> verifies{false};
  actions_.drain = [&drains] { ++drains; };
  actions_.verify = [&](const proto::VerifyRequest&,
                        IsGone is_gone) -> absl::StatusOr<proto::VerifyReply> {
    verifies = true;
    while (!is_gone() && drains == 0) std::this_thread::yield();
    return drains > 0 ? absl::StatusOr<proto::VerifyReply>(proto::VerifyReply())
                      : absl::CancelledError("gone");
  };
  Start();
  std::thread reader([&] {
    proto::VerifyReply reply;
    VICINITY_CHECK_OK(Call(&Admin::Stub::Verify, proto::VerifyRequest(), &reply));
  });
  while (!verifies) std::this_thread::yield();
  proto::DrainReply reply;
  VICINITY_CHECK_OK(Call(&Admin::Stub::Drain, proto::DrainRequest(), &reply));
  reader.join();
}

TEST_CASE_METHOD(AdminTest, "a port in use is refused", "[admin]") {
  Start();
  VICINITY_CHECK_CODE(AdminServer::Start(server_->address(), trust_.get(), &serving_, actions_),
                      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vicinity
