// How fast rows come from a server, and what they cost client and server together: both on two
// cores, over the loopback device, rows drawn at random and put where a batch wants them.
//
// Baseline: the textbook service of the same rows, chunks and flags, with `repeated float`; its
// variants with `repeated bytes` (a row each) and `bytes` (a chunk each) have lines of their own.
// Limit: the same bytes through a bare TCP connection, from one buffer to another.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fan_out.h"
#include "client/piece_run.h"
#include "client/shard_access.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/other_process.h"
#include "tests/benchmark/plain_service.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/small_graphs.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kCallBytes = int64_t{4} << 20;  // of rows that one call asks for
constexpr int kInFlight = 4;                      // calls
constexpr int kCallsInRound = 32;
const std::vector<int64_t> kWidths = {128, 512, 2048};  // bytes of a row, column by column

std::string DatasetOfRows(const BenchOptions& options) {
  const int64_t num_rows = options.size == "full" ? 262144 : 65536;
  const std::string directory = absl::StrCat(options.data, "/rows-", num_rows);
  if (std::filesystem::exists(directory)) return directory;
  std::filesystem::create_directories(options.data);
  testing::MemoryGraph graph;
  graph.schema.node_types.resize(1);
  graph.schema.node_types[0].name = "node";
  graph.nodes.resize(1);
  graph.nodes[0].keys.resize(num_rows);
  std::iota(graph.nodes[0].keys.begin(), graph.nodes[0].keys.end(), 0);
  std::mt19937_64 random(3);
  for (const int64_t width : kWidths) {
    std::vector<float> values(num_rows * width / sizeof(float));
    for (float& value : values) value = static_cast<float>(random() % 65536) - 32768.0F;
    graph.nodes[0].columns.emplace_back(reinterpret_cast<const char*>(values.data()),
                                        values.size() * sizeof(float));
    graph.schema.node_types[0].columns.push_back({absl::StrCat("bytes", width),
                                                  DType::kFloat32,
                                                  {width / static_cast<int64_t>(sizeof(float))}});
  }
  graph.schema.edge_types = {{0, "links", 0, {}}};
  graph.edges.resize(1);
  Check(testing::WriteGraph(graph, directory));
  return directory;
}

// Sends one buffer for ever to whoever connects.
std::unique_ptr<OtherProcess> StartTcp(int64_t chunk_bytes) {
  return OtherProcess::Start([&](const std::function<void(int port)>& serve_at) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener, 1) != 0) {
      std::exit(1);
    }
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::thread([&] {
      const int connection = accept(listener, nullptr, nullptr);
      const std::string buffer(chunk_bytes, 'x');
      while (write(connection, buffer.data(), buffer.size()) > 0) {
      }
    }).detach();
    serve_at(ntohs(address.sin_port));
  });
}

TransferCost MeasureTcp(const OtherProcess& server, double seconds, int64_t chunk_bytes) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    std::cerr << "cannot connect\n";
    std::exit(1);
  }
  std::string buffer(chunk_bytes, '\0');
  const TransferCost cost = MeasureTransfer(server, seconds, [&] {
    double bytes = 0;
    while (bytes < 64e6) {
      const ssize_t got = read(connection, &buffer[0], buffer.size());
      if (got <= 0) std::exit(1);
      bytes += static_cast<double>(got);
    }
    return bytes;
  });
  close(connection);
  return cost;
}

// What calls ask for: random rows, put in another order.
struct Asked {
  std::vector<uint64_t> rows;
  std::vector<int64_t> positions;
  std::vector<std::vector<char>> outs;  // one for each call in flight

  Asked(int64_t num_rows, int64_t row_bytes) : outs(kInFlight) {
    std::mt19937_64 random(7);
    rows.resize(kCallBytes / row_bytes);
    for (uint64_t& row : rows) row = random() % num_rows;
    positions.resize(rows.size());
    std::iota(positions.begin(), positions.end(), 0);
    std::shuffle(positions.begin(), positions.end(), random);
    for (std::vector<char>& out : outs) out.resize(kCallBytes);
  }
};

double VicinityRound(RemoteShard* shard, int32_t column, Asked* asked) {
  ShardRows request;
  request.type = NodeTypeId{0};
  request.column = column;
  request.row_bytes = kWidths[column];
  request.rows = asked->rows;
  request.positions = asked->positions;
  FanOut round;
  RunPieces(
      kCallsInRound, kInFlight,
      [&](int64_t call, Done done) {
        request.out = asked->outs[call % kInFlight].data();
        shard->FetchRows(request, nullptr, std::move(done));
      },
      round.Add());
  Check(round.Wait());
  return double{kCallBytes} * kCallsInRound;
}

using PlainFetch = bool (PlainClient::*)(int32_t, absl::Span<const uint64_t>, char*) const;

double PlainRound(const PlainClient& client, PlainFetch fetch, int32_t column, Asked* asked) {
  std::atomic<int> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kInFlight; ++t) {
    threads.emplace_back([&, t] {
      while (next.fetch_add(1) < kCallsInRound) {
        if (!(client.*fetch)(column, asked->rows, asked->outs[t].data())) std::exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return double{kCallBytes} * kCallsInRound;
}

void Report(BenchReport* report, const std::string& variant, const TransferCost& cost,
            const TransferCost* baseline, const TransferCost& limit) {
  const auto add = [&](const char* metric, double TransferCost::*figure) {
    BenchRow row{"rows", variant, metric, cost.*figure, {}, limit.*figure};
    if (baseline != nullptr) row.baseline = baseline->*figure;
    report->Add(std::move(row));
  };
  add("GB/s", &TransferCost::giga_per_second);
  add("core-s/GB", &TransferCost::core_seconds_per_giga);
}

void Run(const BenchOptions& options) {
  UseTwoCores();
  const double seconds = options.size == "full" ? 5 : 1.5;
  const std::vector<int64_t> chunks = {256 << 10, 512 << 10, 1 << 20};
  const std::string directory = DatasetOfRows(options);
  // All are forked before this process uses gRPC.
  const auto tcp = StartTcp(chunks[0]);
  const auto plain = StartPlain(directory, chunks[0]);
  std::vector<std::unique_ptr<OtherProcess>> servers;
  for (const int64_t chunk : chunks) servers.push_back(StartVicinity(directory, chunk));

  const std::unique_ptr<Dataset> dataset = OpenOneShard(directory);
  const int64_t num_rows = dataset->book().num_nodes(NodeTypeId{0});
  BenchReport report(options, std::cout);
  const TransferCost limit = MeasureTcp(*tcp, seconds, chunks[0]);
  const PlainClient client(grpc::CreateChannel(absl::StrCat("127.0.0.1:", plain->port()),
                                               grpc::InsecureChannelCredentials()));
  for (int32_t column = 0; column < static_cast<int32_t>(kWidths.size()); ++column) {
    Asked asked(num_rows, kWidths[column]);
    const std::string rows = absl::StrCat(kWidths[column], "-byte rows");
    const auto measure_plain = [&](PlainFetch fetch) {
      return MeasureTransfer(*plain, seconds,
                             [&] { return PlainRound(client, fetch, column, &asked); });
    };
    const auto measure = [&](size_t server, proto::Precision precision) {
      VicinityLink link(servers[server]->port(), *dataset, precision);
      return MeasureTransfer(*servers[server], seconds,
                             [&] { return VicinityRound(link.shard(), column, &asked); });
    };
    const TransferCost floats = measure_plain(&PlainClient::FetchFloats);
    Report(&report, rows + ", protobuf repeated bytes", measure_plain(&PlainClient::FetchRows),
           &floats, limit);
    Report(&report, rows + ", protobuf bytes", measure_plain(&PlainClient::FetchBytes), &floats,
           limit);
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (i > 0 && kWidths[column] != 512) continue;
      Report(&report, absl::StrCat(rows, ", chunks of ", chunks[i] >> 10, " KiB"),
             measure(i, proto::PRECISION_STORED), &floats, limit);
    }
    if (kWidths[column] != 512) continue;
    Report(&report, rows + ", sent as float16", measure(0, proto::PRECISION_FLOAT16), &floats,
           limit);
    Report(&report, rows + ", sent as bfloat16", measure(0, proto::PRECISION_BFLOAT16), &floats,
           limit);
  }
}

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  vicinity::benchmark::Run(vicinity::benchmark::ParseBenchOptions(argc, argv));
}
