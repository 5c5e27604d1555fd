#include "tests/testing/attacks/attacker.h"

#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace vicinity::testing {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kLongestNap = absl::Milliseconds(10);
constexpr int kMostEvents = 64;
constexpr int kReadsAtOnce = 4;

absl::Duration OwnCpu() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return absl::DurationFromTimespec(used);
}

// The connections of one attack, each in a place that outlasts it.
class Campaign {
 public:
  Campaign(const AttackerOptions& options, const Attack& attack, AttackReport* report)
      : options_(options),
        attack_(attack),
        report_(*report),
        begun_(absl::Now()),
        cpu_before_(OwnCpu()),
        epoll_fd_(epoll_create1(EPOLL_CLOEXEC)),
        places_(attack.num_connections) {
    if (options.tls && attack.opening == Opening::kHandshake) {
      context_ = MakeHostileContext(options.shows);
    }
  }
  ~Campaign() { close(epoll_fd_); }

  void Step() {
    // The first ones too come as fast as the processor's share allows.
    for (int i = 0; i < kMostEvents && num_begun_ < places_.size(); ++i) Renew(num_begun_++);
    std::array<epoll_event, kMostEvents> events{};
    const int ready =
        epoll_wait(epoll_fd_, events.data(), kMostEvents, num_begun_ < places_.size() ? 0 : 5);
    for (int i = 0; i < ready; ++i) Happened(events[i].data.u64, events[i].events);
    if (absl::Now() >= next_tick_) {
      next_tick_ = absl::Now() + kTick;
      for (size_t place = 0; place < num_begun_; ++place) Talk(place);
    }
    RestAWhile();
  }

  void Finish() {
    for (Place& place : places_) {
      if (place.connection == nullptr) continue;
      report_.sent_bytes += place.connection->sent();
      if (!place.was_open) continue;
      ++report_.open_at_end;
      lives_.push_back(absl::Now() - place.opened);
    }
    report_.cpu_seconds = absl::ToDoubleSeconds(OwnCpu() - cpu_before_);
    if (lives_.empty()) return;
    std::sort(lives_.begin(), lives_.end());
    report_.typical_life = lives_[lives_.size() / 2];
    report_.longest_life = lives_.back();
  }

 private:
  struct Place {
    std::unique_ptr<HostileConnection> connection;
    std::unique_ptr<HostileSession> session;
    bool was_open = false;
    absl::Time opened;
    uint32_t watched = 0;  // the events
  };

  void Renew(size_t place) {
    Place& renewed = places_[place];
    ++report_.begun;
    renewed = Place();
    renewed.connection = std::make_unique<HostileConnection>(options_.address, context_);
    renewed.session = attack_.make_session();
    epoll_event event = EventOf(place);
    renewed.watched = event.events;
    epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, renewed.connection->fd(), &event);
  }

  epoll_event EventOf(size_t place) const {
    const Place& at = places_[place];
    epoll_event event{};
    event.data.u64 = place;
    event.events = EPOLLRDHUP;
    if (!at.was_open || at.session->reads()) event.events |= EPOLLIN;
    if (at.connection->wants_to_write()) event.events |= EPOLLOUT;
    return event;
  }

  void Happened(size_t place, uint32_t events) {
    HostileConnection* const connection = places_[place].connection.get();
    HostileSession* const session = places_[place].session.get();
    const bool reads = places_[place].was_open && session->reads();
    for (int i = 0; i < kReadsAtOnce && reads && (events & EPOLLIN) != 0; ++i) {
      const std::string in = connection->Read();
      if (in.empty()) break;
      session->Hear(in);
    }
    // Who does not read hears of the end like this.
    const bool over = (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;
    if (over && (!reads || (events & EPOLLIN) == 0)) connection->End();
    Talk(place);
  }

  // Goes on with the connection, and with another where it has ended.
  void Talk(size_t place) {
    Place& at = places_[place];
    at.connection->Advance();
    if (!at.was_open && at.connection->state() == HostileConnection::State::kOpen) {
      at.was_open = true;
      at.opened = absl::Now();
      ++report_.opened;
    }
    if (at.was_open && !at.connection->wants_to_write()) {
      at.session->Say(at.connection->out());
      at.connection->Advance();
    }
    const bool ended = at.connection->state() == HostileConnection::State::kEnded;
    if (ended || at.session->done()) {
      Account(at, ended);
      Renew(place);
      return;
    }
    epoll_event event = EventOf(place);
    if (event.events == at.watched) return;
    at.watched = event.events;
    epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, at.connection->fd(), &event);
  }

  void Account(const Place& place, bool by_server) {
    report_.sent_bytes += place.connection->sent();
    if (!place.was_open) {
      ++report_.refused;
      return;
    }
    lives_.push_back(absl::Now() - place.opened);
    if (!by_server) return;
    ++report_.cut;
    report_.until_first_cut = std::min(report_.until_first_cut, absl::Now() - begun_);
  }

  void RestAWhile() {
    const absl::Duration allowed = (absl::Now() - begun_) * options_.cpu_share;
    const absl::Duration ahead = (OwnCpu() - cpu_before_) - allowed;
    if (ahead > absl::ZeroDuration()) {
      absl::SleepFor(std::min(ahead / options_.cpu_share, kLongestNap));
    }
  }

  const AttackerOptions& options_;
  const Attack& attack_;
  AttackReport& report_;
  const absl::Time begun_;
  const absl::Duration cpu_before_;
  const int epoll_fd_;
  std::shared_ptr<SSL_CTX> context_;
  std::vector<Place> places_;
  size_t num_begun_ = 0;
  absl::Time next_tick_;
  std::vector<absl::Duration> lives_;
};

}  // namespace

Attacker::Attacker(const AttackerOptions& options, const Attack& attack)
    : options_(options), attack_(attack), thread_([this] { Run(); }) {}

Attacker::~Attacker() {
  if (thread_.joinable()) Stop();
}

AttackReport Attacker::Stop() {
  stop_ = true;
  thread_.join();
  return report_;
}

void Attacker::Run() {
  // What is written to a connection that has ended is an error, no signal.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  if (options_.prepare != nullptr) report_.prepared = options_.prepare();
  if (!report_.prepared.ok()) return;
  Campaign campaign(options_, attack_, &report_);
  while (!stop_) campaign.Step();
  campaign.Finish();
}

}  // namespace vicinity::testing
