#include "server/calls/service.h"

#include "server/calls/grpc_call.h"
#include "server/calls/health_watch.h"

namespace vicinity {
namespace {

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(const ServiceContext* context) : context_(*context) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* call) override {
    // Both delete themselves.
    if (call->method() == kHealthWatchPath) return new HealthWatch(context_, call);
    return new GrpcCall(context_, call);
  }

 private:
  const ServiceContext& context_;
};

}  // namespace

std::unique_ptr<grpc::CallbackGenericService> MakeService(const ServiceContext* context) {
  return std::make_unique<Service>(context);
}

}  // namespace vicinity
