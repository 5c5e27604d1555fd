#include "client/cli/flags/vip_flags.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "partition/schema/sampling_spec.h"
#include "proto/command_line/choices.h"

namespace vicinity::cli {

namespace {

// Which edges there are to draw, and how.
void AddDrawFlags(CLI::App* app, VipRequest* request) {
  app->add_option("--where", request->where,
                  "draw among edges that meet this condition on their columns, where an edge type "
                  "has these: \"year >= 2010 and not kind in (3, 4)\" (default: all edges)")
      ->type_name("CONDITION");
  app->add_flag("--disjoint", request->disjoint, "a tree of its own for each seed");
  app->add_option("--time-column", request->time_column,
                  "draw edges that are not later than the seed, by this column where an edge type "
                  "has it; needs --disjoint (default: at any time)")
      ->type_name("COLUMN");
  app->add_option("--seed-time-column", request->seed_time_column,
                  "with --time-column: of seeds, or links; default: theirs of the same name")
      ->type_name("COLUMN");
  const std::map<std::string, TemporalStrategy> strategies = {
      {"uniform", TemporalStrategy::kUniform}, {"last", TemporalStrategy::kLast}};
  app->add_option("--temporal-strategy", request->temporal_strategy,
                  "with --time-column: such edges by chance, or the latest of them")
      ->type_name("uniform|last")
      ->transform(Choices(strategies))
      ->default_str("uniform");
  app->add_option("--time-window", request->time_window,
                  "with --time-column: only edges from so long before the seed on; -1: however "
                  "early");
  const std::map<std::string, TimeFollows> follows = {{"seed", TimeFollows::kSeed},
                                                      {"path", TimeFollows::kPath}};
  app->add_option("--time-follows", request->time_follows,
                  "with --time-column: edges are not later than the seed, or than the edge that "
                  "led to their target")
      ->type_name("seed|path")
      ->transform(Choices(follows))
      ->default_str("seed");
  const std::map<std::string, Draws> draws = {{"independent", Draws::kIndependent},
                                              {"labor", Draws::kLabor}};
  app->add_option(
         "--draws", request->draws,
         "each target draws for itself, or all of a hop choose the same sources where they can")
      ->type_name("independent|labor")
      ->transform(Choices(draws))
      ->default_str("independent");
  app->add_flag("--layer-dependency", request->layer_dependency,
                "with --draws labor: all hops choose alike");
  app->add_option("--batch-dependency", request->batch_dependency,
                  "with --draws labor: so many batches in a row choose alike");
}

}  // namespace

void AddVipFlags(CLI::App* app, VipRequest* request) {
  app->add_option("--fanouts", request->fanouts,
                  "neighbours drawn in each hop, the seeds' first; -1: all")
      ->delimiter(',')
      ->allow_extra_args(false)  // or it would take what follows too
      ->type_name("N,N,...")
      ->default_str("15,10,5");
  app->add_option("--batch-size", request->batch_size, "seeds in a minibatch");
  app->add_flag("--replace", request->replace, "draw with replacement");
  const std::map<std::string, Expansion> expansions = {{"all", Expansion::kAllNodes},
                                                       {"new", Expansion::kNewNodes}};
  app->add_option("--expansion", request->expansion,
                  "what a hop expands: all nodes met so far, or only the new ones")
      ->type_name("all|new")
      ->transform(Choices(expansions))
      ->default_str("all");
  app->add_option("--weighted-by", request->weighted_by,
                  "draw by this weight column where an edge type has it (default: uniformly)")
      ->type_name("COLUMN");
  AddDrawFlags(app, request);
  app->add_option("--seeds", request->seeds, "train, validation, test or all nodes");
  app->add_option("--seed-type", request->seed_type,
                  "their node type, if more than one has splits");
  app->add_option("--homes", request->homes,
                  "shards that each trainer is at home in, as 0,2/1,3 for two trainers on four "
                  "shards; default: one trainer a shard");
}

void AddLinkFlags(CLI::App* app, VipRequest* request) {
  CLI::Option* const links =
      app->add_option("--seed-links", request->seed_links,
                      "batches are of links of this edge type: both ends of each are seeds");
  app->add_option("--negatives", request->negatives_per_link,
                  "nodes drawn at random for every link of a batch, seeds too")
      ->needs(links);
  app->add_option("--negative-type", request->negative_type,
                  "their node type; default: that of the links' targets")
      ->needs(links);
}

void AddCalibrationFlag(CLI::App* app, CalibrationOptions* options) {
  app->add_option("--sampled-epochs", options->most_epochs,
                  "at most so many of each home correct the formula's scores; 0: none");
}

}  // namespace vicinity::cli
