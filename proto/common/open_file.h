// Files as the system has them, open and mapped: what partition/dataset/verified_file.h and file.h
// are made of. Who reads or writes whole files uses file.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace vicinity {

// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // What close() returns; 0 if it was closed before. It may be what reports a failed write (NFS),
  // so whoever wrote asks for the result.
  int Close();

 private:
  int fd_;
};

// As open(2), closed at exec, and called again when a signal interrupts it. Not ok(): errno says
// why.
Descriptor OpenFile(const std::string& path, int flags, mode_t mode = 0644);

// Maps the first `size` bytes, shared with every process that maps the file. Null: errno says why;
// 0 bytes cannot be mapped.
char* MapFile(const Descriptor& fd, int64_t size, int protection);

// Asks the system for huge pages, for a file that is read at random all over: on small ones most
// reads miss the TLB as well. False: nothing is asked for a file that is no small part of the
// machine's memory, since each page read back would be 2 MiB, nor for one that is smaller than such
// a page. Advice: it may not be taken.
bool AskForHugePages(const void* mapped, int64_t size);
// For a new file that is written in one go: its pages come in large pieces, so writing takes half
// the time and its readers can map them so.
void WriteInHugePages(void* mapped, int64_t size);

}  // namespace vicinity
