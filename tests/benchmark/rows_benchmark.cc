// How fast rows come from a server, and what they cost client and server together: both on two
// cores, over the loopback device, rows drawn at random and put where a batch wants them.
//
// Baseline: the fastest of the plain protobuf services of the same rows, each in one reply, one
// call after the other: with `repeated float`, with `repeated bytes` (a row each) and with `bytes`
// (all rows). The same services tuned, with replies in chunks and as many calls in flight as
// Vicinity has, have lines of their own. Limit: the same bytes through a bare TCP connection, from
// one buffer to another.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/piece_run.h"
#include "client/shards/shard_access.h"
#include "proto/security/certificates.h"
#include "server/handlers/limits.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/baselines/plain_service.h"
#include "tests/benchmark/baselines/raw_tcp.h"
#include "tests/benchmark/bench_report.h"
#include "tests/benchmark/bench_rows.h"
#include "tests/benchmark/transfer_turns.h"
#include "tests/benchmark/vicinity_link.h"
#include "tests/testing/hosts/certificate_authority.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::benchmark {
namespace {

constexpr int64_t kCallBytes = int64_t{4} << 20;  // of rows that one call asks for
constexpr int kInFlight = 4;                      // calls
constexpr int kCallsInRound = 32;
constexpr size_t kSmallCallRows = 16;
constexpr size_t kCallAloneRows = 64;
constexpr int kSmallCallTurns = 4;
constexpr int64_t kWidthOfAll = 512;  // for which all is measured
constexpr char kTcp[] = "bare TCP";
constexpr char kPlain[] = "plain service: ";
constexpr char kTuned[] = "plain service tuned: ";
constexpr std::array<int64_t, 3> kChunks = {256 << 10, 512 << 10, 1 << 20};
constexpr size_t kDefaultPosition = 0;  // among them, of what servers send if not told otherwise
constexpr int64_t kDefaultChunk = kChunks[kDefaultPosition];
static_assert(kDefaultChunk == Limits().max_chunk_bytes);
constexpr std::array<std::pair<PlainForm, const char*>, 3> kForms = {
    {{PlainForm::kFloats, "repeated float"},
     {PlainForm::kRows, "repeated bytes"},
     {PlainForm::kBytes, "bytes"}}};

constexpr std::array<std::pair<const char*, CallWay>, 2> kBulkWays = {
    {{"bulk channel, TCP", kByBulkTcp}, {"bulk channel, Unix socket", kByBulkUnix}}};

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

double VicinityRound(ShardAccess* shard, int32_t column, Asked* asked) {
  ShardRows request;
  request.type = NodeTypeId{0};
  request.column = column;
  request.row_bytes = kRowWidths[column];
  request.rows = asked->rows;
  request.positions = asked->positions;
  FanOut round;
  RunPieces(
      kCallsInRound, kInFlight,
      [&](int64_t call, Done done) {
        request.out = asked->outs[call % kInFlight].data();
        shard->Ask(request, nullptr, std::move(done));
      },
      round.Add());
  Check(round.Wait());
  return double{kCallBytes} * kCallsInRound;
}

double PlainRound(const PlainClient& client, PlainForm form, bool tuned, int32_t column,
                  Asked* asked) {
  std::atomic<int> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < (tuned ? kInFlight : 1); ++t) {
    threads.emplace_back([&, t] {
      while (next.fetch_add(1) < kCallsInRound) {
        if (!client.Fetch(form, tuned, column, asked->rows, asked->outs[t].data())) std::exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return double{kCallBytes} * kCallsInRound;
}

// Adds the seconds that calls for a few rows take, one after the other.
void SmallCalls(double seconds, ShardAccess* shard, int32_t column, size_t num_rows,
                const Asked& asked, std::vector<double>* taken) {
  using Clock = std::chrono::steady_clock;
  std::vector<char> out(num_rows * kRowWidths[column]);
  ShardRows request;
  request.type = NodeTypeId{0};
  request.column = column;
  request.row_bytes = kRowWidths[column];
  request.rows = absl::MakeConstSpan(asked.rows).first(num_rows);
  request.out = out.data();
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::duration<double>(seconds)) {
    const auto asked_at = Clock::now();
    FanOut call;
    shard->Ask(request, nullptr, call.Add());
    Check(call.Wait());
    taken->push_back(std::chrono::duration<double>(Clock::now() - asked_at).count());
  }
}

// ... while large ones keep the server busy.
void SmallBesideLarge(double seconds, ShardAccess* shard, int32_t column, Asked* asked,
                      std::vector<double>* taken) {
  std::atomic<bool> enough{false};
  std::thread large([&] {
    while (!enough) VicinityRound(shard, column, asked);
  });
  SmallCalls(seconds, shard, column, kSmallCallRows, *asked, taken);
  enough = true;
  large.join();
}

// A certificate for loopback, which vouches for itself, in `folder`.
TlsFiles MakeTls(const std::string& folder) {
  const testing::CertificateAuthority authority("rows benchmark");
  testing::WriteIssued(authority.Issue({}), folder, "server");
  testing::WriteSecret(folder + "/ca.pem", authority.certificate());
  return {folder + "/ca.pem", folder + "/server.pem", folder + "/server.key"};
}

class RowsBenchmark {
 public:
  explicit RowsBenchmark(const BenchOptions& options)
      : seconds_(options.size == "full" ? 5 : 1.5),
        directory_(DatasetOfRows(options)),
        tls_(MakeTls(folder_.path())),
        report_(options, std::cout) {
    // All are forked before this process uses gRPC.
    tcp_ = StartTcp(kChunks[0]);
    plain_ = StartPlain(directory_, kChunks[0]);
    for (const int64_t chunk : kChunks) servers_.push_back(StartVicinity(directory_, chunk));
    encrypted_ = StartVicinity(directory_, kDefaultChunk, tls_);
    dataset_ = OpenOneShard(directory_);
  }

  void Run() {
    for (int32_t column = 0; column < static_cast<int32_t>(kRowWidths.size()); ++column) {
      Asked asked(dataset_->book().num_nodes(NodeTypeId{0}), kRowWidths[column]);
      const PlainClient client(MakePlainChannel(plain_->port()));
      TransferTurns cases(seconds_);
      cases.Add(kTcp, [&](double seconds) { return MeasureTcp(*tcp_, seconds, kChunks[0]); });
      AddPlain(client, column, &asked, &cases);
      AddVicinity(column, &asked, &cases);
      Report(absl::StrCat(kRowWidths[column], "-byte rows, "), cases.Measure());
      if (kRowWidths[column] == kWidthOfAll) RunSmallCalls(column, &asked);
    }
  }

 private:
  void AddPlain(const PlainClient& client, int32_t column, Asked* asked, TransferTurns* cases) {
    for (const bool tuned : {false, true}) {
      for (const auto& [form, name] : kForms) {
        cases->Add(
            absl::StrCat(tuned ? kTuned : kPlain, name), [=, &client, form = form](double seconds) {
              return MeasureTransfer(
                  *plain_, seconds, [&] { return PlainRound(client, form, tuned, column, asked); });
            });
      }
    }
  }

  void AddVicinity(int32_t column, Asked* asked, TransferTurns* cases) {
    const auto add = [&](const std::string& name, const OtherProcess& server,
                         proto::Precision precision, const TlsFiles& tls,
                         const CallWay& way = kByGrpc) {
      const auto link =
          std::make_shared<VicinityLink>(server.port(), *dataset_, precision, tls, way);
      cases->Add(name, [=, &server](double seconds) {
        return MeasureTransfer(server, seconds,
                               [&] { return VicinityRound(link->shard(), column, asked); });
      });
    };
    for (size_t i = 0; i < kChunks.size(); ++i) {
      if (kRowWidths[column] != kWidthOfAll && kChunks[i] != kDefaultChunk) continue;
      add(InChunks(kChunks[i]), *servers_[i], proto::PRECISION_STORED, {});
    }
    const OtherProcess& server = *servers_[kDefaultPosition];
    for (const auto& [name, way] : kBulkWays) add(name, server, proto::PRECISION_STORED, {}, way);
    if (kRowWidths[column] != kWidthOfAll) return;
    add("sent as float16", server, proto::PRECISION_FLOAT16, {});
    add("sent as bfloat16", server, proto::PRECISION_BFLOAT16, {});
    add("over TLS", *encrypted_, proto::PRECISION_STORED, tls_);
    add("bulk channel, TCP with TLS", *encrypted_, proto::PRECISION_STORED, tls_, kByBulkTcp);
  }

  void Report(const std::string& rows, const TransferTurns::Costs& costs) {
    const auto cost_of = [&](const std::string& wanted) {
      return std::find_if(costs.begin(), costs.end(),
                          [&](const auto& one) { return one.first == wanted; })
          ->second;
    };
    const TransferCost limit = cost_of(kTcp);
    TransferCost baseline;
    for (const auto& [form, name] : kForms) {
      const TransferCost plain = cost_of(absl::StrCat(kPlain, name));
      if (plain.giga_per_second > baseline.giga_per_second) baseline = plain;
    }
    for (const auto& [name, cost] : costs) {
      report_.Add({"rows", rows + name, "GB/s", cost.giga_per_second, baseline.giga_per_second,
                   limit.giga_per_second});
      report_.Add({"rows", rows + name, "core-s/GB", cost.core_seconds_per_giga,
                   baseline.core_seconds_per_giga, limit.core_seconds_per_giga});
    }
  }

  void RunSmallCalls(int32_t column, Asked* asked) {
    struct Case {
      std::string name;
      const OtherProcess* server;
      CallWay way;
      std::vector<double> beside{};
      std::vector<double> alone{};
    };
    std::vector<Case> cases;
    for (size_t i = 0; i < kChunks.size(); ++i) {
      cases.push_back({InChunks(kChunks[i]), servers_[i].get(), kByGrpc});
    }
    for (const auto& [name, way] : kBulkWays) {
      cases.push_back({name, servers_[kDefaultPosition].get(), way});
    }
    const double turn_seconds = seconds_ / kSmallCallTurns;
    for (int turn = 0; turn < kSmallCallTurns; ++turn) {
      for (Case& each : cases) {
        VicinityLink link(each.server->port(), *dataset_, proto::PRECISION_STORED, {}, each.way);
        SmallBesideLarge(2 * turn_seconds, link.shard(), column, asked, &each.beside);
        SmallCalls(turn_seconds, link.shard(), column, kCallAloneRows, *asked, &each.alone);
      }
    }
    for (Case& each : cases) {
      ReportTimes(absl::StrCat(kSmallCallRows, " rows beside large calls, ", each.name),
                  &each.beside);
      ReportTimes(absl::StrCat(kCallAloneRows, " rows alone, ", each.name), &each.alone);
    }
  }

  void ReportTimes(const std::string& name, std::vector<double>* taken) {
    std::sort(taken->begin(), taken->end());
    for (const auto& [metric, percent] :
         {std::pair("ms, median", 50), std::pair("ms, 99 of 100", 99)}) {
      report_.Add({"rows", name, metric, 1e3 * (*taken)[taken->size() * percent / 100], {}, {}});
    }
  }

  static std::string InChunks(int64_t bytes) {
    return absl::StrCat("chunks of ", bytes >> 10, " KiB");
  }

  const double seconds_;
  const std::string directory_;
  const testing::TempDir folder_;
  const TlsFiles tls_;
  BenchReport report_;
  std::unique_ptr<OtherProcess> tcp_;
  std::unique_ptr<OtherProcess> plain_;
  std::vector<std::unique_ptr<OtherProcess>> servers_;  // by kChunks
  std::unique_ptr<OtherProcess> encrypted_;
  std::unique_ptr<Dataset> dataset_;
};

}  // namespace
}  // namespace vicinity::benchmark

int main(int argc, char** argv) {
  const vicinity::benchmark::BenchOptions options =
      vicinity::benchmark::ParseBenchOptions(argc, argv);
  vicinity::benchmark::UseTwoCores();
  vicinity::benchmark::RowsBenchmark(options).Run();
}
