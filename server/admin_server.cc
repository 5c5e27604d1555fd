#include "server/admin_server.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "proto/common/status.h"
#include "server/admission/admission_limits.h"
#include "server/admission/call_counters.h"
#include "server/admission/call_gate.h"
#include "server/admission/client_names.h"
#include "server/admission/worker_pool.h"
#include "server/calls/guarded_port.h"
#include "server/calls/service_context.h"
#include "server/handlers/server_state.h"
#include "server/handlers/state_source.h"

namespace vicinity {
namespace {

AdmissionLimits LimitsOfAdminCalls() {
  AdmissionLimits limits;
  limits.calls = "admin calls";
  limits.has_flags = false;
  limits.max_calls = 64;
  limits.max_running = 4;
  return limits;
}

PortLimits LimitsOfPort() {
  PortLimits limits;
  limits.memory_bytes = int64_t{64} << 20;
  limits.max_request_bytes = 64 << 10;
  limits.max_streams = 16;
  limits.connections.max_connections = 64;
  limits.connections.max_of_machine = 64;
  limits.connections.request_bytes = limits.max_request_bytes;
  return limits;
}

}  // namespace

class AdminServer::Impl {
 public:
  Impl(const ServerTrust* trust, ServingStates* serving, AdminActions actions)
      : trust_(trust),
        log_(actions.log),
        admin_(std::move(actions)),
        gate_(LimitsOfAdminCalls(), log_.get()),
        workers_(CallGate::MaxRunningInAll(LimitsOfAdminCalls())) {
    state_.name = admin_.actions.server;
    state_.serving = serving;
    state_.admin = &admin_;
    context_.operations = AdminOperations();
    context_.states = &states_;
    context_.counters = &counters_;
    context_.gate = &gate_;
    context_.workers = &workers_;
    context_.clients = &clients_;
    context_.serving = serving;
    context_.trust = trust;
    context_.log = log_.get();
  }

  ~Impl() {
    // A moment for answers on their way: the caller of a drain waits for one.
    if (port_ != nullptr) {
      port_->Stop(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    }
  }

  absl::Status Listen(const HostPort& listen) {
    VICINITY_ASSIGN_OR_RETURN(
        port_, GuardedPort::Listen(listen, LimitsOfPort(), trust_->Credentials(), &context_));
    port_->Start();
    return absl::OkStatus();
  }

  const HostPort& address() const { return port_->address(); }

 private:
  const ServerTrust* const trust_;
  const std::shared_ptr<spdlog::logger> log_;  // with whoever gave it
  AdminState admin_;
  CallCounters counters_{CountedMethods(AdminOperations())};
  CallGate gate_;
  WorkerPool workers_;
  ClientNames clients_;
  ServerState state_;
  const OneState states_{&state_};
  ServiceContext context_;
  std::unique_ptr<GuardedPort> port_;  // last: its calls use all above
};

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const HostPort& listen,
                                                                const ServerTrust* trust,
                                                                ServingStates* serving,
                                                                AdminActions actions) {
  auto impl = std::make_unique<Impl>(trust, serving, std::move(actions));
  VICINITY_RETURN_IF_ERROR(impl->Listen(listen));
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

// The workers, the gate's and the acceptor's.
int AdminServer::num_threads() {
  return static_cast<int>(CallGate::MaxRunningInAll(LimitsOfAdminCalls())) + 2;
}

const HostPort& AdminServer::address() const { return impl_->address(); }

}  // namespace vicinity
