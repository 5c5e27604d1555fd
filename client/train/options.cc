#include "client/train/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace vicinity {
namespace {

// "0,2/1,3": shards by trainer. Throws CLI::ValidationError, as CLI11's own checks do.
std::vector<std::vector<int32_t>> ParseHomes(const std::string& text) {
  std::vector<std::vector<int32_t>> homes;
  for (const std::string& home : CLI::detail::split(text, '/')) {
    std::vector<int32_t>& shards = homes.emplace_back();
    for (const std::string& shard : CLI::detail::split(home, ',')) {
      if (!CLI::detail::lexical_cast(shard, shards.emplace_back()) || shards.back() < 0) {
        throw CLI::ValidationError("--homes", "'" + shard + "' is no shard, in " + text);
      }
    }
  }
  return homes;
}

void AddPlaces(CLI::App* app, TrainOptions* options) {
  CLI::Option* cluster = app->add_option("--cluster", options->cluster_file,
                                         "Cluster file: train through its servers");
  CLI::Option* graph = app->add_option("--graph", options->directory,
                                       "Dataset directory on this machine: train without servers");
  cluster->excludes(graph);
  app->add_option("--local-shards", options->local_shards,
                  "With --cluster: shards to read from this machine's files instead of by RPC")
      ->delimiter(',')
      ->needs(cluster);
  static const std::map<std::string, WirePrecision> kPrecisions = {
      {"stored", WirePrecision::kStored},
      {"fp16", WirePrecision::kFloat16},
      {"bf16", WirePrecision::kBfloat16}};
  app->add_option("--wire-precision", options->wire_precision,
                  "With --cluster: float32 columns travel 'stored', or in half the bytes as 'fp16' "
                  "or 'bf16'")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->default_str("stored")
      ->needs(cluster);
}

void AddTrainers(CLI::App* app, TrainOptions* options) {
  app->add_option("--trainer", options->trainer, "Number of this trainer, from 0")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--trainers", options->num_trainers, "How many trainers there are")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--rendezvous", options->rendezvous,
                  "Where trainers meet: host:port, where trainer 0 listens, or file:PATH, a new "
                  "file that all see");
  app->add_option("--interface", options->interface,
                  "Name or address of this machine for the gradients' traffic")
      ->capture_default_str();
  app->add_option("--group-timeout", options->group_timeout_seconds,
                  "Seconds to wait for other trainers, at the start and in each step")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option(
         "--threads", options->threads,
         "Threads for the model; 0: this trainer's share of the cores, but one for the loader")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

void AddBatches(CLI::App* app, TrainOptions* options) {
  static const std::map<std::string, SeedPolicy> kSeeds = {{"global", SeedPolicy::kGlobal},
                                                           {"home", SeedPolicy::kHome}};
  app->add_option("--node-type", options->node_type,
                  "Node type to train on (default: the only one with labels and a split)");
  app->add_option("--features", options->features,
                  "Feature column (default: the only one that is neither label nor split)");
  app->add_option("--seeds", options->seeds,
                  "Seeds of a trainer: 'global', dealt from all, or 'home', those of its shards")
      ->transform(CLI::CheckedTransformer(kSeeds))
      ->default_str("global");
  app->add_option_function<std::string>(
      "--homes", [options](const std::string& text) { options->homes = ParseHomes(text); },
      "Home shards of each trainer, as 0,2/1,3 (default: shard s is trainer s % trainers')");
  app->add_option("--fanouts", options->fanouts,
                  "Neighbours to draw, hop by hop from the seeds; -1: all. One layer a hop")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--weighted-by", options->weighted_by,
                  "Draw by this weight column where an edge type has it (default: uniformly)");
  app->add_option("--batch-size", options->batch_size, "Seeds of a trainer's step")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--accumulate", options->accumulate,
                  "Batches a step: one trainer with N makes the steps of N trainers")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--seed", options->seed, "Of weights, dropout, shuffling and draws")
      ->capture_default_str();
}

void AddCache(CLI::App* app, TrainOptions* options) {
  static const std::map<std::string, CachePolicy> kCaches = {
      {"none", CachePolicy::kNone}, {"vip", CachePolicy::kVip}, {"auto", CachePolicy::kAuto}};
  app->add_option("--cache", options->cache,
                  "Remote rows to keep: 'none'; 'vip', the likeliest by a stored ranking; or "
                  "'auto', those that batches sampled ahead need soonest, then the likeliest")
      ->transform(CLI::CheckedTransformer(kCaches))
      ->default_str("auto");
  CLI::Option* rows = app->add_option("--cache-rows", options->cache_rows,
                                      "How many to keep, those of batches in flight included")
                          ->check(CLI::NonNegativeNumber);
  app->add_option("--cache-bytes", options->cache_bytes, "Or how much of them, as 512MB")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1GB")
      ->excludes(rows);
  app->add_option("--ranking", options->ranking, "With a cache: which stored ranking")
      ->capture_default_str();
  app->add_option("--fetch-ahead", options->fetch_ahead,
                  "Batches whose rows are fetched before they are trained on")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--sample-ahead", options->sample_ahead,
                  "With --cache auto: batches more that are sampled before that")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

void AddModel(CLI::App* app, TrainOptions* options) {
  static const std::map<std::string, ModelKind> kModels = {
      {"sage", ModelKind::kSage}, {"linear", ModelKind::kLinear}, {"none", ModelKind::kNone}};
  app->add_option("--model", options->model,
                  "'sage'; 'linear', the features alone; 'none', which only makes the batches")
      ->transform(CLI::CheckedTransformer(kModels))
      ->default_str("sage");
  app->add_option("--hidden", options->hidden, "Width of the hidden layers")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--dropout", options->dropout, "Share of hidden values dropped in training")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99));
  app->add_option("--lr", options->learning_rate, "Adam's learning rate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--weight-decay", options->weight_decay, "Adam's weight decay")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--epochs", options->epochs, "Times through all seeds")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--eval-every", options->eval_every,
                  "Evaluate after every so many epochs and the last; 0: after the last alone")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--eval-fanouts", options->eval_fanouts,
                  "Neighbours to draw in evaluation (default: as --fanouts)")
      ->delimiter(',');
  app->add_option("--report", options->report, "File to write everything measured to: JSON lines");
}

// What no single option's check can see; empty if all is well.
std::string Problem(const TrainOptions& options) {
  if (options.cluster_file.empty() && options.directory.empty()) {
    return "--cluster or --graph is required";
  }
  if (options.trainer >= options.num_trainers) {
    return "--trainer " + std::to_string(options.trainer) + " is not below --trainers " +
           std::to_string(options.num_trainers);
  }
  if (options.num_trainers > 1 && options.rendezvous.empty()) {
    return "--trainers " + std::to_string(options.num_trainers) + " requires --rendezvous";
  }
  if (!options.homes.empty() && static_cast<int>(options.homes.size()) != options.num_trainers) {
    return "--homes names those of " + std::to_string(options.homes.size()) + " trainers of " +
           std::to_string(options.num_trainers);
  }
  if (options.fanouts.empty()) return "--fanouts is empty";
  if (!options.eval_fanouts.empty() && options.eval_fanouts.size() != options.fanouts.size()) {
    return "--eval-fanouts has " + std::to_string(options.eval_fanouts.size()) +
           " hops and --fanouts " + std::to_string(options.fanouts.size());
  }
  return "";
}

}  // namespace

std::optional<int> ParseTrainOptions(int argc, const char* const* argv, TrainOptions* options,
                                     std::ostream& out, std::ostream& err) {
  CLI::App app("Trains a model on minibatches from a graph, alone or as one of several trainers.",
               "vicinity_train");
  AddPlaces(&app, options);
  AddTrainers(&app, options);
  AddBatches(&app, options);
  AddCache(&app, options);
  AddModel(&app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    err << "vicinity_train: " << error.what() << "; --help tells the options\n";
    return 2;
  }
  const std::string problem = Problem(*options);
  if (problem.empty()) return std::nullopt;
  err << "vicinity_train: " << problem << "; --help tells the options\n";
  return 2;
}

}  // namespace vicinity
