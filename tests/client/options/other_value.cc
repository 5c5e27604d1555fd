#include "tests/client/options/other_value.h"

#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

namespace vicinity::testing {
namespace {

using nlohmann::ordered_json;

struct ToOther {
  ordered_json operator()(const bool* value) const { return !*value; }
  template <typename Integer>
  ordered_json operator()(const Integer* value) const {
    return *value + 1;
  }
  ordered_json operator()(const Bytes& bytes) const { return *bytes.value + 1; }
  ordered_json operator()(const std::chrono::milliseconds* time) const { return time->count() + 1; }
  ordered_json operator()(const std::string* value) const { return *value + "x"; }
  ordered_json operator()(const FilePath& path) const { return *path.value + "x"; }
  ordered_json operator()(const std::vector<int32_t>*) const { return {3, 1}; }
  ordered_json operator()(const std::vector<std::vector<int32_t>>*) const {
    return ordered_json::array({{0, 2}, {1, 3}});
  }
  ordered_json operator()(const Choice& choice) const {
    return choice.words()[choice.Get() == 0 ? 1 : 0];
  }
  ordered_json operator()(const Fanouts&) const { return ordered_json::array({{4, -1}, {0, 3}}); }
  ordered_json operator()(const std::vector<LoaderOptions::ColumnRequest>*) const {
    return ordered_json::array({{{"node_type", "n"}, {"column", "c"}}});
  }
  ordered_json operator()(const std::vector<LoaderOptions::EdgeColumnRequest>*) const {
    return ordered_json::array({{{"edge_type", "e"}, {"column", "d"}}});
  }
  ordered_json operator()(const OptionGroup& group) const {
    ordered_json object;
    for (const Option& option : group.options) object[option.name] = OtherValue(option);
    return object;
  }
};

// [[0, 2], [1, 3]] -> "0,2/1,3"
std::string Joined(const ordered_json& list) {
  std::string text;
  for (const ordered_json& item : list) {
    if (!text.empty()) text += item.is_array() ? '/' : ',';
    text += item.is_array() ? Joined(item) : item.dump();
  }
  return text;
}

}  // namespace

ordered_json OtherValue(const Option& option) { return std::visit(ToOther(), option.field); }

std::string OtherText(const Option& option) {
  const ordered_json value = OtherValue(option);
  if (value.is_string()) return value.get<std::string>();
  return value.is_array() ? Joined(value) : value.dump();
}

}  // namespace vicinity::testing
