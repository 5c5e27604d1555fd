#include "proto/telemetry/trace/otlp_exporter.h"

#include <fcntl.h>
#include <httplib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/common/mutex.h"
#include "proto/common/status.h"
#include "proto/common/thread.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kTracesPath[] = "/v1/traces";
constexpr std::chrono::seconds kLastMoment(2);  // to send what is there at the end

struct Url {
  std::string server;  // "http://host:4318"
  std::string path;
};

absl::StatusOr<Url> ParseUrl(const std::string& text) {
  absl::string_view rest = text;
  if ((absl::ConsumePrefix(&rest, "http://") || absl::ConsumePrefix(&rest, "https://")) &&
      !rest.empty() && rest.front() != '/') {
    const size_t path = text.find('/', text.size() - rest.size());
    if (path == std::string::npos) return Url{text, "/"};
    return Url{text.substr(0, path), text.substr(path)};
  }
  return absl::InvalidArgumentError(absl::StrCat("traces cannot be sent to \"", text,
                                                 "\": it should be as http://localhost:4318"));
}

// Empty unless it is a URL of HTTP: the variable may be meant for programs that speak gRPC.
std::string UrlOfEnvironment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || !ParseUrl(value).ok()) return "";
  return value;
}

// A file that spans are appended to.
class LineFile {
 public:
  ~LineFile() {
    if (fd_ >= 0) close(fd_);
  }
  absl::Status Open(const std::string& path) {
    fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ >= 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": traces cannot be written"));
  }
  // Whole, or nothing that could be helped.
  bool Append(const std::string& line, int64_t max_bytes) {
    struct stat now;
    if (fstat(fd_, &now) != 0 || now.st_size + static_cast<int64_t>(line.size()) > max_bytes) {
      return false;
    }
    for (size_t done = 0; done < line.size();) {
      const ssize_t wrote = write(fd_, line.data() + done, line.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      done += static_cast<size_t>(wrote);
    }
    return true;
  }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace

class OtlpExporter::Work {
 public:
  explicit Work(Options options) : options_(std::move(options)) {}

  absl::Status Open() {
    if (!options_.file.empty()) VICINITY_RETURN_IF_ERROR(file_.Open(options_.file));
    if (options_.url.empty()) return absl::OkStatus();
    VICINITY_ASSIGN_OR_RETURN(url_, ParseUrl(options_.url));
    client_ = std::make_unique<httplib::Client>(url_.server);
    if (!client_->is_valid()) {
      return absl::InvalidArgumentError(
          absl::StrCat("traces cannot be sent to \"", options_.url, "\""));
    }
    client_->set_connection_timeout(options_.limit);
    client_->set_write_timeout(options_.limit);
    client_->set_read_timeout(options_.limit);
    client_->set_keep_alive(true);
    return absl::OkStatus();
  }

  void Take(const Spans& spans) {
    int64_t bytes = 0;
    for (const Span& span : spans) bytes += span.num_bytes();
    MutexLock lock(&mu_);
    if (stopping_ || queued_bytes_ + bytes > options_.queue_bytes) {
      dropped_.Add(static_cast<int64_t>(spans.size()));
      return;
    }
    queue_.push_back(spans);
    queued_bytes_ += bytes;
    ++taken_;
  }

  // The thread's.
  void Run() {
    // A collector that has gone is no reason to end the process: cpp-httplib writes to it without
    // MSG_NOSIGNAL. Other signals are for other threads.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (true) {
      std::vector<Spans> due;
      bool is_last = false;
      {
        MutexLock lock(&mu_);
        if (!stopping_ && !hurried_) changed_.WaitFor(&mu_, options_.pause);
        hurried_ = false;
        is_last = stopping_;
        due.swap(queue_);
        queued_bytes_ = 0;
      }
      if (!due.empty()) Send(due);
      MutexLock lock(&mu_);
      done_ += static_cast<int64_t>(due.size());
      changed_.NotifyAll();
      if (is_last && queue_.empty()) return;
    }
  }

  bool Flush(std::chrono::nanoseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    MutexLock lock(&mu_);
    const int64_t wanted = taken_;
    hurried_ = true;
    changed_.NotifyAll();
    while (done_ < wanted) {
      const auto left = end - Clock::now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(&mu_, left);
    }
    return true;
  }

  void Stop() {
    if (!Flush(kLastMoment)) gives_up_ = true;
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    if (client_ != nullptr) client_->stop();
  }

  Counter sent_;
  Counter dropped_;

 private:
  void Send(const std::vector<Spans>& operations) {
    int64_t count = 0;
    for (const Spans& spans : operations) count += static_cast<int64_t>(spans.size());
    std::string request = OtlpJson(options_.resource, operations);
    bool taken = true;
    if (client_ != nullptr) taken = Post(request);
    request.push_back('\n');
    if (file_.is_open()) taken &= file_.Append(request, options_.max_file_bytes);
    (taken ? sent_ : dropped_).Add(count);
  }

  bool Post(const std::string& request) {
    if (gives_up_) return false;
    const httplib::Result result = client_->Post(url_.path, request, "application/json");
    return result && result->status >= 200 && result->status < 300;
  }

  const Options options_;
  Url url_;
  LineFile file_;                            // the thread's, once it runs
  std::unique_ptr<httplib::Client> client_;  // likewise, but for stop(); null: no collector
  std::atomic<bool> gives_up_{false};        // the end has come, and the collector does not answer
  Mutex mu_;
  CondVar changed_;
  std::vector<Spans> queue_ ABSL_GUARDED_BY(mu_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // Operations that were put into the queue, and that were sent or dropped.
  int64_t taken_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t done_ ABSL_GUARDED_BY(mu_) = 0;
  bool hurried_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

absl::StatusOr<std::unique_ptr<OtlpExporter>> OtlpExporter::Start(Options options) {
  auto work = std::make_unique<Work>(std::move(options));
  VICINITY_RETURN_IF_ERROR(work->Open());
  std::unique_ptr<OtlpExporter> exporter(new OtlpExporter(std::move(work)));
  VICINITY_ASSIGN_OR_RETURN(exporter->thread_,
                            StartThread([work = exporter->work_.get()] { work->Run(); }));
  return exporter;
}

OtlpExporter::OtlpExporter(std::unique_ptr<Work> work) : work_(std::move(work)) {}

OtlpExporter::~OtlpExporter() {
  if (!thread_.joinable()) return;
  work_->Stop();
  thread_.join();
}

void OtlpExporter::Take(const Spans& spans) { work_->Take(spans); }
bool OtlpExporter::Flush(std::chrono::nanoseconds limit) { return work_->Flush(limit); }
int64_t OtlpExporter::sent() const { return work_->sent_.value(); }
int64_t OtlpExporter::dropped() const { return work_->dropped_.value(); }

std::string OtlpUrl(const std::string& endpoint) {
  std::string base = endpoint;
  if (base.empty()) {
    if (std::string whole = UrlOfEnvironment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        !whole.empty()) {
      return whole;
    }
    base = UrlOfEnvironment("OTEL_EXPORTER_OTLP_ENDPOINT");
  }
  if (base.empty()) return "";
  while (absl::EndsWith(base, "/")) base.pop_back();
  return absl::StrCat(base, kTracesPath);
}

}  // namespace vicinity
