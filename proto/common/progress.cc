#include "proto/common/progress.h"

namespace vicinity {
namespace {

class SilentProgress : public Progress {
 public:
  void Begin(std::string_view, int64_t, std::string_view) override {}
  void Update(int64_t) override {}
  void End() override {}
  void Note(std::string_view) override {}
};

}  // namespace

Progress* NoProgress() {
  static SilentProgress silent;  // holds nothing, so everybody may share it
  return &silent;
}

}  // namespace vicinity
