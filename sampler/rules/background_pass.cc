#include "sampler/rules/background_pass.h"

#include <utility>

#include "proto/common/thread.h"

namespace vicinity {

BackgroundPass::~BackgroundPass() {
  stops_ = true;
  if (thread_.joinable()) thread_.join();
}

bool BackgroundPass::Start(std::function<void()> pass) {
  if (is_running_) return false;
  if (thread_.joinable()) thread_.join();  // it has said that it is over, and goes
  is_running_ = true;
  auto thread = StartThread([this, pass = std::move(pass)] {
    pass();
    is_running_ = false;
  });
  if (thread.ok()) {
    thread_ = *std::move(thread);
  } else {
    is_running_ = false;
  }
  return thread.ok();
}

}  // namespace vicinity
