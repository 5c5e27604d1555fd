#include "tests/testing/graphs/certified_batch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "client/graph.h"
#include "client/loader.h"
#include "tests/testing/graphs/certified_graph.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {
namespace {

template <typename T>
T Value(Result<T> result) {
  INFO(result.error().message());
  REQUIRE(result.ok());
  return *std::move(result);
}

// Batches read from files, with edge ids, and the means to spoil them.
class BatchTest {
 public:
  BatchTest() : graph_(Shape(1)) {
    VICINITY_REQUIRE_OK(graph_.Write(folder_.File("graph")));
    GraphOptions where;
    where.directory = folder_.File("graph");
    opened_ = Value(Graph::Open(where));
    LoaderOptions options;
    options.sampling = spec_ = SamplingSpec::Uniform(opened_->schema(), {3, 2});
    options.batch_size = 10;
    options.columns = {{"node", "features"}};
    options.edge_ids = true;
    loader_ = Value(Loader::Create(opened_.get(), options));
    REQUIRE(loader_->StartEpoch(0).ok());
  }

 protected:
  static CertifiedShape Shape(uint64_t version) {
    CertifiedShape shape;
    shape.num_nodes = 500;
    shape.num_shards = 2;
    shape.version = version;
    return shape;
  }
  std::unique_ptr<MiniBatch> Next() const { return Value(loader_->Next()); }
  BatchVerdict Check(const MiniBatch& batch) const { return CheckBatch(graph_, spec_, batch); }

  const TempDir folder_;
  const CertifiedGraph graph_;
  std::unique_ptr<Graph> opened_;
  SamplingSpec spec_;
  std::unique_ptr<Loader> loader_;
};

TEST_CASE_METHOD(BatchTest, "batches from files are right, and all different", "[certified]") {
  std::set<uint64_t> digests;
  int64_t num_batches = 0;
  while (const std::unique_ptr<MiniBatch> batch = Next()) {
    const BatchVerdict verdict = Check(*batch);
    INFO(verdict.first_wrong);
    CHECK(verdict.wrong_rows == 0);
    CHECK(verdict.wrong_edges == 0);
    CHECK(verdict.first_wrong.empty());
    CHECK(verdict.edges == batch->graph.num_edges());
    CHECK(verdict.rows == static_cast<int64_t>(batch->graph.nodes[0].ids.size() +
                                               batch->graph.seeds[0].positions.size()));
    digests.insert(Digest(*batch));
    ++num_batches;
  }
  CHECK(static_cast<int64_t>(digests.size()) == num_batches);
  CHECK(num_batches == loader_->steps_per_epoch());
}

TEST_CASE_METHOD(BatchTest, "whatever is wrong with a batch is found", "[certified]") {
  const std::unique_ptr<MiniBatch> batch = Next();
  const uint64_t digest = Digest(*batch);
  SECTION("a bit of a row") {
    batch->columns[0].bytes[100] ^= 1;
    CHECK(Check(*batch).wrong_rows == 1);
  }
  SECTION("two rows exchanged") {
    auto* rows = batch->columns[0].bytes.data();
    std::swap_ranges(rows, rows + 64, rows + 64);
    CHECK(Check(*batch).wrong_rows == 2);
  }
  SECTION("rows missing") {
    batch->columns[0].bytes.resize(64);
    CHECK(Check(*batch).wrong_rows == 1);
  }
  SECTION("a label") {
    ++batch->labels[3];
    CHECK(Check(*batch).wrong_rows == 1);
  }
  SECTION("a source") {
    Block& block = batch->graph.hops[0][0];
    block.sources[0] = block.sources[0] == 0 ? 1 : 0;
    CHECK(Check(*batch).wrong_edges == 1);
  }
  SECTION("an edge id") {
    ++batch->graph.hops[1][0].edge_ids[0];
    CHECK(Check(*batch).wrong_edges == 1);
  }
  SECTION("an edge missing") {
    Block& block = batch->graph.hops[0][0];
    --block.offsets.back();
    CHECK(Check(*batch).wrong_edges == 1);
  }
  SECTION("a node that is none") {
    batch->graph.nodes[0].ids.back() = 500;
    CHECK(Check(*batch).wrong_edges >= 1);
    CHECK(Check(*batch).wrong_rows == 1);
  }
  CHECK_FALSE(Check(*batch).first_wrong.empty());
  CHECK(Digest(*batch) != digest);
}

TEST_CASE_METHOD(BatchTest, "a batch of another version is all wrong", "[certified]") {
  const std::unique_ptr<MiniBatch> batch = Next();
  const BatchVerdict verdict = CheckBatch(CertifiedGraph(Shape(2)), spec_, *batch);
  CHECK(verdict.wrong_rows >= static_cast<int64_t>(batch->graph.nodes[0].ids.size()));
  CHECK(verdict.wrong_edges > verdict.edges / 2);
}

}  // namespace
}  // namespace vicinity::testing
