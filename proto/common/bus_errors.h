// Mapped memory that the disk fails to bring, or that its file has lost since it was mapped: a
// SIGBUS, which would end the process. Guarded memory reads as zeros from then on, and whoever owns
// it can tell.
//
// A signal handler belongs to the whole process, so this is global state. It hands every other
// address on to whoever had the signal before.
#pragma once

#include <cstddef>

namespace vicinity {

// Threads: any. The first call installs the handler, further ones do nothing. A handler that
// somebody installs later takes the guard away.
void GuardAgainstBusErrors();

struct GuardedPlace;

// The memory of one mapped file.
//
// Threads:  any number may ask; Clear() is for who has just mapped the memory anew.
// Lifetime: the memory must stay mapped as long as the object.
// Memory:   a place in the handler's list, which is used again and never given back.
class GuardedMemory {
 public:
  GuardedMemory(const void* begin, size_t size);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // True: a part of it could not be read, and since then all of it is zeros. Nothing that was read
  // before this said false was such a zero.
  bool was_hit() const;
  void Clear();

 private:
  GuardedPlace* const place_;
};

}  // namespace vicinity
