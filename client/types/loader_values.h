// What a loader is made with and what it gives, as plain values (client/loader.h).
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/types/device_tensor.h"
#include "client/types/graph_values.h"
#include "client/types/negative_values.h"
#include "client/types/row_buffer.h"
#include "client/types/seed_values.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// Which seeds a trainer gets. Every trainer gets the same number of batches an epoch, by
// construction. With one trainer, each seed is in one batch of each epoch. With several, only what
// makes their numbers equal comes twice, and nothing does with LoaderOptions::drop_last.
enum class SeedPolicy : uint8_t {
  // The epoch's permutation of all seeds, cut into batches, which are dealt to the trainers one by
  // one: they are the same for any number of shards and of trainers. Where they do not suffice for
  // a last one for everybody, the epoch's first come again, at most num_trainers - 1.
  kGlobal,
  // Each trainer the seeds of its home shards, so that most rows are near. Whoever has fewer
  // batches than another begins again from its first.
  kHome,
};

// The homes of trainers when nobody says otherwise: shard s is near trainer s % num_trainers; with
// more trainers than shards trainer t shares shard t % num_shards.
std::vector<std::vector<int32_t>> DealHomes(int32_t num_shards, int32_t num_trainers);

// Which remote rows a trainer keeps for batches to come. Batches in flight always share theirs: a
// row that several of them need comes once.
enum class CachePolicy : uint8_t {
  kNone,  // none
  kVip,   // the likeliest by a stored ranking, which there must be
  kAuto,  // those that batches sampled ahead need soonest, then the likeliest by the stored ranking
          // or, where there is no "default" one, those used last
};

// Where the rows of a batch's columns are when Next returns. All else of a batch is on the host:
// ids and blocks, labels, columns of edges.
enum class Placement : uint8_t {
  kHost,    // in BatchColumn::bytes
  kDevice,  // in BatchColumn::tensor; the trainer's thread does not wait for the device to fill it
};

// Of Placement::kDevice, with any CachePolicy. Device memory holds the cache; room for the remote
// rows of batches in flight, of each node type as many as half of window_bytes hold, less those
// that find room in the cache; `home_bytes`; `batches` tensors for each column, as large as the
// largest batch so far and a quarter more; and `staging_bytes`. Create
// says what does not fit or, when tensors grow, Next (kResourceExhausted).
struct DeviceOptions {
  DeviceKind kind = DeviceKind::kCuda;
  int32_t ordinal = 0;  // among the devices of its kind
  // Of the rows of mapped shards, at most so many bytes are on the device: of each shard and column
  // the same share, its likeliest rows. The others are read over the device's link from a
  // pinned copy in host memory, at most half of the machine's, or, without pin_home, put together
  // by the host from the mapped files and sent.
  int64_t home_bytes = 0;
  bool pin_home = true;
  // Tensors for each column: the batch in training and the next are 2. A trainer that keeps
  // tensors of earlier batches needs more.
  int32_t batches = 2;
  // Pinned memory that rows travel through, and as much on the device. At least sixteen rows of the
  // widest column go through it at a time, and it grows to that.
  int64_t staging_bytes = int64_t{8} << 20;
};

struct LoaderOptions {
  std::string seed_type;        // empty: the only node type that has a split
  Split split = Split::kTrain;  // kNone: all nodes of the type
  SeedList seeds;               // in the place of the split's
  // With sampling.time_column: the time of each seed, or link, which its neighbourhood ends with;
  // as many as `seeds` lists, in their order. Not with SeedPolicy::kHome. Negatives have those of
  // their links.
  std::vector<int64_t> seed_times;
  NegativeOptions negatives;  // of links: what a batch has beside them
  NegativeWeights negative_weights;
  // Of links, of which a batch then has at most 131,072.
  LinkExclusion exclude = LinkExclusion::kNone;
  // With kReverse: an edge type's name. Empty: of links within one node type their own type, of
  // others the only one that leads from their targets' type to their sources'.
  std::string reverse_edge_type;
  SamplingSpec sampling;
  int64_t batch_size = 1024;
  bool shuffle = true;
  // Leaves out of each epoch what is not a full batch for every trainer. Loader::Create refuses
  // seeds that are too few for one step.
  bool drop_last = false;
  SeedPolicy seed_policy = SeedPolicy::kGlobal;
  int32_t trainer = 0;  // this one, of
  int32_t num_trainers = 1;
  // With kHome, by trainer, the shards whose seeds it gets. All trainers' are here, so that each
  // knows how many steps the others make. Trainers that share a shard deal its seeds out among
  // them. Empty: as DealHomes says.
  std::vector<std::vector<int32_t>> homes;
  // Of the steps that StartEpoch and ResumeEpoch begin, only that at step_offset and every
  // step_stride-th behind it are made here: for workers that share the steps of their trainer, and
  // give them in turn. Steps keep their numbers, so that together the workers give the batches that
  // one loader would. steps_per_epoch() counts those of all workers.
  int32_t step_offset = 0;  // below step_stride
  int32_t step_stride = 1;
  uint64_t run_seed = 0;

  // Columns to bring for every node of the batch, by node type name, ragged ones too; and of the
  // seeds, the labels.
  struct ColumnRequest {
    std::string node_type;
    std::string column;
  };
  std::vector<ColumnRequest> columns;
  bool labels = true;  // of seed types that have a label column
  // Brings the user's ids of all nodes, of the types whose ids are integers. They are cached as
  // columns are, of 8 bytes a row.
  bool user_ids = false;
  bool edge_ids = false;
  // Columns to bring for every sampled edge, by edge type ("source:relation:target", or a relation
  // that is the only one of its name).
  struct EdgeColumnRequest {
    std::string edge_type;
    std::string column;
  };
  std::vector<EdgeColumnRequest> edge_columns;

  CachePolicy cache = CachePolicy::kAuto;
  // How much rows of ragged columns that are kept for batches to come hold at most, over all of
  // them: those used last, under every policy but kNone. It is not part of cache_bytes.
  int64_t ragged_cache_bytes = int64_t{256} << 20;
  // How much the cache holds at most, rows of batches in flight included, unless they alone are
  // more: so many rows over all types or, if that is 0, so many bytes over all columns. It begins
  // with the likeliest rows of all types together, fetched by Create.
  int64_t cache_rows = 0;
  int64_t cache_bytes = int64_t{1} << 30;
  // For kVip and kAuto: which stored ranking; that of the shards that this trainer's seeds are in,
  // or those of each of them put together (`vicinity rank` makes them by default).
  std::string ranking = "default";

  Placement placement = Placement::kHost;
  DeviceOptions device;  // of kDevice

  // How far ahead rows are fetched: at most so many batches are planned and not yet taken, and they
  // hold at most so many bytes (a batch larger than this passes alone; on a device it is refused,
  // kResourceExhausted, if its rows do not fit into the cache either). Of these batches only the
  // next one is put together before it is asked for; the others hold, of columns of nodes, remote
  // rows alone.
  int64_t fetch_ahead = 10;
  int64_t window_bytes = int64_t{256} << 20;
  // With kAuto: how far ahead ids are known: at most so many batches more are sampled and not
  // planned, and what is known of them takes at most half of window_bytes on top. Sampled batches
  // that wait for their turn hold an eighth more, under every policy.
  int64_t sample_ahead = 512;
  // What a batch is expected to fetch, as `vicinity plan` tells of this loader: shown beside what
  // it does fetch (vicinity_loader_expected_rows), in rows of nodes. 0: not known.
  double expected_rows = 0;
  int sample_threads = 1;
  int fetch_threads = 4;  // batches whose rows are asked for at the same time
  std::chrono::milliseconds batch_timeout{30000};  // Next() waits no longer
};

// One column of a batch: row i belongs to the i-th node of its type.
struct BatchColumn {
  int32_t node_type = 0;
  ColumnSpec spec;
  int64_t num_rows = 0;
  RowBuffer bytes;                       // Placement::kHost; else empty
  std::unique_ptr<DeviceTensor> tensor;  // Placement::kDevice; else null
};

// One ragged column of a batch: row i belongs to the i-th node of its type. Always on the host.
struct BatchRagged {
  int32_t node_type = 0;
  RaggedRows rows;
};

struct MiniBatch {
  int64_t epoch = 0;
  int64_t step = 0;  // in the epoch, of this trainer
  // How many batches of the epoch all trainers together are through with once each has trained on
  // its batch of this step: Loader::ResumeEpoch goes on from there.
  int64_t batches_done = 0;
  SampledGraph graph;
  std::vector<BatchColumn> columns;  // in LoaderOptions' order
  std::vector<BatchRagged> ragged;   // likewise
  // With LoaderOptions::user_ids, of types with integer ids: int64, on the host, whatever the
  // placement.
  std::vector<BatchColumn> user_ids;
  // Of each seed, or link, its position among the loader's seeds: in LoaderOptions::seeds (of a
  // mask, among those chosen), or of a split in Graph::NodesOf. Empty with SeedPolicy::kHome.
  std::vector<int64_t> input_positions;
  std::vector<int64_t> labels;  // of each seed; -1: none; empty: not asked for, or links
  // In LoaderOptions' order, each for every hop that has a block of its edge type.
  std::vector<EdgeRows> edge_columns;
};

// Where the time went. Of each stage: batches through it, seconds busy, seconds it waited for work
// and seconds it waited for room, all summed over its threads: together they make up num_threads
// times the wall time of the epochs. "train" is the caller: busy between a batch and the next
// call of Next, starved inside Next. With kDevice, "fetch" and "assemble" are also busy while they
// wait for room in the staging memory.
struct StageTime {
  std::string stage;  // "schedule", "sample", "plan", "fetch", "assemble", "train"
  int num_threads = 1;
  int64_t batches = 0;
  double busy_seconds = 0;
  double starved_seconds = 0;
  double blocked_seconds = 0;
  int64_t rows = 0;  // planned: remote ones; fetched; assembled: all; 0 of other stages
};

struct LoaderStats {
  std::vector<StageTime> stages;
  // Of epochs, from StartEpoch to what ended them; and between epochs where the second's batches
  // were made ahead.
  double wall_seconds = 0;
  int64_t nodes = 0;        // input nodes of all batches that Next gave
  int64_t rows_local = 0;   // rows of the columns asked for, by where they came from
  int64_t rows_cached = 0;  // held, or on their way for an earlier batch
  int64_t rows_remote = 0;
  int64_t bytes_remote = 0;
  int64_t cache_rows = 0;  // held at most
  int64_t cache_bytes = 0;
  // Which ranking the cache goes by, and where the loader's draws are not those that it was made
  // for, how; "none: " and why; empty: no cache.
  std::string ranked_by;
  int64_t device_bytes = 0;  // device memory taken so far; 0 with Placement::kHost
};

}  // namespace vicinity
