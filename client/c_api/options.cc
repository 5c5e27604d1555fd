#include "client/c_api/options.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/c_api/graph_arguments.h"
#include "client/c_api/json_fields.h"
#include "client/options/options_table.h"
#include "client/options/words.h"

namespace vicinity::c_api {
namespace {

using nlohmann::json;

// Reads an option from the field of its name, by its type: what std::visit calls.
struct Reader {
  JsonFields* fields;
  const std::string& where;  // "loader options"
  const Schema* schema;      // of loaders alone
  const std::string& name;

  template <typename Value>
  void operator()(Value* value) const {
    fields->Read(name, value);
  }
  void operator()(const Bytes& bytes) const { fields->Read(name, bytes.value); }
  void operator()(const FilePath& path) const { fields->Read(name, path.value); }
  void operator()(Choice choice) const {
    size_t word = choice.Get();
    fields->Read(name, choice.words(), &word);
    choice.Set(word);
  }
  void operator()(const Fanouts& fanouts) const;
  void operator()(std::vector<LoaderOptions::ColumnRequest>* requests) const {
    ReadRequests("node_type", &LoaderOptions::ColumnRequest::node_type, requests);
  }
  void operator()(std::vector<LoaderOptions::EdgeColumnRequest>* requests) const {
    ReadRequests("edge_type", &LoaderOptions::EdgeColumnRequest::edge_type, requests);
  }
  void operator()(const OptionGroup& group) const;

  // A list of objects with two names each.
  template <typename Request>
  void ReadRequests(const char* type_name, std::string Request::*type,
                    std::vector<Request>* requests) const;
};

Error ReadAll(const std::string& where, const json& object, const Schema* schema,
              const std::vector<Option>& options) {
  JsonFields fields(where, object);
  for (const Option& option : options) {
    std::visit(Reader{&fields, where, schema, option.name}, option.field);
  }
  return fields.Finish();
}

void Reader::operator()(const Fanouts& fanouts) const {
  const json* const field = fields->Find(name);
  if (field == nullptr) {
    fields->Fail(Error(ErrorCode::kInvalidArgument,
                       where + ": \"" + name + "\" is missing, say [15, 10, 5]"));
    return;
  }
  std::vector<int64_t> uniform;
  if (JsonFields::Get(*field, &uniform)) {
    *fanouts.value = SamplingSpec::Uniform(*schema, uniform).fanouts;
  } else {
    fields->Read(name, fanouts.value);
  }
}

void Reader::operator()(const OptionGroup& group) const {
  const json* const object = fields->Find(name);
  if (object == nullptr) return;
  fields->Fail(ReadAll(where + ": \"" + name + '"', *object, schema, group.options));
}

template <typename Request>
void Reader::ReadRequests(const char* type_name, std::string Request::*type,
                          std::vector<Request>* requests) const {
  const json* const field = fields->Find(name);
  if (field == nullptr) return;
  if (!field->is_array()) return fields->Refuse(name, *field, "a list");
  for (const json& item : *field) {
    Request request;
    JsonFields names(where + ": \"" + name + '"', item);
    names.Read(type_name, &(request.*type));
    names.Read("column", &request.column);
    fields->Fail(names.Finish());
    requests->push_back(std::move(request));
  }
}

}  // namespace

Result<GraphOptions> ParseGraphOptions(const char* json_text) {
  GraphOptions options;
  Error error =
      ReadAll("graph options", ParseObject(json_text), /*schema=*/nullptr, OptionsOf(&options));
  if (!error.ok()) return error;
  return options;
}

Result<LoaderOptions> ParseLoaderOptions(const Schema& schema, const char* json_text) {
  LoaderOptions options;
  Error error = ReadAll("loader options", ParseObject(json_text), &schema, OptionsOf(&options));
  if (!error.ok()) return error;
  return options;
}

Result<LoaderOptions> ParseQueryLoaderOptions(const Schema& schema, const char* json_text) {
  LoaderOptions options;
  std::vector<Option> table = OptionsOf(&options);
  table.erase(std::remove_if(table.begin(), table.end(),
                             [](const Option& option) {
                               return std::holds_alternative<Fanouts>(option.field);
                             }),
              table.end());
  Error error = ReadAll("options of a query's loader", ParseObject(json_text), &schema, table);
  if (!error.ok()) return error;
  return options;
}

Result<SampleOptions> ParseSampleOptions(const Schema& schema, const char* json_text) {
  SampleOptions options;
  Error error = ReadAll("sample options", ParseObject(json_text), &schema, OptionsOf(&options));
  if (!error.ok()) return error;
  return options;
}

Result<WalkOptions> ParseWalkOptions(const char* json_text) {
  WalkOptions options;
  Error error =
      ReadAll("walk options", ParseObject(json_text), /*schema=*/nullptr, OptionsOf(&options));
  if (!error.ok()) return error;
  return options;
}

Result<VisitOptions> ParseVisitOptions(const Schema& schema, const char* json_text) {
  VisitOptions options;
  Error error =
      ReadAll("visit options", ParseObject(json_text), /*schema=*/nullptr, OptionsOf(&options));
  if (!error.ok()) return error;
  if (options.node_type.empty()) return options;
  const Result<int32_t> type = FindNodeType(schema, options.node_type.c_str());
  if (!type.ok()) return type.error();
  options.visits.node_type = *type;
  return options;
}

Result<PprOptions> ParsePprOptions(const Schema& schema, const char* json_text) {
  PprOptions options;
  Error error =
      ReadAll("ppr options", ParseObject(json_text), /*schema=*/nullptr, OptionsOf(&options));
  if (!error.ok()) return error;
  if (options.node_type.empty()) return options;
  const Result<int32_t> type = FindNodeType(schema, options.node_type.c_str());
  if (!type.ok()) return type.error();
  options.ppr.node_type = *type;
  return options;
}

Result<WriterOptions> ParseWriterOptions(const char* json_text) {
  WriterOptions options;
  Error error =
      ReadAll("writer options", ParseObject(json_text), /*schema=*/nullptr, OptionsOf(&options));
  if (!error.ok()) return error;
  return options;
}

Result<Split> ParseSplit(const char* word) {
  for (const Word<Split>& split : kWords<Split>) {
    if (std::string(split.word) == word) return split.value;
  }
  return Error(ErrorCode::kInvalidArgument,
               std::string("split \"") + word + "\": train, validation, test or nothing");
}

}  // namespace vicinity::c_api
