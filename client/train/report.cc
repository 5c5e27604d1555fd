#include "client/train/report.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/options/option_json.h"
#include "client/options/options_table.h"
#include "client/options/words.h"

namespace vicinity {
namespace {

using nlohmann::json;

const char* NameOf(ModelKind model) {
  switch (model) {
    case ModelKind::kSage:
      return "sage";
    case ModelKind::kLinear:
      return "linear";
    case ModelKind::kNone:
      return "none";
  }
  return "unknown";
}

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), format, args...);
  return text;
}

// 1234567 -> "1.23 M"
std::string Short(int64_t count) {
  if (count >= 1000000) return Format("%.2f M", static_cast<double>(count) / 1e6);
  if (count >= 10000) return Format("%.1f k", static_cast<double>(count) / 1e3);
  return std::to_string(count);
}

json OptionsJson(const TrainOptions& options) {
  json object = {
      {"model", NameOf(options.model)},
      {"trainers", options.loader.num_trainers},
      {"through_servers", !options.graph.cluster_file.empty()},
      {"local_shards", options.graph.local_shards},
      {"wire_precision", WordOf(options.graph.wire_precision)},
      {"fanouts", options.fanouts},
      {"eval_fanouts", options.eval_fanouts.empty() ? options.fanouts : options.eval_fanouts},
      {"hidden", options.hidden},
      {"dropout", options.dropout},
      {"learning_rate", options.learning_rate},
      {"weight_decay", options.weight_decay},
      {"epochs", options.epochs},
      {"accumulate", options.accumulate},
      {"seed", options.seed}};
  LoaderOptions loader = options.loader;
  for (const Option& option : OptionsOf(&loader)) {
    if (!option.flag.empty()) object[option.name] = ValueOf(option.field);
  }
  return object;
}

json StagesJson(const std::vector<StageTime>& stages) {
  json rows = json::array();
  for (const StageTime& stage : stages) {
    rows.push_back({{"stage", stage.stage},
                    {"batches", stage.batches},
                    {"busy_seconds", stage.busy_seconds},
                    {"starved_seconds", stage.starved_seconds},
                    {"blocked_seconds", stage.blocked_seconds},
                    {"rows", stage.rows}});
  }
  return rows;
}

void PrintStages(const std::vector<StageTime>& stages, std::ostream* out) {
  *out << Format("%-10s %8s %10s %16s %16s %10s\n", "stage", "batches", "busy s",
                 "waits for work s", "waits for room s", "rows");
  for (const StageTime& stage : stages) {
    *out << Format("%-10s %8lld %10.2f %16.2f %16.2f %10s\n", stage.stage.c_str(),
                   static_cast<long long>(stage.batches), stage.busy_seconds, stage.starved_seconds,
                   stage.blocked_seconds, stage.rows == 0 ? "" : Short(stage.rows).c_str());
  }
}

}  // namespace

ResultRecord Summarize(const std::vector<EpochRecord>& epochs, std::vector<StageTime> stages) {
  ResultRecord result;
  result.stages = std::move(stages);
  for (const EpochRecord& epoch : epochs) {
    result.train_seconds += epoch.seconds;
    if (epoch.test_accuracy) result.last_test_accuracy = epoch.test_accuracy;
    if (!epoch.validation_accuracy || !epoch.test_accuracy) continue;
    if (result.best_epoch == 0 || *epoch.validation_accuracy > result.best_validation_accuracy) {
      result.best_epoch = epoch.epoch;
      result.best_validation_accuracy = *epoch.validation_accuracy;
      result.test_accuracy_at_best = *epoch.test_accuracy;
    }
  }
  return result;
}

// Keeps nlohmann/json out of the header.
class Reporter::JsonFile {
 public:
  explicit JsonFile(const std::string& path) : file_(path, std::ios::trunc) {}
  bool ok() const { return file_.good(); }
  void Write(const json& line) { file_ << line.dump() << std::endl; }

 private:
  std::ofstream file_;
};

Reporter::Reporter(const TrainOptions& options, std::ostream* out, std::unique_ptr<JsonFile> json)
    : options_(options), out_(out), json_(std::move(json)) {}

Reporter::~Reporter() = default;

Result<std::unique_ptr<Reporter>> Reporter::Open(const TrainOptions& options, std::ostream* out) {
  std::unique_ptr<JsonFile> file;
  if (!options.report.empty()) {
    file = std::make_unique<JsonFile>(options.report);
    if (!file->ok()) {
      return Error(ErrorCode::kInvalidArgument, options.report + ": cannot be written");
    }
  }
  return std::unique_ptr<Reporter>(new Reporter(options, out, std::move(file)));
}

void Reporter::Start(const StartRecord& record) {
  if (json_ != nullptr) {
    json line = {{"kind", "start"},
                 {"options", OptionsJson(options_)},
                 {"dataset", record.dataset},
                 {"shards", record.num_shards},
                 {"seeds", record.seeds},
                 {"batches_per_epoch", record.batches_per_epoch},
                 {"parameters", record.parameters},
                 {"threads", record.threads},
                 {"cache_rows", record.cache_rows},
                 {"cache_bytes", record.cache_bytes},
                 {"ranked_by", record.ranked_by}};
    json_->Write(line);
  }
  if (out_ == nullptr) return;
  *out_ << record.dataset << ": " << Short(record.seeds) << " seeds a trainer in "
        << record.batches_per_epoch << " batches, " << options_.loader.num_trainers << " trainers, "
        << Short(record.parameters) << " parameters, " << record.threads << " threads" << std::endl;
}

void Reporter::Epoch(const EpochRecord& record) {
  if (json_ != nullptr) {
    json line = {{"kind", "epoch"},
                 {"epoch", record.epoch},
                 {"seconds", record.seconds},
                 {"wait_seconds", record.wait_seconds},
                 {"model_seconds", record.model_seconds},
                 {"reduce_seconds", record.reduce_seconds},
                 {"batches", record.batches},
                 {"steps", record.steps},
                 {"seeds", record.seeds},
                 {"loss", record.loss},
                 {"train_accuracy", record.train_accuracy},
                 {"nodes", record.nodes},
                 {"rows_local", record.rows_local},
                 {"rows_cached", record.rows_cached},
                 {"rows_remote", record.rows_remote},
                 {"bytes_remote", record.bytes_remote},
                 {"bytes_received", record.bytes_received}};
    if (record.validation_accuracy) line["validation_accuracy"] = *record.validation_accuracy;
    if (record.test_accuracy) line["test_accuracy"] = *record.test_accuracy;
    json_->Write(line);
  }
  if (out_ == nullptr) return;
  const double seconds = record.seconds > 0 ? record.seconds : 1;
  *out_ << Format("epoch %3lld/%lld", static_cast<long long>(record.epoch),
                  static_cast<long long>(options_.epochs));
  if (options_.model != ModelKind::kNone) *out_ << Format("  loss %.4f", record.loss);
  if (record.validation_accuracy) *out_ << Format("  validation %.4f", *record.validation_accuracy);
  *out_ << Format("  %.2f s  %.0f seeds/s", record.seconds, record.seeds / seconds)
        << "  rows fetched " << Short(record.rows_remote) << ", cached "
        << Short(record.rows_cached) << ", local " << Short(record.rows_local)
        << Format("  waiting %.0f %%", 100 * record.wait_seconds / seconds) << std::endl;
}

Error Reporter::Finish(const ResultRecord& record) {
  if (json_ != nullptr) {
    json line = {{"kind", "result"},
                 {"train_seconds", record.train_seconds},
                 {"stages", StagesJson(record.stages)}};
    if (record.best_epoch > 0) {
      line["best_epoch"] = record.best_epoch;
      line["best_validation_accuracy"] = record.best_validation_accuracy;
      line["test_accuracy_at_best"] = record.test_accuracy_at_best;
    }
    if (record.last_test_accuracy) line["last_test_accuracy"] = *record.last_test_accuracy;
    json_->Write(line);
    if (!json_->ok()) {
      return Error(ErrorCode::kUnavailable, options_.report + ": was not written whole");
    }
  }
  if (out_ == nullptr) return Error();
  if (record.last_test_accuracy) {
    *out_ << Format("test accuracy %.4f after the last epoch", *record.last_test_accuracy);
    if (record.best_epoch > 0) {
      *out_ << Format(", %.4f at the best validation accuracy, %.4f in epoch %lld",
                      record.test_accuracy_at_best, record.best_validation_accuracy,
                      static_cast<long long>(record.best_epoch));
    }
    *out_ << '\n';
  }
  PrintStages(record.stages, out_);
  return Error();
}

}  // namespace vicinity
