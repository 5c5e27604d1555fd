#include "client/cli/output/load_rates.h"

namespace vicinity::cli {
namespace {

const proto::MethodStatus* Find(const proto::StatusReply& reply, const std::string& method) {
  for (const proto::MethodStatus& known : reply.methods()) {
    if (known.method() == method) return &known;
  }
  return nullptr;
}

}  // namespace

uint64_t RejectedOf(const proto::StatusReply& reply) {
  uint64_t rejected = 0;
  for (const proto::LimitStatus& limit : reply.limits()) rejected += limit.refused();
  return rejected;
}

LoadRates RatesBetween(const proto::StatusReply& before, const proto::StatusReply& after) {
  const bool same_process = after.uptime_seconds() >= before.uptime_seconds();
  LoadRates rates;
  rates.seconds = after.uptime_seconds() - (same_process ? before.uptime_seconds() : 0);
  const auto rate = [&rates](uint64_t then, uint64_t now) {
    return rates.seconds > 0 && now > then ? static_cast<double>(now - then) / rates.seconds : 0;
  };
  rates.rejected = rate(same_process ? RejectedOf(before) : 0, RejectedOf(after));
  for (const proto::MethodStatus& now : after.methods()) {
    const proto::MethodStatus* found = same_process ? Find(before, now.method()) : nullptr;
    const proto::MethodStatus& then =
        found != nullptr ? *found : proto::MethodStatus::default_instance();
    MethodRates method;
    method.method = now.method();
    method.calls = rate(then.started(), now.started());
    method.failed = rate(then.failed(), now.failed());
    method.bytes = rate(then.bytes_sent(), now.bytes_sent());
    rates.all.calls += method.calls;
    rates.all.failed += method.failed;
    rates.all.bytes += method.bytes;
    rates.methods.push_back(std::move(method));
  }
  return rates;
}

}  // namespace vicinity::cli
