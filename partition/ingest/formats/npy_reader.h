// NumPy's .npy arrays: the header checked against the bytes, the values left where they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/value_cast.h"
#include "proto/common/file.h"

namespace vicinity {

// An array in C order (the last index runs fastest). `data` is exactly as long as type and shape
// say, and need not be aligned.
struct NpyView {
  ValueType type = ValueType::kFloat32;
  std::vector<int64_t> shape;
  std::string_view data;

  int64_t num_values() const;
};

// The array in `bytes`, a whole .npy file of header version 1 to 3; the view is into `bytes`.
// InvalidArgument, beginning with `name`: no .npy, a header that does not fit the bytes (or asks
// for more than there can be), Fortran order, big-endian numbers, objects, strings, records and
// other types that are not numbers.
absl::StatusOr<NpyView> ParseNpy(std::string_view bytes, absl::string_view name);

// The same for a file of which only the beginning is there: type and shape, checked against the
// `size` of the whole; no data.
absl::StatusOr<NpyView> ParseNpyStart(std::string_view start, uint64_t size,
                                      absl::string_view name);

// A mapped .npy file.
//
// Threads:  immutable; any number may read.
// Lifetime: the view lives as long as the object.
class NpyFile {
 public:
  // What MappedFile::Open and ParseNpy say.
  static absl::StatusOr<NpyFile> Open(const std::string& path);
  const NpyView& view() const { return view_; }

 private:
  NpyFile(std::unique_ptr<MappedFile> file, NpyView view);
  std::unique_ptr<MappedFile> file_;
  NpyView view_;
};

}  // namespace vicinity
