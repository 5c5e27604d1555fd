#include "server/http/request_head.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace vicinity {
namespace {

constexpr absl::string_view kLineEnd = "\r\n";
constexpr absl::string_view kHeadEnd = "\r\n\r\n";
constexpr absl::string_view kNeverInLines("\r\n\0", 3);

// Without the head's empty line.
std::vector<absl::string_view> LinesOf(absl::string_view head) {
  if (absl::EndsWith(head, kHeadEnd)) head.remove_suffix(kHeadEnd.size());
  return absl::StrSplit(head, kLineEnd);
}

bool IsHeader(absl::string_view line, absl::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         absl::StartsWithIgnoreCase(line, name);
}

}  // namespace

size_t HeadLength(absl::string_view received) {
  const size_t end = received.find(kHeadEnd);
  return end == absl::string_view::npos ? 0 : end + kHeadEnd.size();
}

std::string StrippedHead(absl::string_view head) {
  const std::vector<absl::string_view> lines = LinesOf(head);
  std::string stripped = absl::StrCat(lines.front(), kLineEnd);
  for (const absl::string_view line : lines) {
    if (line.find_first_of(kNeverInLines) != absl::string_view::npos) return "";
    if (IsHeader(line, "Host") || IsHeader(line, "Authorization") || IsHeader(line, "Connection")) {
      absl::StrAppend(&stripped, line, kLineEnd);
    }
  }
  return absl::StrCat(stripped, kLineEnd);
}

bool HasBody(absl::string_view head) {
  for (const absl::string_view line : LinesOf(head)) {
    if (IsHeader(line, "Transfer-Encoding")) return true;
    if (!IsHeader(line, "Content-Length")) continue;
    const absl::string_view length = line.substr(line.find(':') + 1);
    if (absl::StripAsciiWhitespace(length) != "0") return true;
  }
  return false;
}

}  // namespace vicinity
