// Servers on hosts of their own, behind cables that tests cut, lose and slow.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/graph.h"
#include "client/result.h"
#include "proto/service.grpc.pb.h"
#include "tests/integration/certified_reader.h"
#include "tests/testing/network_hosts.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/testbed.h"

namespace vicinity {

constexpr int kNumHosts = 2;

// Made once, before this process has any other thread.
inline const absl::StatusOr<std::unique_ptr<testing::NetworkHosts>>& Network() {
  static const auto& network = *new absl::StatusOr<std::unique_ptr<testing::NetworkHosts>>(
      testing::NetworkHosts::Make(kNumHosts));
  return network;
}

inline std::chrono::milliseconds Since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

// Needs root, network namespaces and the packages iproute2 and nftables; elsewhere each case says
// so and ends.
class NetworkTest {
 protected:
  // False: there is nothing to test here. Every server has all shards.
  bool Start(int num_servers, bool proxies, int port = 0) {
    if (!MakeNetwork()) return false;
    testing::TestbedOptions options = Options(num_servers);
    options.proxies = proxies;
    options.port = port;
    for (int i = 0; i < num_servers; ++i) {
      VICINITY_REQUIRE_OK(hosts_->Heal(i));
      VICINITY_REQUIRE_OK(hosts_->LimitRate(i, 0));
      options.hosts.push_back({hosts_->RunThere(i), hosts_->address(i)});
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, testing::Testbed::Start(options));
    return true;
  }
  // On this end of the cables, at the address.
  bool StartHere(const std::string& address) {
    if (!MakeNetwork()) return false;
    testing::TestbedOptions options = Options(1);
    options.hosts.push_back({{}, address});
    VICINITY_ASSERT_OK_AND_ASSIGN(testbed_, testing::Testbed::Start(options));
    return true;
  }
  GraphOptions Served() const {
    GraphOptions servers;
    servers.cluster_file = testbed_->cluster_file();
    servers.connect_timeout = std::chrono::seconds(20);
    servers.call_timeout = std::chrono::milliseconds(1000);
    servers.call_budget = std::chrono::seconds(10);
    return servers;
  }
  std::unique_ptr<testing::CertifiedReader> Open(const GraphOptions& where) const {
    testing::ReaderOptions options;
    options.graph = where;
    auto reader = testing::CertifiedReader::Open(&testbed_->graph(), options);
    INFO(reader.error().message());
    REQUIRE(reader.ok());
    return *std::move(reader);
  }
  std::unique_ptr<Graph> OpenGraph(const GraphOptions& where) const {
    Result<std::unique_ptr<Graph>> graph = Graph::Open(where);
    INFO(graph.error().message());
    REQUIRE(graph.ok());
    return *std::move(graph);
  }

  // How many calls for data the server has had, by its own account; -1: no answer.
  int64_t CallsAt(int server) const {
    grpc::ChannelArguments own;  // a connection
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = proto::Graph::NewStub(grpc::CreateCustomChannel(
        testbed_->address(server).ToString(), grpc::InsecureChannelCredentials(), own));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
    proto::StatusReply reply;
    if (!stub->Status(&context, {}, &reply).ok()) return -1;
    int64_t calls = 0;
    for (const proto::MethodStatus& method : reply.methods()) {
      if (method.method() == "FetchRows" || method.method() == "SampleNeighbors") {
        calls += static_cast<int64_t>(method.started());
      }
    }
    return calls;
  }

 private:
  bool MakeNetwork() {
    const auto& network = Network();
    if (absl::IsFailedPrecondition(network.status())) {
      WARN("skipped: " << network.status().message());
      return false;
    }
    VICINITY_REQUIRE_OK(network);
    hosts_ = network->get();
    return true;
  }
  static testing::TestbedOptions Options(int num_servers) {
    testing::TestbedOptions options;
    options.graph.num_nodes = 4000;
    options.graph.num_shards = 3;
    options.graph.row_bytes = 256;
    options.num_servers = num_servers;
    options.replicas = num_servers;
    return options;
  }

 protected:
  testing::NetworkHosts* hosts_ = nullptr;
  std::unique_ptr<testing::Testbed> testbed_;
};

}  // namespace vicinity
