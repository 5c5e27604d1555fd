#include "server/http/http_pages.h"

#include <arpa/inet.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/telemetry/metrics_text.h"
#include "server/http/request_head.h"
#include "server/http/status_page.h"

namespace vicinity {
namespace {

// The last is of all that is no page.
constexpr std::array<const char*, 6> kPages = {"/",        "/status.json", "/metrics",
                                               "/healthz", "/readyz",      "other"};
constexpr size_t kNumClasses = 6;  // of codes, by their first digit

// A connection's bytes, which are in memory on both sides of the parser.
class MemoryStream final : public httplib::Stream {
 public:
  explicit MemoryStream(std::string received) : received_(std::move(received)) {}

  bool is_readable() const override { return read_ < received_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    size = std::min(size, received_.size() - read_);
    std::memcpy(to, received_.data() + read_, size);
    read_ += size;
    return static_cast<ssize_t>(size);
  }
  ssize_t write(const char* from, size_t size) override {
    sent_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

  std::string TakeSent() { return std::move(sent_); }

 private:
  const std::string received_;
  size_t read_ = 0;
  std::string sent_;
};

bool IsNumericHost(std::string host) {
  if (!host.empty() && host.front() == '[') {
    const size_t end = host.find(']');
    in6_addr v6;
    return end != std::string::npos &&
           inet_pton(AF_INET6, host.substr(1, end - 1).c_str(), &v6) == 1;
  }
  host = host.substr(0, host.find(':'));
  in_addr v4;
  return absl::AsciiStrToLower(host) == "localhost" || inet_pton(AF_INET, host.c_str(), &v4) == 1;
}

int CodeOf(const absl::Status& refused) { return absl::IsUnauthenticated(refused) ? 401 : 403; }

}  // namespace

class HttpPages::Server final : public httplib::Server {
 public:
  explicit Server(PageSources sources) : sources_(std::move(sources)) {
    set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Content-Security-Policy", kStatusPagePolicy}});
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Show(request, &response);
      return HandlerResponse::Handled;
    });
  }

  Reply Answer(absl::string_view head, const Caller& shown) {
    shown_ = shown;
    page_ = kPages.size() - 1;
    code_ = 400;  // of what does not get as far as Show
    std::string stripped = StrippedHead(head);
    if (stripped.empty()) return BadRequest();
    MemoryStream stream(std::move(stripped));
    bool is_over = HasBody(head);
    const bool answered = process_request(stream, is_over, is_over, [](httplib::Request&) {});
    std::string sent = stream.TakeSent();
    if (sent.empty()) return BadRequest();
    requests_[page_][static_cast<size_t>(code_ / 100)].Add();
    return {std::move(sent), answered && !is_over};
  }

  void AddMetrics(MetricRegistry::Group* group) const {
    for (size_t page = 0; page < kPages.size(); ++page) {
      for (size_t digit = 2; digit < kNumClasses; ++digit) {
        if (digit == 3) continue;  // nobody is sent elsewhere
        group->Add({"vicinity_server_http_requests_total", "Requests at the HTTP port"},
                   {{"page", kPages[page]}, {"code", absl::StrCat(digit, "xx")}},
                   &requests_[page][digit]);
      }
    }
  }

 private:
  Reply BadRequest() {
    requests_.back()[4].Add();
    return {PlainReply(400, "Bad Request"), false};
  }

  void Show(const httplib::Request& request, httplib::Response* response) {
    const auto known = std::find(kPages.begin(), kPages.end() - 1, request.path);
    page_ = static_cast<size_t>(known - kPages.begin());
    Fill(request, response);
    code_ = response->status;
  }

  void Fill(const httplib::Request& request, httplib::Response* response) {
    const auto text = [response](int code, const std::string& what) {
      response->status = code;
      response->set_content(what + "\n", "text/plain; charset=utf-8");
    };
    // Browsers name a host; who speaks HTTP/1.0 need not.
    const bool says_host = request.version != "HTTP/1.0" || request.has_header("Host");
    if (sources_.loopback_alone && says_host && !IsNumericHost(request.get_header_value("Host"))) {
      return text(421, "ask for this page by an address of this machine, as 127.0.0.1");
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response->set_header("Allow", "GET, HEAD");
      return text(405, "only GET and HEAD");
    }
    if (request.path == "/healthz") return text(200, "ok");
    if (request.path == "/readyz") {
      const bool ready = sources_.is_ready();
      return text(ready ? 200 : 503, ready ? "ready" : "not ready: loading or stopping");
    }
    if (request.path == "/") return Content(kStatusPage, "text/html; charset=utf-8", response);
    const bool is_metrics = request.path == "/metrics";
    if (!is_metrics && request.path != "/status.json") {
      return text(404, "there are /, /metrics, /status.json, /healthz and /readyz");
    }
    if (const absl::Status may = CheckReader(request); !may.ok()) {
      if (absl::IsUnauthenticated(may)) response->set_header("WWW-Authenticate", "Bearer");
      return text(CodeOf(may), std::string(may.message()));
    }
    if (is_metrics) return Content(sources_.metrics(), kMetricsContentType, response);
    Content(sources_.status(), "application/json", response);
  }

  static void Content(const std::string& bytes, const char* type, httplib::Response* response) {
    response->status = 200;
    response->set_content(bytes, type);
  }

  absl::Status CheckReader(const httplib::Request& request) const {
    Caller caller = shown_;
    const size_t shown = request.get_header_value_count("Authorization");
    for (size_t i = 0; i < shown; ++i) {
      caller.authorization.push_back(request.get_header_value("Authorization", i));
    }
    return sources_.check_reader(caller);
  }

  const PageSources sources_;
  // Of the request that is being answered.
  Caller shown_;
  size_t page_ = 0;
  int code_ = 0;
  std::array<std::array<Counter, kNumClasses>, kPages.size()> requests_;
};

HttpPages::HttpPages(PageSources sources) : server_(new Server(std::move(sources))) {}
HttpPages::~HttpPages() = default;

HttpPages::Reply HttpPages::Answer(absl::string_view head, const Caller& shown) {
  return server_->Answer(head, shown);
}

std::string HttpPages::PlainReply(int status, absl::string_view reason) {
  return absl::StrCat("HTTP/1.1 ", status, " ", reason,
                      "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ",
                      reason.size() + 1, "\r\nConnection: close\r\n\r\n", reason, "\n");
}

void HttpPages::AddMetrics(MetricRegistry::Group* group) const { server_->AddMetrics(group); }

}  // namespace vicinity
