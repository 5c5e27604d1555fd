// Shards whose machine loses its power at any moment, as their disk would be found: a real file
// system that is copied, block for block, while the shard is written. The copy is mounted, which
// has the file system recover by its journal, as after a power cut; then what was acknowledged as
// on disk is there, and nothing by half.
//
// What the kernel had not given to the disk yet is not in the copy. The disk is a file on a file
// system that copies files between two writes (btrfs), so that a copy is a moment and not a mixture
// of many. What a disk's own cache loses, and writes that it does in another order, is not seen
// here: power_test.cc has that.
//
// VICINITY_POWER_IMAGES (200) sets how many copies.
#include <fcntl.h>
#include <linux/fs.h>
#include <rocksdb/env.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "partition/overlay/live_shard.h"
#include "proto/common/status.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/live_model.h"
#include "tests/testing/graphs/numbered_batches.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/mounted_image.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/power/cutting_fs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_size.h"

namespace vicinity {
namespace {

using testing::MountedImage;
using testing::RunningProgram;

constexpr char kGraphVariable[] = "VICINITY_IMAGE_TEST_GRAPH";
constexpr char kShardVariable[] = "VICINITY_IMAGE_TEST_SHARD";
constexpr char kToldVariable[] = "VICINITY_IMAGE_TEST_TOLD";
constexpr char kLiesVariable[] = "VICINITY_IMAGE_TEST_LIES";

constexpr int64_t kDiskBytes = int64_t{96} << 20;
constexpr int64_t kOuterBytes = int64_t{2} << 30;  // sparse: a hundredth is written
constexpr int kImagesOfWriter = 25;  // what one writes is read again with each of its images

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  REQUIRE(value != nullptr);
  return value;
}

// What the other process does: writes until it is killed, and leaves the number of the last batch
// that was acknowledged as on disk in a file on another disk.
TEST_CASE("writes until it is killed", "[.writer]") {
  auto dataset = Dataset::Open(Variable(kGraphVariable));
  VICINITY_REQUIRE_OK(dataset.status());
  const LiveBase base = testing::BaseOf(**dataset);
  const int told = open(Variable(kToldVariable).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(told >= 0);
  // One that never cuts: it only keeps syncs from the disk.
  const std::unique_ptr<rocksdb::Env> lying =
      rocksdb::NewCompositeEnv(std::make_shared<testing::CuttingFs>(false));
  LiveShardOptions options;
  if (Variable(kLiesVariable) == "1") options.store.env = lying.get();
  auto shard = LiveShard::Open(base, Variable(kShardVariable), options);
  VICINITY_REQUIRE_OK(shard.status());
  proto::WriteSession session;
  session.set_id("power test");
  const absl::Time end = absl::Now() + absl::Minutes(2);
  for (uint64_t n = 1; absl::Now() < end; ++n) {
    session.set_sequence(n);
    const Durability durability = testing::NumberedDurability(n);
    VICINITY_REQUIRE_OK(
        (*shard)->Apply(session, testing::NumberedBatch(base, n), durability, end).status());
    if (durability != Durability::kSync) continue;
    REQUIRE(pwrite(told, &n, sizeof(n), 0) == sizeof(n));
  }
}

absl::Status CopyAtOnce(const std::string& from, const std::string& to) {
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool copied = ioctl(copy, FICLONE, source) == 0;
  const int error = errno;
  close(source);
  close(copy);
  if (copied) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(from, ": not copied: ", std::strerror(error)));
}

// A shard on a disk of its own, its writer, and what a power cut leaves of it.
class PowerImageTest {
 public:
  PowerImageTest() {
    testing::RandomGraphOptions options;
    options.num_nodes = 40;
    options.num_edges = 120;
    options.weights = true;
    graph_ = testing::RandomGraph(options);
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, folder_.File("graph")));
    auto dataset = Dataset::Open(folder_.File("graph"));
    VICINITY_REQUIRE_OK(dataset.status());
    dataset_ = *std::move(dataset);
    base_ = std::make_unique<LiveBase>(testing::BaseOf(*dataset_));
  }

  // Unavailable where nobody may.
  absl::Status MakeDisks() {
    VICINITY_RETURN_IF_ERROR(
        testing::MakeImage(testing::ImageKind::kBtrfs, folder_.File("outer-image"), kOuterBytes));
    VICINITY_ASSIGN_OR_RETURN(
        outer_, MountedImage::Mount(folder_.File("outer-image"), folder_.File("outer")));
    VICINITY_RETURN_IF_ERROR(testing::MakeImage(testing::ImageKind::kExt4, disk(), kDiskBytes));
    VICINITY_ASSIGN_OR_RETURN(inner_, MountedImage::Mount(disk(), folder_.File("inner")));
    return absl::OkStatus();
  }

  // A new writer, of a new shard.
  void StartWriter(bool lies) {
    writer_.reset();
    std::filesystem::remove(told());
    model_ = std::make_unique<testing::LiveModel>(graph_, testing::InUserOrder(graph_), *base_);
    in_model_ = 0;
    name_ = absl::StrCat("shard-", ++num_writers_);
    if (num_writers_ > 1) {
      std::filesystem::remove_all(absl::StrCat(inner_->folder(), "/shard-", num_writers_ - 1));
    }
    REQUIRE(setenv(kGraphVariable, folder_.File("graph").c_str(), 1) == 0);
    REQUIRE(setenv(kShardVariable, absl::StrCat(inner_->folder(), "/", name_).c_str(), 1) == 0);
    REQUIRE(setenv(kToldVariable, told().c_str(), 1) == 0);
    REQUIRE(setenv(kLiesVariable, lies ? "1" : "0", 1) == 0);
    auto writer = RunningProgram::Start({"/proc/self/exe", "[.writer]"});
    VICINITY_REQUIRE_OK(writer.status());
    writer_ = *std::move(writer);
    WaitForTold(1);
  }
  void StopWriter() { writer_.reset(); }

  void WaitForTold(uint64_t least) const {
    const absl::Time end = absl::Now() + absl::Seconds(60);
    while (Told() < least && absl::Now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    INFO(writer_->output());
    REQUIRE(Told() >= least);
  }

  // What is wrong with the shard when the power is cut in some milliseconds; "" nothing.
  std::string Cut() {
    WaitForTold(Told() + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 10'000));
    const uint64_t told = Told();
    const std::string image = absl::StrCat(outer_->folder(), "/copy");
    VICINITY_REQUIRE_OK(CopyAtOnce(disk(), image));
    const auto found = MountedImage::Mount(image, folder_.File("found"));
    VICINITY_REQUIRE_OK(found.status());
    std::filesystem::remove(image);  // it stays until it is not mounted any more
    auto shard =
        LiveShard::Open(*base_, absl::StrCat((*found)->folder(), "/", name_), LiveShardOptions());
    if (!shard.ok()) return shard.status().ToString();
    const uint64_t version = (*shard)->version();
    if (version < told) return absl::StrCat("it has version ", version, " of ", told);
    if (version < in_model_) return absl::StrCat(version, " versions, before ", in_model_);
    while (in_model_ < version) {
      model_->Apply(*base_, testing::NumberedBatch(*base_, ++in_model_));
    }
    const auto view = (*shard)->Latest();
    return model_->Difference(*base_, ShardReader(base_->shard, view.get()));
  }

  uint64_t in_model() const { return in_model_; }

 private:
  std::string disk() const { return folder_.File("outer/disk"); }
  std::string told() const { return folder_.File("told"); }
  uint64_t Told() const {
    uint64_t told = 0;
    std::ifstream(this->told(), std::ios::binary)
        .read(reinterpret_cast<char*>(&told), sizeof(told));
    return told;
  }

  const testing::TempDir folder_;
  testing::MemoryGraph graph_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<LiveBase> base_;
  std::unique_ptr<MountedImage> outer_;
  std::unique_ptr<MountedImage> inner_;
  int num_writers_ = 0;
  std::string name_;  // of the shard's folder
  std::unique_ptr<RunningProgram> writer_;
  std::unique_ptr<testing::LiveModel> model_;
  uint64_t in_model_ = 0;  // batches
  std::mt19937_64 random_{1};
};

TEST_CASE_METHOD(PowerImageTest,
                 "the disk as it is at any moment has all that was acknowledged as on it",
                 "[power]") {
  const int num_images = testing::SizeFromEnvironment("VICINITY_POWER_IMAGES", 200);
  if (const absl::Status made = MakeDisks(); !made.ok()) {
    WARN("may not mount here, so no disk is copied, and power_test.cc has to do: " << made);
    return;
  }
  uint64_t batches = 0;
  for (int image = 0; image < num_images; ++image) {
    CAPTURE(image);
    if (image % kImagesOfWriter == 0) {
      batches += in_model();
      StartWriter(false);
    }
    REQUIRE(Cut() == "");
  }
  StopWriter();
  batches += in_model();
  CHECK(batches > 5 * static_cast<uint64_t>(num_images));
  std::cout << num_images << " images of a disk that " << batches << " batches were written to\n";
}

// The control: of a disk that gets what it should have had only when the kernel sees fit, nearly
// every image lacks something that was acknowledged.
TEST_CASE_METHOD(PowerImageTest, "a shard that does not wait for its disk is found out",
                 "[power]") {
  const int num_images = testing::SizeFromEnvironment("VICINITY_POWER_IMAGES", 200) / 5 + 1;
  if (const absl::Status made = MakeDisks(); !made.ok()) {
    WARN("may not mount here, so no disk is copied, and power_test.cc has to do: " << made);
    return;
  }
  int found_out = 0;
  for (int image = 0; image < num_images; ++image) {
    if (image % kImagesOfWriter == 0) StartWriter(true);
    if (!Cut().empty()) ++found_out;
  }
  StopWriter();
  CHECK(found_out * 10 >= num_images * 9);
  std::cout << found_out << " of " << num_images << " images found out\n";
}

}  // namespace
}  // namespace vicinity
