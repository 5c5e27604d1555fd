#include "server/health/disk_watch.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "proto/common/human_text.h"
#include "proto/telemetry/metric.h"

namespace vicinity {
namespace {

constexpr std::chrono::seconds kBetweenLooks(1);

}  // namespace

std::unique_ptr<DiskWatch> DiskWatch::Start(const DiskWatchOptions& options, DiskReserve* reserve,
                                            spdlog::logger* log) {
  auto watch = std::make_unique<DiskWatch>(options, reserve, log);
  watch->thread_ = std::thread([raw = watch.get()] { raw->Run(); });
  return watch;
}

DiskWatch::DiskWatch(const DiskWatchOptions& options, DiskReserve* reserve, spdlog::logger* log)
    : options_(options),
      reserve_(reserve),
      log_(log),
      warn_(options.warn_bytes),
      least_(options.least_bytes),
      held_(reserve->is_held()),
      times_given_up_(reserve->times_given_up()) {}

DiskWatch::~DiskWatch() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    stopping_changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void DiskWatch::Run() {
  for (;;) {
    Look();
    MutexLock lock(&mu_);
    if (!stopping_) stopping_changed_.WaitFor(&mu_, kBetweenLooks);
    if (stopping_) return;
  }
}

void DiskWatch::Look() {
  const auto free = options_.free ? options_.free() : FreeBytesOf(options_.folder);
  if (!free.ok()) {
    if (!unread_)
      log_->warn("how much is free is not known: {}", std::string(free.status().message()));
    unread_ = true;
    return;
  }
  unread_ = false;
  // It may have been for a moment between two looks.
  const int64_t times_given_up = reserve_->times_given_up();
  if (std::exchange(times_given_up_, times_given_up) != times_given_up) {
    held_ = false;
    log_->error(
        "{}: the reserve of {} was given up, for changes met a full disk; writes are taken again, "
        "and the reserve is made again, once there is room",
        reserve_->path(), HumanBytes(reserve_->bytes()));
  }
  const bool held = TryReserve(*free);
  if (held && !std::exchange(held_, held)) {
    log_->info("{}: {} are kept in reserve", reserve_->path(), HumanBytes(reserve_->bytes()));
  }
  const DiskLevel level = LevelOf(*free);
  if (level != this->level()) TellLevel(level, *free);
  level_.store(level, std::memory_order_relaxed);
}

bool DiskWatch::TryReserve(int64_t free) {
  if (reserve_->is_held()) return true;
  if (reserve_->bytes() == 0) return false;
  return free >= BytesForReserve() && reserve_->Make().ok();
}

int64_t DiskWatch::BytesForReserve() const {
  return reserve_->bytes() + std::max(least_.enough_bytes(), reserve_->bytes());
}

// What is to become the reserve again is not free.
DiskLevel DiskWatch::LevelOf(int64_t free) {
  const int64_t left = free - reserve_->missing_bytes();
  const bool low = warn_.IsBelow(left);
  const bool full = least_.IsBelow(left);
  if (full || reserve_->is_given_up()) return DiskLevel::kFull;
  return low ? DiskLevel::kLow : DiskLevel::kEnough;
}

void DiskWatch::TellLevel(DiskLevel level, int64_t free) {
  const std::string is_free = HumanBytes(free);
  if (level == DiskLevel::kFull) {
    log_->error("{}: the disk is full: {} are free; changes are refused until there are {}",
                options_.folder, is_free,
                HumanBytes(reserve_->is_given_up() ? BytesForReserve() : least_.enough_bytes()));
  } else if (level == DiskLevel::kLow) {
    log_->warn("{}: the disk is nearly full: {} are free; changes are taken on{}", options_.folder,
               is_free,
               least_.least_bytes() > 0
                   ? " until there are less than " + HumanBytes(least_.least_bytes())
                   : "");
  } else {
    log_->info("{}: the disk has room again: {} are free", options_.folder, is_free);
  }
}

void DiskWatch::AddMetrics(MetricRegistry::Group* group) const {
  group->Add({"vicinity_server_changes_disk_level",
              "The disk of the changes: 0 has room, 1 is nearly full, 2 is full, so that changes "
              "are refused",
              MetricKind::kGauge},
             {}, [this] { return static_cast<double>(level()); });
  group->Add({"vicinity_server_changes_reserve_bytes",
              "Kept on the disk of the changes for when it is full", MetricKind::kGauge},
             {},
             [this] { return static_cast<double>(reserve_->bytes() - reserve_->missing_bytes()); });
}

}  // namespace vicinity
