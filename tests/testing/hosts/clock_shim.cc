// A library to preload (LD_PRELOAD) into a program whose wall clock is to jump: adds the number of
// nanoseconds that the file $VICINITY_CLOCK_FILE holds (8 bytes, little-endian, which others may
// change at any time) to what the system says. Waits until a time of the wall clock end when that
// clock says so, also if it jumps meanwhile, as the kernel's do. The steady clock is left alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFarSeconds = int64_t{1} << 33;  // some centuries; in nanoseconds it still fits
constexpr int64_t kSlice = 20'000'000;  // how long a wait goes without a look at the clock

const std::atomic<int64_t>* MapOffset() {
  static const std::atomic<int64_t> none{0};
  const char* const path = std::getenv("VICINITY_CLOCK_FILE");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &none;
  void* const page = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return page == MAP_FAILED ? &none : static_cast<const std::atomic<int64_t>*>(page);
}

int64_t Offset() {
  static const std::atomic<int64_t>* const offset = MapOffset();
  return offset->load();
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int64_t ToNanos(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

timespec ToTime(int64_t nanos) {
  timespec time{};
  time.tv_sec = nanos / kSecond;
  time.tv_nsec = nanos % kSecond;
  return time;
}

int64_t SystemNow() {
  static auto* const next = Next<int(clockid_t, timespec*)>("clock_gettime");
  timespec now{};
  next(CLOCK_REALTIME, &now);
  return ToNanos(now);
}

// The system's time at which to look again at a wait until `end` of the shifted clock; whether that
// is before the wait's end.
bool NextLook(const timespec& end, timespec* look) {
  const int64_t now = SystemNow();
  const bool is_never = end.tv_sec > kFarSeconds;
  const int64_t left = is_never ? INT64_MAX : ToNanos(end) - Offset() - now;
  *look = ToTime(now + std::clamp<int64_t>(left, 0, kSlice));
  return left > kSlice;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const next = Next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) *time = ToTime(ToNanos(*time) + Offset());
  return result;
}

int gettimeofday(timeval* time, void*) {
  const int64_t now = SystemNow() + Offset();
  time->tv_sec = now / kSecond;
  time->tv_usec = now % kSecond / 1000;
  return 0;
}

time_t time(time_t* out) {
  const time_t now = (SystemNow() + Offset()) / kSecond;
  if (out != nullptr) *out = now;
  return now;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  static auto* const next =
      Next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
          "pthread_cond_clockwait");
  // The clock that the condition was made with is in its flags (glibc's internal layout).
  const bool is_steady = (condition->__data.__wrefs & 2) != 0;
  if (is_steady) return next(condition, mutex, CLOCK_MONOTONIC, end);
  timespec look;
  const bool early = NextLook(*end, &look);
  const int result = next(condition, mutex, CLOCK_REALTIME, &look);
  return early && result == ETIMEDOUT ? 0 : result;  // a wake-up for no reason: the caller looks
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  static auto* const next =
      Next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
          "pthread_cond_clockwait");
  if (clock != CLOCK_REALTIME) return next(condition, mutex, clock, end);
  timespec look;
  const bool early = NextLook(*end, &look);
  const int result = next(condition, mutex, clock, &look);
  return early && result == ETIMEDOUT ? 0 : result;
}

int sem_timedwait(sem_t* semaphore, const timespec* end) {
  static auto* const next = Next<int(sem_t*, const timespec*)>("sem_timedwait");
  for (;;) {
    timespec look;
    const bool early = NextLook(*end, &look);
    if (next(semaphore, &look) == 0) return 0;
    if (errno != ETIMEDOUT || !early) return -1;
  }
}

// Abseil waits by futexes of its own.
long syscall(long number, ...) {  // NOLINT: libc's own name and types
  static auto* const next = Next<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long args[6];
  for (long& arg : args) arg = va_arg(list, long);
  va_end(list);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so the kernel's interface is
  const auto* const end = reinterpret_cast<const timespec*>(args[3]);
  if (number != SYS_futex || (args[1] & FUTEX_CLOCK_REALTIME) == 0 || end == nullptr) {
    return next(number, args[0], args[1], args[2], args[3], args[4], args[5]);
  }
  timespec look;
  const bool early = NextLook(*end, &look);
  const long result = next(number, args[0], args[1], args[2], &look, args[4], args[5]);
  if (early && result == -1 && errno == ETIMEDOUT) errno = EINTR;  // Abseil waits on
  return result;
}

}  // extern "C"
