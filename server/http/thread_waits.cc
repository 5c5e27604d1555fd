#include "server/http/thread_waits.h"

#include <dirent.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

namespace vicinity {
namespace {

std::vector<std::string> ThreadsIn(const std::string& folder) {
  std::vector<std::string> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(folder.c_str()), &closedir);
  if (tasks == nullptr) return threads;
  while (const dirent* entry = readdir(tasks.get())) {
    if (entry->d_name[0] != '.') threads.emplace_back(entry->d_name);
  }
  return threads;
}

}  // namespace

double ThreadWaits::CpuSeconds() {
  const std::string folder = root_ + "/proc/self/task/";
  std::map<std::string, int64_t> now;
  for (std::string& thread : ThreadsIn(folder)) {
    std::ifstream schedstat(folder + thread + "/schedstat");
    int64_t ran = 0;
    int64_t waited = 0;
    if (schedstat >> ran >> waited) now.emplace(std::move(thread), waited);
  }
  MutexLock lock(&mu_);
  for (const auto& [thread, waited] : now) {
    const auto before = nanoseconds_.find(thread);
    // A number that was another thread's before begins anew.
    const int64_t counted =
        before == nanoseconds_.end() || before->second > waited ? 0 : before->second;
    total_ += waited - counted;
  }
  nanoseconds_ = std::move(now);
  return static_cast<double>(total_) * 1e-9;
}

int ThreadWaits::OnDisk() const {
  const std::string folder = root_ + "/proc/self/task/";
  int waiting = 0;
  for (const std::string& thread : ThreadsIn(folder)) {
    std::ifstream file(folder + thread + "/stat");
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    // The second field is a name in brackets, which may have any characters; the state follows.
    const size_t end = text.rfind(") ");
    if (end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'D') ++waiting;
  }
  return waiting;
}

}  // namespace vicinity
