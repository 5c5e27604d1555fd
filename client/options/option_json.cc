#include "client/options/option_json.h"

#include <chrono>
#include <cstdint>
#include <variant>

namespace vicinity {
namespace {

using nlohmann::ordered_json;

struct ToTypeText {
  std::string operator()(const bool*) const { return "bool"; }
  std::string operator()(const int32_t*) const { return "integer"; }
  std::string operator()(const int64_t*) const { return "integer"; }
  std::string operator()(const uint64_t*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const Bytes&) const { return "bytes"; }
  std::string operator()(const std::chrono::milliseconds*) const { return "milliseconds"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(const FilePath&) const { return "path"; }
  std::string operator()(const std::vector<int32_t>*) const { return "list of integers"; }
  std::string operator()(const std::vector<std::vector<int32_t>>*) const {
    return "list of lists of integers";
  }
  std::string operator()(const Choice& choice) const {
    std::string text;
    for (const std::string& word : choice.words()) {
      text += (text.empty() ? "one of \"" : ", \"") + word + '"';
    }
    return text;
  }
  std::string operator()(const Fanouts&) const {
    return "list of integers, or of a list with one for each edge type";
  }
  std::string operator()(const std::vector<LoaderOptions::ColumnRequest>*) const {
    return "list of {node_type, column}";
  }
  std::string operator()(const std::vector<LoaderOptions::EdgeColumnRequest>*) const {
    return "list of {edge_type, column}";
  }
  std::string operator()(const OptionGroup&) const { return "object"; }
};

struct ToJson {
  template <typename Value>
  ordered_json operator()(const Value* value) const {
    return *value;
  }
  ordered_json operator()(const Bytes& bytes) const { return *bytes.value; }
  ordered_json operator()(const std::chrono::milliseconds* time) const { return time->count(); }
  ordered_json operator()(const FilePath& path) const { return *path.value; }
  ordered_json operator()(const Choice& choice) const { return choice.words().at(choice.Get()); }
  ordered_json operator()(const Fanouts& fanouts) const { return *fanouts.value; }
  ordered_json operator()(const std::vector<LoaderOptions::ColumnRequest>* requests) const {
    ordered_json list = ordered_json::array();
    for (const auto& request : *requests) {
      list.push_back({{"node_type", request.node_type}, {"column", request.column}});
    }
    return list;
  }
  ordered_json operator()(const std::vector<LoaderOptions::EdgeColumnRequest>* requests) const {
    ordered_json list = ordered_json::array();
    for (const auto& request : *requests) {
      list.push_back({{"edge_type", request.edge_type}, {"column", request.column}});
    }
    return list;
  }
  ordered_json operator()(const OptionGroup& group) const {
    ordered_json object = ordered_json::object();
    for (const Option& option : group.options) object[option.name] = ValueOf(option.field);
    return object;
  }
};

}  // namespace

std::string TypeOf(const OptionField& field) { return std::visit(ToTypeText(), field); }

ordered_json ValueOf(const OptionField& field) { return std::visit(ToJson(), field); }

ordered_json DescribeOptions(const std::vector<Option>& options) {
  ordered_json list = ordered_json::array();
  for (const Option& option : options) {
    ordered_json row = {{"name", option.name},
                        {"type", TypeOf(option.field)},
                        {"default", ValueOf(option.field)},
                        {"doc", option.doc}};
    if (option.least != Least::kNone) row["least"] = option.least;
    if (const auto* choice = std::get_if<Choice>(&option.field)) row["words"] = choice->words();
    if (const auto* group = std::get_if<OptionGroup>(&option.field)) {
      row["options"] = DescribeOptions(group->options);
    }
    list.push_back(std::move(row));
  }
  return list;
}

ordered_json DescribeAllOptions() {
  GraphOptions graph;
  LoaderOptions loader;
  SampleOptions sample;
  WalkOptions walk;
  VisitOptions visits;
  PprOptions ppr;
  WriterOptions writer;
  return {{"graph", DescribeOptions(OptionsOf(&graph))},
          {"loader", DescribeOptions(OptionsOf(&loader))},
          {"sample", DescribeOptions(OptionsOf(&sample))},
          {"walk", DescribeOptions(OptionsOf(&walk))},
          {"visits", DescribeOptions(OptionsOf(&visits))},
          {"ppr", DescribeOptions(OptionsOf(&ppr))},
          {"writer", DescribeOptions(OptionsOf(&writer))}};
}

}  // namespace vicinity
