#include "client/train/options.h"

#include <CLI/CLI.hpp>

#include "client/options/options_table.h"
#include "client/train/option_flags.h"
#include "proto/command_line/help.h"
#include "proto/command_line/usage_errors.h"

namespace vicinity {
namespace {

// Both tables' flags, and which of them go together.
void AddTables(CLI::App* app, TrainOptions* options) {
  AddOptionFlags(OptionsOf(&options->graph), app);
  AddOptionFlags(OptionsOf(&options->loader), app);
  CLI::Option* const cluster = app->get_option("--cluster");
  cluster->excludes(app->get_option("--graph"));
  app->get_option("--local-shards")->needs(cluster);
  app->get_option("--cache-bytes")->excludes(app->get_option("--cache-rows"));
  app->get_option("--wire-precision")->needs(cluster);
}

// The table has them as a group, which has no flags.
void AddMetrics(CLI::App* app, MetricsOptions* options) {
  app->add_option("--metrics-file", options->file,
                  "File for Prometheus' node_exporter, *.prom, and for `vicinity why`")
      ->type_name("FILE");
  app->add_option("--metrics-listen", options->listen,
                  "host:port, of the loopback device, where /metrics is")
      ->type_name("HOST:PORT");
}

void AddTrainers(CLI::App* app, TrainOptions* options) {
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

// Those of loaders' options that say more to a trainer than to its loader, and are not from the
// table: labels are wanted, hops are layers, weights are drawn too.
void AddTask(CLI::App* app, TrainOptions* options) {
  app->add_option("--node-type", options->node_type,
                  "Node type to train on (default: the only one with labels and a split)");
  app->add_option(
         "--seed-list", options->seed_list,
         "File with the seeds of training in the place of the split: ids of the import, one "
         "a line")
      ->check(CLI::ExistingFile);
  app->add_option("--features", options->features,
                  "Feature column (default: the only one that is neither label nor split)");
  app->add_option("--fanouts", options->fanouts,
                  "Neighbours to draw, hop by hop from the seeds; -1: all. One layer a hop")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--accumulate", options->accumulate,
                  "Batches a step: one trainer with N makes the steps of N trainers")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--seed", options->seed, "Of weights, dropout, shuffling and draws")
      ->capture_default_str();
}

void AddModel(CLI::App* app, TrainOptions* options) {
  static const std::map<std::string, ModelKind> kModels = {
      {"sage", ModelKind::kSage}, {"linear", ModelKind::kLinear}, {"none", ModelKind::kNone}};
  app->add_option("--model", options->model,
                  "'sage'; 'linear', the features alone; 'none', which only makes the batches")
      ->transform(CLI::CheckedTransformer(kModels))
      ->default_str("sage");
  app->add_option("--step-ms", options->step_ms,
                  "How long 'none' holds a batch, as a model would that trains elsewhere")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
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
  const int32_t num_trainers = options.loader.num_trainers;
  const std::vector<std::vector<int32_t>>& homes = options.loader.homes;
  if (options.graph.cluster_file.empty() && options.graph.directory.empty()) {
    return "--cluster or --graph is required";
  }
  if (options.loader.trainer >= num_trainers) {
    return "--trainer " + std::to_string(options.loader.trainer) + " is not below --trainers " +
           std::to_string(num_trainers);
  }
  if (num_trainers > 1 && options.rendezvous.empty()) {
    return "--trainers " + std::to_string(num_trainers) + " requires --rendezvous";
  }
  if (!homes.empty() && static_cast<int>(homes.size()) != num_trainers) {
    return "--homes names those of " + std::to_string(homes.size()) + " trainers of " +
           std::to_string(num_trainers);
  }
  if (options.fanouts.empty()) return "--fanouts is empty";
  if (options.step_ms > 0 && options.model != ModelKind::kNone) {
    return "--step-ms is for --model none: a model takes the time that it takes";
  }
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
  SetHelp(&app);
  AddTables(&app, options);
  AddMetrics(&app, &options->graph.metrics);
  AddTrainers(&app, options);
  AddTask(&app, options);
  AddModel(&app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    err << "vicinity_train: " << UsageError(app, error).message() << "; --help tells the options\n";
    return 2;
  }
  const std::string problem = Problem(*options);
  if (problem.empty()) return std::nullopt;
  err << "vicinity_train: " << problem << "; --help tells the options\n";
  return 2;
}

}  // namespace vicinity
