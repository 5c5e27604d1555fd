#include "server/parse_errors.h"

#include <grpcpp/support/interceptor.h>
#include <grpcpp/support/status.h>

#include <cstring>

namespace vicinity {
namespace {

constexpr char kOurMethods[] = "/vicinity.proto.Graph/";

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

// What gRPC says of a request that it cannot parse: INTERNAL to a method with a thread,
// UNIMPLEMENTED to one that calls back, and no more. Errors of our own always say something.
bool IsParseError(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INTERNAL:
      return status.error_message().empty() || status.error_message() == "No payload";
    case grpc::StatusCode::UNIMPLEMENTED:
      return status.error_message().empty();
    default:
      return false;
  }
}

class ParseErrorInterceptor final : public Interceptor {
 public:
  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      if (IsParseError(methods->GetSendStatus())) {
        methods->ModifySendStatus({grpc::StatusCode::ABORTED,
                                   "the request cannot be parsed: damaged on the way, compressed, "
                                   "or of another protocol"});
      }
    }
    methods->Proceed();
  }
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  // Null, for methods that are not ours (one that nobody knows is one of them): none is needed.
  Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    if (std::strncmp(info->method(), kOurMethods, sizeof(kOurMethods) - 1) != 0) return nullptr;
    return new ParseErrorInterceptor;  // the call deletes it
  }
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
MakeParseErrorInterceptors() {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> made;
  made.push_back(std::make_unique<Factory>());
  return made;
}

}  // namespace vicinity
