#include "proto/common/bus_errors.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace vicinity {

// Lock-free atomics only: that is all that a signal handler may read.
struct GuardedPlace {
  std::atomic<bool> taken{true};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0: nothing is guarded here
  std::atomic<bool> hit{false};
  GuardedPlace* next = nullptr;  // fixed once the place is in the list
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

namespace {

std::atomic<GuardedPlace*> g_first{nullptr};
struct sigaction g_before;  // written once, before it is read

GuardedPlace* FindPlace(uintptr_t address) {
  for (GuardedPlace* place = g_first.load(); place != nullptr; place = place->next) {
    if (address < place->end.load() && address >= place->begin.load()) return place;
  }
  return nullptr;
}

GuardedPlace* TakePlace() {
  for (GuardedPlace* place = g_first.load(); place != nullptr; place = place->next) {
    bool taken = false;
    if (place->taken.compare_exchange_strong(taken, true)) return place;
  }
  // Never deleted, for the handler may be looking at it.
  auto* const place = new GuardedPlace();
  place->next = g_first.load();
  while (!g_first.compare_exchange_weak(place->next, place)) {
  }
  return place;
}

// All of the file's memory becomes zeros, not the one page: a file that was cut off would need a
// mapping for each page that is read, and a process may have only so many.
bool ReadAsZeros(GuardedPlace* place) {
  const uintptr_t begin = place->begin.load();
  void* const at = reinterpret_cast<void*>(begin);
  // Before the zeros can be read.
  place->hit.store(true);
  return mmap(at, place->end.load() - begin, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at;
}

void HandOn(int signal, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else {
    // The instruction runs again and ends the process, as it would have done without us.
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    sigaction(signal, &plain, nullptr);
  }
}

void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  GuardedPlace* const place = FindPlace(reinterpret_cast<uintptr_t>(info->si_addr));
  if (place == nullptr || !ReadAsZeros(place)) HandOn(signal, info, context);
  errno = error;
}

bool Install() {
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // In two steps, so that the handler never runs without knowing who was there before.
  return sigaction(SIGBUS, nullptr, &g_before) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
}

}  // namespace

void GuardAgainstBusErrors() {
  static const bool installed = Install();
  static_cast<void>(installed);
}

GuardedMemory::GuardedMemory(const void* begin, size_t size) : place_(TakePlace()) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  place_->hit.store(false);
  place_->begin.store(at);
  place_->end.store(size == 0 ? 0 : at + size);
}

GuardedMemory::~GuardedMemory() {
  place_->end.store(0);
  place_->taken.store(false);
}

bool GuardedMemory::was_hit() const { return place_->hit.load(std::memory_order_acquire); }
void GuardedMemory::Clear() { place_->hit.store(false); }

}  // namespace vicinity
