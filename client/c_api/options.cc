#include "client/c_api/options.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/json_fields.h"

namespace vicinity::c_api {
namespace {

using nlohmann::json;

constexpr std::initializer_list<std::pair<const char*, Split>> kSplits = {
    {"train", Split::kTrain},
    {"validation", Split::kValidation},
    {"test", Split::kTest},
    {"", Split::kNone}};

void ReadCredentials(JsonFields* graph, CredentialOptions* credentials) {
  const json* const object = graph->Find("credentials");
  if (object == nullptr) return;
  JsonFields fields("graph options: \"credentials\"", *object);
  fields.Read("ca", &credentials->ca);
  fields.Read("certificate", &credentials->certificate);
  fields.Read("key", &credentials->key);
  fields.Read("token_file", &credentials->token_file);
  fields.Read("allow_plaintext", &credentials->allow_plaintext);
  graph->Fail(fields.Finish());
}

// One number a hop, or in each hop one number an edge type.
void ReadFanouts(JsonFields* loader, const Schema& schema, SamplingSpec* sampling) {
  const json* const fanouts = loader->Find("fanouts");
  if (fanouts == nullptr) {
    loader->Fail(Error(ErrorCode::kInvalidArgument,
                       "loader options: \"fanouts\" is missing, say [15, 10, 5]"));
    return;
  }
  std::vector<int64_t> uniform;
  if (JsonFields::Get(*fanouts, &uniform)) {
    sampling->fanouts = SamplingSpec::Uniform(schema, uniform).fanouts;
  } else {
    loader->Read("fanouts", &sampling->fanouts);
  }
}

void ReadSampling(JsonFields* fields, const Schema& schema, SamplingSpec* sampling) {
  ReadFanouts(fields, schema, sampling);
  fields->Read("replace", &sampling->replace);
  fields->Read("disjoint", &sampling->disjoint);
  fields->Read("weighted_by", &sampling->weighted_by);
  fields->Read<Expansion>(
      "expansion", {{"all_nodes", Expansion::kAllNodes}, {"new_nodes", Expansion::kNewNodes}},
      &sampling->expansion);
}

void ReadSeeds(JsonFields* fields, LoaderOptions* options) {
  fields->Read("seed_type", &options->seed_type);
  fields->Read("split", kSplits, &options->split);
  fields->Read("batch_size", &options->batch_size);
  fields->Read("shuffle", &options->shuffle);
  fields->Read<SeedPolicy>("seeds", {{"global", SeedPolicy::kGlobal}, {"home", SeedPolicy::kHome}},
                           &options->seeds);
  fields->Read("trainer", &options->trainer);
  fields->Read("num_trainers", &options->num_trainers);
  fields->Read("homes", &options->homes);
  fields->Read("run_seed", &options->run_seed);
}

// A list of objects with two names each.
template <typename Request>
void ReadRequests(JsonFields* loader, const char* list, const char* type_name,
                  std::string Request::*type, std::vector<Request>* requests) {
  const json* const field = loader->Find(list);
  if (field == nullptr) return;
  if (!field->is_array()) return loader->Refuse(list, *field, "a list");
  for (const json& item : *field) {
    Request request;
    JsonFields fields(std::string("loader options: \"") + list + '"', item);
    fields.Read(type_name, &(request.*type));
    fields.Read("column", &request.column);
    loader->Fail(fields.Finish());
    requests->push_back(std::move(request));
  }
}

void ReadColumns(JsonFields* fields, LoaderOptions* options) {
  ReadRequests(fields, "columns", "node_type", &LoaderOptions::ColumnRequest::node_type,
               &options->columns);
  ReadRequests(fields, "edge_columns", "edge_type", &LoaderOptions::EdgeColumnRequest::edge_type,
               &options->edge_columns);
  fields->Read("labels", &options->labels);
  fields->Read("edge_ids", &options->edge_ids);
}

void ReadAhead(JsonFields* fields, LoaderOptions* options) {
  fields->Read<CachePolicy>(
      "cache",
      {{"none", CachePolicy::kNone}, {"vip", CachePolicy::kVip}, {"auto", CachePolicy::kAuto}},
      &options->cache);
  fields->Read("cache_rows", &options->cache_rows);
  fields->Read("cache_bytes", &options->cache_bytes);
  fields->Read("ranking", &options->ranking);
  fields->Read("fetch_ahead", &options->fetch_ahead);
  fields->Read("window_bytes", &options->window_bytes);
  fields->Read("sample_ahead", &options->sample_ahead);
  fields->Read("sample_threads", &options->sample_threads);
  fields->Read("fetch_threads", &options->fetch_threads);
  fields->Read("batch_timeout_ms", &options->batch_timeout);
}

void ReadPlacement(JsonFields* loader, LoaderOptions* options) {
  loader->Read<Placement>("placement", {{"host", Placement::kHost}, {"device", Placement::kDevice}},
                          &options->placement);
  const json* const object = loader->Find("device");
  if (object == nullptr) return;
  DeviceOptions* const device = &options->device;
  JsonFields fields("loader options: \"device\"", *object);
  fields.Read<DeviceKind>("kind", {{"cuda", DeviceKind::kCuda}, {"host", DeviceKind::kHost}},
                          &device->kind);
  fields.Read("ordinal", &device->ordinal);
  fields.Read("home_bytes", &device->home_bytes);
  fields.Read("pin_home", &device->pin_home);
  fields.Read("batches", &device->batches);
  fields.Read("staging_bytes", &device->staging_bytes);
  loader->Fail(fields.Finish());
}

}  // namespace

Result<GraphOptions> ParseGraphOptions(const char* json_text) {
  const json object = ParseObject(json_text);
  JsonFields fields("graph options", object);
  GraphOptions options;
  fields.Read("cluster_file", &options.cluster_file);
  fields.Read("directory", &options.directory);
  fields.Read("local_shards", &options.local_shards);
  fields.Read("connect_timeout_ms", &options.connect_timeout);
  fields.Read("call_timeout_ms", &options.call_timeout);
  fields.Read("call_budget_ms", &options.call_budget);
  fields.Read("hedge", &options.hedge);
  fields.Read("channels_per_server", &options.channels_per_server);
  fields.Read("client_name", &options.client_name);
  fields.Read<WirePrecision>("wire_precision",
                             {{"stored", WirePrecision::kStored},
                              {"float16", WirePrecision::kFloat16},
                              {"bfloat16", WirePrecision::kBfloat16}},
                             &options.wire_precision);
  ReadCredentials(&fields, &options.credentials);
  Error error = fields.Finish();
  if (!error.ok()) return error;
  return options;
}

Result<LoaderOptions> ParseLoaderOptions(const Schema& schema, const char* json_text) {
  const json object = ParseObject(json_text);
  JsonFields fields("loader options", object);
  LoaderOptions options;
  ReadSampling(&fields, schema, &options.sampling);
  ReadSeeds(&fields, &options);
  ReadColumns(&fields, &options);
  ReadAhead(&fields, &options);
  ReadPlacement(&fields, &options);
  Error error = fields.Finish();
  if (!error.ok()) return error;
  return options;
}

Result<Split> ParseSplit(const char* word) {
  for (const auto& [name, split] : kSplits) {
    if (std::string(name) == word) return split;
  }
  return Error(ErrorCode::kInvalidArgument,
               std::string("split \"") + word + "\": train, validation, test or nothing");
}

}  // namespace vicinity::c_api
