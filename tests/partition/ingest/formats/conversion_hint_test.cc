#include "partition/ingest/formats/conversion_hint.h"

#include <catch2/catch.hpp>

namespace vicinity {
namespace {

TEST_CASE("a file of another kind has a command that converts it", "[conversion_hint]") {
  CHECK(ConversionOf("d/edges.csv.bz2") == "bzip2 -dk d/edges.csv.bz2");
  CHECK(ConversionOf("edges.tsv.xz") == "xz -dk edges.tsv.xz");
  CHECK(ConversionOf("edges.tsv.zst") == "zstd -d edges.tsv.zst");
  CHECK(ConversionOf("d/x.parquet") ==
        "python3 -c \"import pandas; pandas.read_parquet('d/x.parquet').to_csv('d/x.csv', "
        "index=False)\" (tables with their types and lists vicinity_graph.convert.from_tables "
        "takes)");
  CHECK_THAT(ConversionOf("x.pt"), Catch::Contains("numpy.save('x.npy', torch.load('x.pt')"));
  CHECK_THAT(ConversionOf("x.edges"), Catch::StartsWith("ln -s x.edges x.txt"));
  // A path is taken as it is, whatever stands in it.
  CHECK(ConversionOf("IN/OUT.csv.bz2") == "bzip2 -dk IN/OUT.csv.bz2");
  for (const char* const unknown : {"x", "x.doc", "x.csv", "x.npy", "parquet", ""}) {
    CHECK(ConversionOf(unknown).empty());
  }
}

TEST_CASE("an archive that is a sparse matrix of SciPy is told by its members",
          "[conversion_hint]") {
  const std::string csr =
      SparseConversionOf("a.npz", {"indices", "indptr", "format", "shape", "data"});
  CHECK_THAT(csr, Catch::Contains("scipy.sparse.load_npz('a.npz').tocoo()") &&
                      Catch::Contains("numpy.save('a.npy', numpy.stack([m.row, m.col], 1))") &&
                      Catch::Contains("m.toarray()"));
  CHECK_FALSE(SparseConversionOf("a.npz", {"row", "col", "format", "shape", "data"}).empty());
  CHECK(SparseConversionOf("a.npz", {"edges", "shape", "row"}).empty());
}

}  // namespace
}  // namespace vicinity
