#include "client/cli/commands/generate_command.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/output/ingest_output.h"
#include "client/cli/output/output.h"
#include "partition/ingest/generate_block_model.h"
#include "partition/ingest/generate_rmat.h"
#include "partition/ingest/generated_columns.h"
#include "partition/ingest/ingest_report.h"
#include "partition/schema/schema.h"
#include "proto/command_line/choices.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

struct Flags {
  RmatOptions rmat;
  GeneratedColumn rmat_features = {"features", DType::kFloat32, 0};
  BlockModelOptions blocks;
  std::string output;
  OutputFormat format = OutputFormat::kTable;
};

std::map<std::string, DType> DTypesByName() {
  std::map<std::string, DType> names;
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUint8, DType::kInt16, DType::kInt32, DType::kInt64,
        DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64}) {
    names[std::string(DTypeName(dtype))] = dtype;
  }
  return names;
}

void AddFeatureFlags(CLI::App* app, GeneratedColumn* column) {
  app->add_option("--feature-width", column->width, "values in a node's feature row; 0: none");
  app->add_option("--feature-type", column->dtype, "their type: float32, float16, ...")
      ->type_name("DTYPE")
      ->transform(Choices(DTypesByName()))
      ->default_str(std::string(DTypeName(column->dtype)));
}

// Flags that both models have.
void AddCommonFlags(CLI::App* app, std::string* name, SplitShares* splits, uint64_t* seed,
                    Flags* flags) {
  app->add_option("--train", splits->train, "share of nodes in the train split");
  app->add_option("--validation", splits->validation, "likewise");
  app->add_option("--test", splits->test, "likewise");
  app->add_option("--seed", *seed, "the same seed makes the same graph");
  app->add_option("--name", *name, "of the dataset");
  app->add_option("--output", flags->output, "directory to make")->type_name("DIR")->required();
  AddFormatFlag(app, &flags->format);
}

CLI::App* DeclareRmat(CLI::App* app, Flags* flags) {
  RmatOptions* const options = &flags->rmat;
  CLI::App* const model = app->add_subcommand("rmat", "skewed degrees, no communities");
  model->add_option("--scale", options->scale, "2^scale nodes");
  model->add_option("--edges-per-node", options->edges_per_node, "edges drawn, over nodes");
  model->add_option("-a,--a", options->a, "chance of the first quadrant");
  model->add_option("-b,--b", options->b, "of the second");
  model->add_option("-c,--c", options->c, "of the third");
  model->add_flag("--shuffle,!--no-shuffle", options->shuffle, "number the nodes at random");
  model->add_flag("--symmetric", options->symmetric, "every edge also the other way round");
  model->add_flag("--dedup", options->dedup, "of edges with the same ends keep the first");
  model->add_flag("--drop-self-loops", options->drop_self_loops,
                  "drop edges from a node to itself");
  model->add_flag("--weights", options->weights, "a weight for each edge, to sample by");
  AddFeatureFlags(model, &flags->rmat_features);
  AddCommonFlags(model, &options->name, &options->splits, &options->seed, flags);
  return model;
}

CLI::App* DeclareBlockModel(CLI::App* app, Flags* flags) {
  BlockModelOptions* const options = &flags->blocks;
  CLI::App* const model =
      app->add_subcommand("block-model", "communities, classes and features that hint at them");
  model->add_option("--num-nodes", options->num_nodes, "nodes");
  model->add_option("--average-degree", options->average_degree,
                    "in-edges a node, before doubles and loops are dropped");
  model->add_option("--num-communities", options->num_communities, "of equal size");
  model->add_option("--num-classes", options->num_classes, "labels; 0: none");
  model->add_option("--mixing", options->mixing, "share of edges that leave their community");
  model->add_option("--exponent", options->exponent, "of the degrees' power law, above 2");
  model->add_flag("--symmetric,!--directed", options->symmetric,
                  "every edge also the other way round");
  model->add_option("--noise", options->noise, "standard deviation of the features' noise");
  AddFeatureFlags(model, &options->features);
  AddCommonFlags(model, &options->name, &options->splits, &options->seed, flags);
  return model;
}

absl::Status RunGenerate(const Flags& flags, bool rmat, const ToolContext& tool,
                         std::ostream& out) {
  RmatOptions options = flags.rmat;
  if (flags.rmat_features.width != 0) options.columns.push_back(flags.rmat_features);
  VICINITY_ASSIGN_OR_RETURN(const IngestReport report,
                            rmat ? GenerateRmat(options, flags.output, tool.progress)
                                 : GenerateBlockModel(flags.blocks, flags.output, tool.progress));
  PrintIngest(report, flags.output, flags.format, out);
  return absl::OkStatus();
}

}  // namespace

Action DeclareGenerate(CLI::App* app) {
  const auto flags = std::make_shared<Flags>();
  const auto rmat = std::make_shared<bool>(false);
  DeclareRmat(app, flags.get())->callback([rmat] { *rmat = true; });
  DeclareBlockModel(app, flags.get());
  app->require_subcommand(1);
  return [flags, rmat](const ToolContext& tool, std::ostream& out) {
    return RunGenerate(*flags, *rmat, tool, out);
  };
}

}  // namespace vicinity::cli
