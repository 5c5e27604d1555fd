// What a connection takes of a server's memory that has made one small call and then does nothing:
// by gRPC, and by the bulk channel over TCP and over a Unix socket, a thousand of each, each
// thousand with a server of its own. What is counted is the server's anonymous memory, so that
// pages of files do not matter.
//
// Baseline: gRPC's.
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/rpc/bulk_link.h"
#include "client/rpc/call_queue.h"
#include "client/rpc/call_settings.h"
#include "client/rpc/rpc_call.h"
#include "client/shards/fan_out.h"
#include "partition/dataset/dataset.h"
#include "proto/bulk.pb.h"
#include "proto/service.pb.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_rows.h"
#include "tests/benchmark/vicinity_link.h"

namespace vicinity::benchmark {
namespace {

constexpr int kConnections = 1000;
constexpr int kConnectionsOfLink = 16;
constexpr uint64_t kRows = 8;  // of a call
constexpr std::chrono::seconds kLimit(60);

// As many files as the system lets a process have, the servers' included: each connection is one.
int NumConnections() {
  constexpr int kOthers = 200;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto most = static_cast<int64_t>(std::min<rlim_t>(files.rlim_max, 1 << 20)) - kOthers;
  return static_cast<int>(std::clamp<int64_t>(most, 1, kConnections));
}

std::shared_ptr<grpc::Channel> ChannelTo(int port) {
  grpc::ChannelArguments arguments;
  // Channels of equal settings would otherwise share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(), arguments);
}

void CallOnce(const CallRoute& route, uint64_t fingerprint) {
  proto::RowsRequest request;
  request.set_fingerprint(fingerprint);
  request.set_count(kRows);
  CallSettings settings;
  settings.where = "the server";
  settings.method = "FetchRows";
  settings.timeout = kLimit;
  settings.wait_for_ready = true;
  FanOut call;
  StartCall<proto::RowsChunk>(
      route, std::move(request), settings,
      [](const proto::RowsChunk&, const SlicedMessage&) { return absl::OkStatus(); }, call.Add());
  Check(call.Wait());
}

// Connections to one server, each of which has made a call.
class Idle {
 public:
  Idle(int port, uint64_t fingerprint) : port_(port), fingerprint_(fingerprint) {}
  ~Idle() {
    for (const auto& link : links_) link->Close();
  }

  void OpenByGrpc(int count) {
    for (int i = 0; i < count; ++i) {
      channels_.push_back(ChannelTo(port_));
      CallOnce({channels_.back(), &queue_}, fingerprint_);
    }
  }

  void OpenByBulk(proto::BulkSocket over, int count) {
    if (control_ == nullptr) control_ = ChannelTo(port_);
    CallOnce({control_, &queue_}, fingerprint_);
    for (int left = count; left > 0; left -= kConnectionsOfLink) {
      OpenLink(over, std::min(left, kConnectionsOfLink));
    }
  }

 private:
  void OpenLink(proto::BulkSocket over, int count) {
    BulkLink::Options options;
    options.host = "127.0.0.1";
    options.connections = count;
    options.over = over;
    options.connect_timeout = kLimit;
    links_.push_back(std::make_unique<BulkLink>(
        options, [this](const proto::OpenBulkRequest& request, BulkLink::OnTickets on_tickets) {
          AskTickets(request, std::move(on_tickets));
        }));
    FanOut opening;
    links_.back()->Open(opening.Add());
    Check(opening.Wait());
    for (int i = 0; i < count; ++i) {
      const std::shared_ptr<BulkChannel> connection = links_.back()->Next(CallLane::kAny, i);
      if (connection == nullptr) Check(absl::UnavailableError("a connection has ended"));
      CallOnce({nullptr, nullptr, connection}, fingerprint_);
    }
  }

  void AskTickets(const proto::OpenBulkRequest& request, BulkLink::OnTickets on_tickets) {
    CallSettings settings;
    settings.where = "the server";
    settings.service = "vicinity.proto.Bulk";
    settings.method = "Open";
    settings.timeout = kLimit;
    auto got = std::make_shared<proto::OpenBulkReply>();
    StartSingleCall<proto::OpenBulkReply>(
        {control_, &queue_}, request, settings,
        [got](const proto::OpenBulkReply& reply, const SlicedMessage&) {
          *got = reply;
          return absl::OkStatus();
        },
        [got, on_tickets = std::move(on_tickets)](const absl::Status& status) {
          on_tickets(status, *got);
        });
  }

  const int port_;
  const uint64_t fingerprint_;
  std::shared_ptr<grpc::Channel> control_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<BulkLink>> links_;
  CallQueue queue_;  // last: it ends the calls that use all above
};

struct Way {
  const char* name;
  std::optional<proto::BulkSocket> over;  // none: gRPC
};
constexpr Way kWays[] = {{"gRPC", {}},
                         {"bulk channel, TCP", proto::BULK_SOCKET_TCP},
                         {"bulk channel, Unix socket", proto::BULK_SOCKET_UNIX}};

// KiB of the server's memory that a connection takes.
double Measure(const OtherProcess& server, const Dataset& dataset, const Way& way, int count) {
  { const VicinityLink until_verified(server.port(), dataset, proto::PRECISION_STORED); }
  Idle idle(server.port(), dataset.fingerprint());
  const auto open = [&](int number) {
    return way.over.has_value() ? idle.OpenByBulk(*way.over, number) : idle.OpenByGrpc(number);
  };
  open(kConnectionsOfLink);  // and whatever the first ones have the server make once
  const int64_t before = server.AnonymousBytes();
  open(count - kConnectionsOfLink);
  const auto grown = static_cast<double>(server.AnonymousBytes() - before);
  return grown / 1024 / (count - kConnectionsOfLink);
}

void Run(const BenchOptions& options) {
  const int count = NumConnections();
  const std::string directory = DatasetOfRows(options);
  // All are forked before this process uses gRPC.
  std::vector<std::unique_ptr<OtherProcess>> servers;
  for (size_t i = 0; i < std::size(kWays); ++i) {
    servers.push_back(StartVicinity(directory, Limits().max_chunk_bytes));
  }
  const std::unique_ptr<Dataset> dataset = OpenOneShard(directory);
  BenchReport report(options, std::cout);
  std::optional<double> baseline;
  for (size_t i = 0; i < std::size(kWays); ++i) {
    const double kib = Measure(*servers[i], *dataset, kWays[i], count);
    if (!kWays[i].over.has_value()) baseline = kib;
    report.Add({"idle",
                absl::StrCat(count, " idle connections, ", kWays[i].name),
                "KiB/connection",
                kib,
                baseline,
                {}});
  }
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
