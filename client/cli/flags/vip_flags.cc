#include "client/cli/flags/vip_flags.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "client/cli/output/choices.h"
#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"
#include "partition/schema/sampling_spec.h"

namespace vicinity::cli {

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
