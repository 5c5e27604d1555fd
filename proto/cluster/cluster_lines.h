// Where in its text a cluster file says what: the lines that errors about it name.
#pragma once

#include <google/protobuf/text_format.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace vicinity {

// Lines count from 0, as the parser counts them; kNoLine stands for the file as a whole.
//
// Threads: immutable; any number may read.
class ClusterLines {
 public:
  static constexpr int kNoLine = -1;

  // `text` must be a cluster file that has been parsed. `path` is for errors.
  ClusterLines(std::string path, absl::string_view text);

  const std::string& path() const { return path_; }

  // The line of a field of the file, kNoLine if it is not there.
  int OfField(const char* field) const;
  // Of the `server`-th server, and of a field of it, or of the `index`-th value of a repeated one;
  // where the field is not there, the server's own line.
  int OfServer(int server) const;
  int OfServerField(int server, const char* field, int index = -1) const;

  // InvalidArgument: "path:line: text", with the line counted from 1, or "path: text".
  absl::Status Fault(int line, absl::string_view text) const;

 private:
  const std::string path_;
  google::protobuf::TextFormat::ParseInfoTree tree_;
};

}  // namespace vicinity
