// A folder of a test's own, gone when the test is over.
#pragma once

#include <string>
#include <string_view>

namespace vicinity::testing {

// A fresh, empty folder under $TEST_TMPDIR (set by Bazel), else $TMPDIR, else /tmp.
// The destructor removes it with all it holds; it must outlive whatever has files
// open in there and opens more.
//
// A test that cannot have its folder cannot run: the constructor then ends the process
// with a message, which keeps every test free of that case.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // The path of `name` in this folder; creates nothing.
  std::string File(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace vicinity::testing
