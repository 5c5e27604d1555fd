#include "tests/integration/data_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/grpc_status.h"
#include "proto/version.h"

namespace vicinity::testing {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

constexpr milliseconds kSetUpTimeout(30'000);
constexpr int64_t kRowsChecked = 16;  // of a reply: checking costs more than serving

grpc::ChannelArguments ChannelSettings(bool small_windows) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  if (small_windows) {
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
  }
  return arguments;
}

std::vector<uint64_t> Range(int64_t first, int64_t count, int64_t num_nodes) {
  std::vector<uint64_t> rows(count);
  for (int64_t i = 0; i < count; ++i) rows[i] = static_cast<uint64_t>((first + i) % num_nodes);
  return rows;
}

}  // namespace

// One call, which deletes itself when it has ended.
class CallBase {
 public:
  CallBase(DataClient* client, milliseconds timeout, DataClient::Done done)
      : client_(client), done_(std::move(done)), begun_(Clock::now()) {
    context_.set_deadline(std::chrono::system_clock::now() + timeout);
    client_->Begun(&context_);
  }
  virtual ~CallBase() = default;

 protected:
  const CertifiedGraph& graph() const { return client_->graph_; }

  void End(const grpc::Status& status) {
    outcome_.status = FromGrpc(status);
    outcome_.latency = Clock::now() - begun_;
    const auto& trailers = context_.GetServerTrailingMetadata();
    const auto pushback = trailers.find("grpc-retry-pushback-ms");
    if (pushback != trailers.end()) {
      outcome_.pushback_ms =
          std::atoll(std::string(pushback->second.data(), pushback->second.size()).c_str());
    }
    done_(outcome_);
    client_->Ended(&context_);
    delete this;
  }

  DataClient* const client_;
  const DataClient::Done done_;
  const Clock::time_point begun_;
  grpc::ClientContext context_;
  CallOutcome outcome_;
};

namespace {

class RowsCall final : public CallBase, public grpc::ClientReadReactor<proto::RowsChunk> {
 public:
  RowsCall(DataClient* client, int connection, const proto::RowsRequest& request,
           milliseconds timeout, DataClient::Done done)
      : CallBase(client, timeout, std::move(done)), request_(request) {
    client->stub(connection)->async()->FetchRows(&context_, &request_, this);
    StartRead(&chunk_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    const int64_t width = graph().shape().row_bytes;
    const std::string_view rows = chunk_.rows();
    const auto num_rows = static_cast<int64_t>(rows.size()) / width;
    const int64_t asked = static_cast<int64_t>(request_.rows().size()) / 8;
    const int64_t step = std::max<int64_t>(1, asked / kRowsChecked);
    if (static_cast<int64_t>(chunk_.first()) != seen_ || seen_ + num_rows > asked) {
      ++outcome_.wrong;
    } else {
      for (int64_t i = (step - seen_ % step) % step; i < num_rows; i += step) {
        Check(seen_ + i, rows.substr(i * width, width));
      }
    }
    seen_ += num_rows;
    outcome_.bytes += static_cast<int64_t>(rows.size());
    StartRead(&chunk_);
  }

  void OnDone(const grpc::Status& status) override {
    if (status.ok() && seen_ != static_cast<int64_t>(request_.rows().size()) / 8) ++outcome_.wrong;
    End(status);
  }

 private:
  void Check(int64_t position, std::string_view row) {
    uint64_t local = 0;
    std::memcpy(&local, request_.rows().data() + position * 8, sizeof(local));
    const int64_t id = graph().IdOf(static_cast<int64_t>(local));
    if (graph().CheckRow(id, row) != RowFault::kNone) ++outcome_.wrong;
  }

  const proto::RowsRequest request_;
  proto::RowsChunk chunk_;
  int64_t seen_ = 0;
};

class SampleCall final : public CallBase, public grpc::ClientReadReactor<proto::SampleChunk> {
 public:
  SampleCall(DataClient* client, int connection, const proto::SampleRequest& request,
             milliseconds timeout, DataClient::Done done)
      : CallBase(client, timeout, std::move(done)), request_(request) {
    client->stub(connection)->async()->SampleNeighbors(&context_, &request_, this);
    StartRead(&chunk_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    outcome_.bytes += static_cast<int64_t>(chunk_.counts().size() + chunk_.sources().size());
    CheckChunk();
    StartRead(&chunk_);
  }
  void OnDone(const grpc::Status& status) override { End(status); }

 private:
  template <typename Word>
  static Word At(const std::string& words, size_t i) {
    Word word{};
    std::memcpy(&word, words.data() + i * sizeof(Word), sizeof(Word));
    return word;
  }

  void CheckChunk() {
    size_t edge = 0;
    const size_t num_edges = chunk_.sources().size() / 8;
    const size_t num_targets = request_.targets().size() / 8;
    for (size_t i = 0; i < chunk_.counts().size() / 4; ++i) {
      const auto count = At<uint32_t>(chunk_.counts(), i);
      if (chunk_.first_target() + i >= num_targets || edge + count > num_edges) {
        ++outcome_.wrong;
        return;
      }
      const auto local = At<uint64_t>(request_.targets(), chunk_.first_target() + i);
      const int64_t target = graph().IdOf(static_cast<int64_t>(local));
      for (uint32_t n = 0; n < count; ++n, ++edge) {
        const auto source = At<int64_t>(chunk_.sources(), edge);
        const bool exists = source >= 0 && source < graph().shape().num_nodes &&
                            graph().CheckEdge(graph().IdOf(source), target);
        if (!exists) ++outcome_.wrong;
      }
    }
  }

  const proto::SampleRequest request_;
  proto::SampleChunk chunk_;
};

class StatusCall final : public CallBase, public grpc::ClientUnaryReactor {
 public:
  StatusCall(DataClient* client, int connection, const proto::StatusRequest& request,
             milliseconds timeout, DataClient::Done done)
      : CallBase(client, timeout, std::move(done)), request_(request) {
    client->stub(connection)->async()->Status(&context_, &request_, &reply_, this);
    StartCall();
  }
  void OnDone(const grpc::Status& status) override { End(status); }

 private:
  const proto::StatusRequest request_;
  proto::StatusReply reply_;
};

}  // namespace

void CallTally::Add(const CallOutcome& outcome) {
  MutexLock lock(&mu_);
  OfCode& of_code = codes_[outcome.status.code()];
  of_code.latencies.push_back(outcome.latency);
  if (of_code.text.empty()) of_code.text = std::string(outcome.status.message());
  wrong_ += outcome.wrong;
  without_pushback_ +=
      absl::IsResourceExhausted(outcome.status) && outcome.pushback_ms <= 0 ? 1 : 0;
}

int64_t CallTally::calls() const {
  MutexLock lock(&mu_);
  int64_t calls = 0;
  for (const auto& [code, of_code] : codes_) {
    calls += static_cast<int64_t>(of_code.latencies.size());
  }
  return calls;
}

int64_t CallTally::count(absl::StatusCode code) const {
  MutexLock lock(&mu_);
  const auto found = codes_.find(code);
  return found == codes_.end() ? 0 : static_cast<int64_t>(found->second.latencies.size());
}

int64_t CallTally::wrong() const {
  MutexLock lock(&mu_);
  return wrong_;
}

int64_t CallTally::without_pushback() const {
  MutexLock lock(&mu_);
  return without_pushback_;
}

milliseconds CallTally::Percentile(absl::StatusCode code, double share) const {
  MutexLock lock(&mu_);
  const auto found = codes_.find(code);
  if (found == codes_.end()) return milliseconds(0);
  std::vector<nanoseconds> sorted = found->second.latencies;
  const auto at = static_cast<int64_t>(share * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return std::chrono::duration_cast<milliseconds>(sorted[at]);
}

std::string CallTally::Describe() const {
  std::vector<std::pair<absl::StatusCode, std::string>> texts;
  {
    MutexLock lock(&mu_);
    for (const auto& [code, of_code] : codes_) texts.emplace_back(code, of_code.text);
  }
  std::string out;
  for (const auto& [code, text] : texts) {
    absl::StrAppend(&out, count(code), " ", absl::StatusCodeToString(code), " (p50 ",
                    Percentile(code, 0.5).count(), " ms, p99 ", Percentile(code, 0.99).count(),
                    " ms, max ", Percentile(code, 1).count(), " ms) ", text, "\n");
  }
  return absl::StrCat(out, wrong(), " wrong\n");
}

absl::StatusOr<std::unique_ptr<DataClient>> DataClient::Connect(const CertifiedGraph* graph,
                                                                const DataClientOptions& options) {
  auto client = std::unique_ptr<DataClient>(new DataClient(graph));
  const auto credentials =
      options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials();
  for (int i = 0; i < options.connections; ++i) {
    client->channels_.push_back(grpc::CreateCustomChannel(options.address, credentials,
                                                          ChannelSettings(options.small_windows)));
    client->channels_.back()->GetState(true);
    client->stubs_.push_back(proto::Graph::NewStub(client->channels_.back()));
  }
  const absl::Status status = client->SayHello(options.name);
  if (!status.ok()) return status;
  return client;
}

absl::Status DataClient::SayHello(const std::string& name) {
  for (const auto& stub : stubs_) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + kSetUpTimeout);
    proto::HelloRequest request;
    request.set_protocol_version(kProtocolVersion);
    request.set_client(name);
    proto::HelloReply reply;
    const grpc::Status status = stub->Hello(&context, request, &reply);
    if (!status.ok()) return FromGrpc(status);
    fingerprint_ = reply.fingerprint();
  }
  return absl::OkStatus();
}

DataClient::~DataClient() {
  {
    MutexLock lock(&mu_);
    for (grpc::ClientContext* context : under_way_) context->TryCancel();
  }
  WaitUntilAtMost(0, kSetUpTimeout);
}

proto::RowsRequest DataClient::Rows(int64_t first, int64_t count) const {
  proto::RowsRequest request;
  request.set_fingerprint(fingerprint_);
  const std::vector<uint64_t> rows = Range(first, count, graph_.shape().num_nodes);
  request.set_rows(rows.data(), rows.size() * sizeof(uint64_t));
  return request;
}

proto::SampleRequest DataClient::Neighbors(int64_t first, int64_t count, int64_t fanout) const {
  proto::SampleRequest request;
  request.set_fingerprint(fingerprint_);
  request.mutable_draw()->set_run_seed(static_cast<uint64_t>(first));
  request.set_replace(true);
  request.add_relations()->set_fanout(fanout);
  request.mutable_relations(0)->set_num_targets(static_cast<uint32_t>(count));
  const std::vector<uint64_t> rows = Range(first, count, graph_.shape().num_nodes);
  request.set_targets(rows.data(), rows.size() * sizeof(uint64_t));
  return request;
}

void DataClient::Start(int connection, const proto::RowsRequest& request, milliseconds timeout,
                       Done done) {
  new RowsCall(this, connection, request, timeout, std::move(done));
}
void DataClient::Start(int connection, const proto::SampleRequest& request, milliseconds timeout,
                       Done done) {
  new SampleCall(this, connection, request, timeout, std::move(done));
}
void DataClient::Start(int connection, const proto::StatusRequest& request, milliseconds timeout,
                       Done done) {
  new StatusCall(this, connection, request, timeout, std::move(done));
}

void DataClient::Begun(grpc::ClientContext* context) {
  MutexLock lock(&mu_);
  under_way_.insert(context);
}

void DataClient::Ended(grpc::ClientContext* context) {
  MutexLock lock(&mu_);
  under_way_.erase(context);
  ended_.NotifyAll();
}

int64_t DataClient::in_flight() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(under_way_.size());
}

bool DataClient::WaitUntilAtMost(int64_t most, milliseconds limit) const {
  const Clock::time_point end = Clock::now() + limit;
  MutexLock lock(&mu_);
  while (static_cast<int64_t>(under_way_.size()) > most) {
    const nanoseconds left = end - Clock::now();
    if (left.count() <= 0) return false;
    ended_.WaitFor(&mu_, left);
  }
  return true;
}

void RunOpenLoop(DataClient* client, double rate, milliseconds length,
                 const std::function<void(int64_t)>& start) {
  const Clock::time_point begun = Clock::now();
  int64_t started = 0;
  while (true) {
    const std::chrono::duration<double> passed = Clock::now() - begun;
    if (passed >= length) break;
    for (const auto due = static_cast<int64_t>(passed.count() * rate); started < due; ++started) {
      start(started);
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  client->WaitUntilAtMost(0, kSetUpTimeout);
}

void RunClosedLoop(DataClient* client, int64_t in_flight, milliseconds length,
                   const std::function<void(int64_t)>& start) {
  const Clock::time_point end = Clock::now() + length;
  for (int64_t started = 0; Clock::now() < end;) {
    if (client->WaitUntilAtMost(in_flight - 1, milliseconds(1000))) start(started++);
  }
  client->WaitUntilAtMost(0, kSetUpTimeout);
}

absl::StatusOr<proto::StatusReply> AskStatus(DataClient* client) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + milliseconds(10'000));
  proto::StatusReply reply;
  const grpc::Status status = client->stub(0)->Status(&context, {}, &reply);
  if (!status.ok()) return FromGrpc(status);
  return reply;
}

int64_t CallsThere(DataClient* client) {
  const absl::StatusOr<proto::StatusReply> status = AskStatus(client);
  if (!status.ok()) return -1;
  for (const proto::LimitStatus& limit : status->limits()) {
    if (limit.name() == "max-calls") return static_cast<int64_t>(limit.used());
  }
  return -1;
}

bool WaitUntilNoCalls(DataClient* client, milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (CallsThere(client) != 0) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

}  // namespace vicinity::testing
