#include "tests/benchmark/vicinity_link.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/rpc/credentials.h"
#include "client/rpc/remote_shard.h"
#include "client/shards/fan_out.h"
#include "client/types/credential_options.h"
#include "partition/dataset/whole_read.h"
#include "proto/cluster/host_port.h"
#include "proto/common/grpc_status.h"
#include "proto/common/progress.h"
#include "proto/service.grpc.pb.h"
#include "server/server.h"
#include "tests/benchmark/baselines/plain_service.h"

namespace vicinity::benchmark {

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << '\n';
  std::exit(1);
}

std::unique_ptr<Dataset> OpenOneShard(const std::string& directory) {
  Dataset::Options options;
  options.check_bytes = 0;
  auto dataset = Dataset::Open(directory, options);
  Check(dataset.status());
  // As in a server that has been up for a while, no page is left to be verified.
  Check(ReadWhole(AllFiles(**dataset), NoProgress(), [] { return absl::OkStatus(); }));
  return *std::move(dataset);
}

// With a check in the background as by default.
std::unique_ptr<OtherProcess> StartVicinity(const std::string& directory, int64_t chunk_bytes,
                                            const TlsFiles& tls, const std::string& changes,
                                            proto::BulkSocket bulk) {
  return OtherProcess::Start([&](const std::function<void(int port)>& serve_at) {
    ServerOptions options;
    options.data = directory;
    options.security.tls = tls;
    options.changes = changes;
    options.limits.max_chunk_bytes = chunk_bytes;
    options.bulk.local = bulk != proto::BULK_SOCKET_TCP;
    if (bulk != proto::BULK_SOCKET_UNIX) options.bulk.tcp = HostPort{"127.0.0.1", 0};
    auto server = Server::Start(options);
    Check(server.status());
    serve_at((*server)->address().port);
  });
}

std::unique_ptr<OtherProcess> StartPlain(const std::string& directory, int64_t chunk_bytes) {
  return OtherProcess::Start([&](const std::function<void(int port)>& serve_at) {
    const std::unique_ptr<Dataset> dataset = OpenOneShard(directory);
    const std::unique_ptr<grpc::Service> service =
        MakePlainService(dataset->shards()[0].get(), chunk_bytes);
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service.get());
    builder.SetMaxReceiveMessageSize(-1);
    const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    serve_at(port);
  });
}

namespace {

// Until the check in the background has been at every page once, as in a server that has been up
// for a while: half a minute for a GiB.
void WaitUntilVerified(const std::shared_ptr<grpc::Channel>& channel) {
  const auto graph = proto::Graph::NewStub(channel);
  const auto deadline = std::chrono::system_clock::now() + std::chrono::minutes(5);
  proto::StatusReply reply;
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    Check(FromGrpc(graph->Status(&context, proto::StatusRequest(), &reply)));
    if (reply.scrub().passes() > 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

VicinityLink::VicinityLink(int port, const Dataset& dataset, proto::Precision precision,
                           const TlsFiles& tls, const CallWay& way) {
  const std::string address = absl::StrCat("127.0.0.1:", port);
  CredentialOptions credentials;
  credentials.ca = tls.ca;
  credentials.certificate = tls.certificate;  // good for both ends
  credentials.key = tls.key;
  const auto loaded = ClientCredentials::Load(credentials, nullptr);
  Check(loaded.status());
  const auto for_address = (*loaded)->For(address);
  Check(for_address.status());
  WaitUntilVerified(grpc::CreateChannel(
      address, *for_address == nullptr ? grpc::InsecureChannelCredentials() : *for_address));
  ConnectionOptions options;
  options.credentials = *for_address;
  options.tls_sessions = (*loaded)->tls_sessions();
  options.precision = precision;
  options.transport = way.transport;
  options.bulk_over = way.over;
  options.call_timeout = std::chrono::seconds(30);
  connection_ = std::make_unique<ServerConnection>(ServerEndpoint{"bench", address, {ShardId{0}}},
                                                   options, &traffic_);
  FanOut hello;
  connection_->Connect(nullptr, hello.Add());
  Check(hello.Wait());
  shard_ = MakeRemoteShard(ShardId{0}, dataset.fingerprint(), connection_.get(), dataset.schema(),
                           dataset.book());
}

}  // namespace vicinity::benchmark
