#include "client/train/seed_file.h"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace vicinity {
namespace {

bool ParseInteger(const std::string& line, int64_t* number) {
  const char* const end = line.data() + line.size();
  const std::from_chars_result parsed = std::from_chars(line.data(), end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

Result<SeedList> ReadSeedFile(const std::string& path, const NodeTypeSpec& type) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(ErrorCode::kNotFound, path + " cannot be read");
  const bool are_names = type.id_kind == IdKind::kString;
  UserIds ids;
  UserNames names;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto wrong = [&](const std::string& text) {
      return Error(ErrorCode::kInvalidArgument,
                   path + ", line " + std::to_string(number) + ": " + text);
    };
    if (line.empty()) return wrong("it is empty: give one id a line");
    if (are_names) {
      names.ids.push_back(std::move(line));
    } else if (!ParseInteger(line, &ids.ids.emplace_back())) {
      return wrong("'" + line + "' is no 64-bit integer, as ids of node type " + type.name +
                   " are");
    }
  }
  if (file.bad()) return Error(ErrorCode::kNotFound, path + " cannot be read to its end");
  if (are_names) return SeedList(std::move(names));
  return SeedList(std::move(ids));
}

}  // namespace vicinity
