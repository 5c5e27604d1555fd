#include "partition/ingest/formats/conversion_hint.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace vicinity {
namespace {

// IN stands for the file, OUT for its name without the ending.
constexpr std::pair<absl::string_view, absl::string_view> kCommands[] = {
    {".bz2", "bzip2 -dk IN"},
    {".xz", "xz -dk IN"},
    {".zst", "zstd -d IN"},
    {".lz4", "lz4 -dk IN"},
    {".zip", "unzip IN"},
    {".parquet",
     "python3 -c \"import pandas; pandas.read_parquet('IN').to_csv('OUT.csv', index=False)\" "
     "(tables "
     "with their types and lists vicinity_graph.convert.from_tables takes)"},
    {".feather",
     "python3 -c \"import pandas; pandas.read_feather('IN').to_csv('OUT.csv', index=False)\""},
    {".arrow",
     "python3 -c \"import pandas; pandas.read_feather('IN').to_csv('OUT.csv', index=False)\""},
    {".jsonl",
     "python3 -c \"import pandas; pandas.read_json('IN', lines=True).to_csv('OUT.csv', "
     "index=False)\""},
    {".pt",
     "python3 -c \"import numpy, torch; numpy.save('OUT.npy', torch.load('IN').numpy())\" (of a "
     "dictionary one tensor at a time; of a graph of PyG vicinity_graph.convert.from_pyg writes "
     "all)"},
    {".pth",
     "python3 -c \"import numpy, torch; numpy.save('OUT.npy', torch.load('IN').numpy())\" (of a "
     "dictionary one tensor at a time)"},
    {".h5",
     "python3 -c \"import h5py, numpy; numpy.save('OUT.npy', h5py.File('IN')['NAME'][()])\""},
    {".hdf5",
     "python3 -c \"import h5py, numpy; numpy.save('OUT.npy', h5py.File('IN')['NAME'][()])\""},
    {".mat",
     "python3 -c \"import numpy, scipy.io; numpy.save('OUT.npy', "
     "scipy.io.loadmat('IN')['NAME'])\""},
    {".mtx",
     "python3 -c \"import numpy, scipy.io; m = scipy.io.mmread('IN').tocoo(); "
     "numpy.save('OUT.npy', "
     "numpy.stack([m.row, m.col], 1))\""},
    {".edges", "ln -s IN OUT.txt (fields between blanks; .csv: commas, .tsv: tabs)"},
    {".edgelist", "ln -s IN OUT.txt (fields between blanks; .csv: commas, .tsv: tabs)"},
};

}  // namespace

std::string ConversionOf(absl::string_view path) {
  for (const auto& [ending, command] : kCommands) {
    if (!absl::EndsWith(path, ending)) continue;
    return absl::StrReplaceAll(command, {{"IN", path}, {"OUT", absl::StripSuffix(path, ending)}});
  }
  return "";
}

std::string SparseConversionOf(absl::string_view path, const std::vector<std::string>& members) {
  const auto has = [&members](absl::string_view name) {
    return absl::c_linear_search(members, name);
  };
  if (!has("format") || !has("shape") || !(has("indptr") || has("row"))) return "";
  const absl::string_view stem = absl::StripSuffix(path, ".npz");
  return absl::StrCat(
      "a sparse matrix of SciPy; for edges: python3 -c \"import numpy, scipy.sparse; ",
      "m = scipy.sparse.load_npz('", path, "').tocoo(); numpy.save('", stem,
      ".npy', numpy.stack([m.row, m.col], 1))\"; for rows: `ragged_columns` of a description "
      "takes ",
      "indptr, indices and data of m.tocsr(), or dense: numpy.save('", stem, ".npy', m.toarray())");
}

}  // namespace vicinity
