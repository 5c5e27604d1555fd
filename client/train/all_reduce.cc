#include "client/train/all_reduce.h"

#include <charconv>
#include <string_view>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "client/train/torch_error.h"

namespace vicinity {
namespace {

constexpr std::string_view kFilePrefix = "file:";

struct HostPort {
  std::string host;
  uint16_t port = 0;
};

// Port 0 is of no use here: the other trainers must know it beforehand.
bool ParseHostPort(const std::string& text, HostPort* out) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, out->port);
  out->host = text.substr(0, colon);
  return error == std::errc() && stop == end && out->port > 0;
}

Error CheckOptions(const TrainerGroupOptions& options) {
  const auto invalid = [](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument, what);
  };
  if (options.num_trainers < 1) {
    return invalid("there must be a trainer: " + std::to_string(options.num_trainers));
  }
  if (options.trainer < 0 || options.trainer >= options.num_trainers) {
    return invalid("trainer " + std::to_string(options.trainer) + " of " +
                   std::to_string(options.num_trainers));
  }
  HostPort address;
  if (options.num_trainers > 1 && options.rendezvous.rfind(kFilePrefix, 0) != 0 &&
      !ParseHostPort(options.rendezvous, &address)) {
    return invalid("rendezvous '" + options.rendezvous + "' is neither host:port nor file:PATH");
  }
  return Error();
}

c10::intrusive_ptr<c10d::Store> OpenStore(const TrainerGroupOptions& options) {
  if (options.rendezvous.rfind(kFilePrefix, 0) == 0) {
    return c10::make_intrusive<c10d::FileStore>(options.rendezvous.substr(kFilePrefix.size()),
                                                options.num_trainers);
  }
  HostPort address;
  ParseHostPort(options.rendezvous, &address);
  c10d::TCPStoreOptions tcp;
  tcp.port = address.port;
  tcp.isServer = options.trainer == 0;
  tcp.numWorkers = options.num_trainers;
  tcp.timeout = options.timeout;
  return c10::make_intrusive<c10d::TCPStore>(address.host, tcp);
}

}  // namespace

// The group counts references to itself, so it lives in a pointer of its kind.
struct TrainerGroup::Gloo {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
};

TrainerGroup::TrainerGroup(const TrainerGroupOptions& options) : options_(options) {}

TrainerGroup::~TrainerGroup() = default;

Result<std::unique_ptr<TrainerGroup>> TrainerGroup::Join(const TrainerGroupOptions& options) {
  const Error invalid = CheckOptions(options);
  if (!invalid.ok()) return invalid;
  std::unique_ptr<TrainerGroup> group(new TrainerGroup(options));
  if (options.num_trainers > 1) {
    const Error error = group->Connect();
    if (!error.ok()) return error;
  }
  return group;
}

Error TrainerGroup::Connect() {
  const std::string where = "trainer " + std::to_string(options_.trainer) + " joining " +
                            std::to_string(options_.num_trainers) + " at " + options_.rendezvous;
  return CatchTorch(ErrorCode::kUnavailable, where, [&] {
    c10::intrusive_ptr<c10d::Store> store = OpenStore(options_);
    store->setTimeout(options_.timeout);
    auto gloo = c10d::ProcessGroupGloo::Options::create(options_.timeout);
    gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(options_.interface));
    gloo_ = std::make_unique<Gloo>();
    gloo_->group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, options_.trainer,
                                                               options_.num_trainers, gloo);
  });
}

Error TrainerGroup::Sum(torch::Tensor tensor) {
  if (gloo_ == nullptr) return Error();
  return CatchTorch(ErrorCode::kUnavailable, "adding up over trainers", [&] {
    std::vector<torch::Tensor> tensors = {std::move(tensor)};
    gloo_->group->allreduce(tensors)->wait();
  });
}

Error TrainerGroup::CopyFromFirst(torch::Tensor tensor) {
  if (gloo_ == nullptr) return Error();
  return CatchTorch(ErrorCode::kUnavailable, "copying from trainer 0", [&] {
    std::vector<torch::Tensor> tensors = {std::move(tensor)};
    gloo_->group->broadcast(tensors)->wait();
  });
}

GradientAverager::GradientAverager(std::vector<torch::Tensor> parameters)
    : parameters_(std::move(parameters)) {
  int64_t size = kNumTotals;
  for (const torch::Tensor& parameter : parameters_) size += parameter.numel();
  buffer_ = torch::zeros({size}, torch::kFloat32);
}

void GradientAverager::Pack(const StepTotals& totals) {
  int64_t at = 0;
  for (const torch::Tensor& parameter : parameters_) {
    torch::Tensor part = buffer_.narrow(0, at, parameter.numel());
    if (parameter.grad().defined()) {
      part.copy_(parameter.grad().reshape(-1));
    } else {
      part.zero_();
    }
    at += parameter.numel();
  }
  float* tail = buffer_.data_ptr<float>() + at;
  tail[0] = static_cast<float>(totals.loss);
  tail[1] = static_cast<float>(totals.seeds);
  tail[2] = static_cast<float>(totals.correct);
}

void GradientAverager::Unpack(StepTotals* totals) {
  const float* tail = buffer_.data_ptr<float>() + buffer_.numel() - kNumTotals;
  *totals = {tail[0], tail[1], tail[2]};
  const float scale = tail[1] > 0 ? 1 / tail[1] : 0;
  int64_t at = 0;
  for (torch::Tensor& parameter : parameters_) {
    if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    parameter.mutable_grad().copy_(buffer_.narrow(0, at, parameter.numel()).view_as(parameter) *
                                   scale);
    at += parameter.numel();
  }
}

Error GradientAverager::Average(TrainerGroup* group, StepTotals* totals) {
  const torch::NoGradGuard no_grad;
  Pack(*totals);
  const Error error = group->Sum(buffer_);
  if (error.ok()) Unpack(totals);
  return error;
}

}  // namespace vicinity
