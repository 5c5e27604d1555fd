#include "server/http/peer_watch.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/cluster/host_port.h"
#include "proto/common/mutex.h"
#include "proto/common/thread.h"

namespace vicinity {
namespace {

using Clock = std::chrono::steady_clock;
using Peer = PeerWatch::Peer;
using State = PeerWatch::State;

constexpr size_t kAtOnce = 64;  // connections

// Threads: one at a time.
class Attempt {
 public:
  explicit Attempt(Peer* peer) : peer_(peer), begun_(Clock::now()) {}
  ~Attempt() { CloseNow(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void Begin(const std::string& address) {
    const absl::StatusOr<HostPort> parsed = ParseHostPort(address);
    if (!parsed.ok()) return Fail("no address");
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    const int failed =
        getaddrinfo(parsed->host.c_str(), absl::StrCat(parsed->port).c_str(), &hints, &first);
    if (failed != 0) return Fail(gai_strerror(failed));
    Connect(*first);
    freeaddrinfo(first);
  }

  int fd() const { return fd_; }  // -1: it is over
  void End() {
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return Fail(std::strerror(error));
    Succeed();
  }
  void Fail(const std::string& fault) {
    *peer_ = {State::kSilent, 0, fault};
    CloseNow();
  }

 private:
  void Connect(const addrinfo& info) {
    fd_ = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd_ < 0) return Fail(std::strerror(errno));
    if (connect(fd_, info.ai_addr, info.ai_addrlen) == 0) return Succeed();
    if (errno != EINPROGRESS) Fail(std::strerror(errno));
  }
  void Succeed() {
    *peer_ = {State::kAnswers, std::chrono::duration<double>(Clock::now() - begun_).count(), ""};
    CloseNow();
  }
  void CloseNow() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  Peer* const peer_;
  const Clock::time_point begun_;
  int fd_ = -1;
};

// Of some addresses, at once.
void LookAtSome(const std::vector<std::string>& addresses, size_t begin, size_t end,
                std::chrono::milliseconds limit, std::vector<Peer>* peers) {
  std::vector<std::unique_ptr<Attempt>> attempts;
  for (size_t i = begin; i < end; ++i) {
    if (addresses[i].empty()) continue;
    attempts.push_back(std::make_unique<Attempt>(&(*peers)[i]));
    attempts.back()->Begin(addresses[i]);
  }
  const Clock::time_point deadline = Clock::now() + limit;
  while (true) {
    std::vector<pollfd> polled;
    std::vector<Attempt*> waiting;
    for (const std::unique_ptr<Attempt>& attempt : attempts) {
      if (attempt->fd() < 0) continue;
      polled.push_back({attempt->fd(), POLLOUT, 0});
      waiting.push_back(attempt.get());
    }
    if (waiting.empty()) return;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready =
        poll(polled.data(), polled.size(), static_cast<int>(std::max<int64_t>(left, 0)));
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (polled[i].revents != 0) {
        waiting[i]->End();
      } else if (ready <= 0 && left <= 0) {
        waiting[i]->Fail("no answer in time");
      }
    }
  }
}

}  // namespace

class PeerWatch::Watcher {
 public:
  Watcher(std::vector<std::string> addresses, const Times& times)
      : addresses_(std::move(addresses)), times_(times), peers_(addresses_.size()) {}

  void Run() {
    while (WaitUntilAsked()) {
      std::vector<Peer> seen(addresses_.size());
      for (size_t i = 0; i < seen.size(); i += kAtOnce) {
        LookAtSome(addresses_, i, std::min(i + kAtOnce, seen.size()), times_.limit, &seen);
      }
      MutexLock lock(&mu_);
      peers_ = std::move(seen);
      next_look_ = Clock::now() + times_.between;
    }
  }

  std::vector<Peer> Ask() {
    MutexLock lock(&mu_);
    const Clock::time_point now = Clock::now();
    // Nobody has asked for a while: what was seen then is old.
    if (now >= wanted_until_) peers_.assign(peers_.size(), Peer());
    wanted_until_ = now + times_.goes_on;
    changed_.NotifyAll();
    return peers_;
  }

  void Stop() {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.NotifyAll();
  }

 private:
  // False: it is over.
  bool WaitUntilAsked() {
    MutexLock lock(&mu_);
    while (!stop_) {
      const Clock::time_point now = Clock::now();
      if (now >= wanted_until_) {
        changed_.WaitFor(&mu_, std::chrono::hours(1));
      } else if (now < next_look_) {
        changed_.WaitFor(&mu_, next_look_ - now);
      } else {
        return true;
      }
    }
    return false;
  }

  const std::vector<std::string> addresses_;
  const Times times_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Peer> peers_ ABSL_GUARDED_BY(mu_);
  Clock::time_point wanted_until_ ABSL_GUARDED_BY(mu_);
  Clock::time_point next_look_ ABSL_GUARDED_BY(mu_);
};

PeerWatch::PeerWatch(const std::vector<std::string>& addresses, const Times& times)
    : watcher_(std::make_shared<Watcher>(addresses, times)) {
  if (addresses.empty()) return;
  absl::StatusOr<std::thread> thread = StartThread([watcher = watcher_] { watcher->Run(); });
  if (thread.ok()) thread->detach();
}

PeerWatch::~PeerWatch() { watcher_->Stop(); }

std::vector<PeerWatch::Peer> PeerWatch::Ask() { return watcher_->Ask(); }

}  // namespace vicinity
