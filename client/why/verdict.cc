#include "client/why/verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/human_text.h"

namespace vicinity {
namespace {

// A trainer that waits less than this is as fast as its own step.
constexpr double kSeldom = 0.1;
constexpr double kFewestBatches = 4;
// Calls take up a stage if this part of its threads' busy time passes in them.
constexpr double kInCalls = 0.5;
// Cores are short if this part of them is used, or wanted.
constexpr double kFullCores = 0.85;
// Disks hold calls up if threads wait for one this part of the time that calls take, ...
constexpr double kOnDisk = 0.25;
// ... and at least so many do at a time.
constexpr double kFewestOnDisk = 0.1;
// Servers compute for most of the time that calls take.
constexpr double kComputing = 0.5;
constexpr double kFullLink = 0.7;

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }
std::string Bytes(double bytes) { return HumanBytes(std::llround(std::max(0.0, bytes))); }

// Methods whose calls a stage waits for; of others none.
std::vector<std::string> MethodsOf(const std::string& stage) {
  if (stage == "fetch") return {"FetchRows", "FetchRagged"};
  if (stage == "sample") return {"SampleNeighbors", "FetchEdgeIds", "Walk", "FetchDegrees"};
  return {};
}

class Judgement {
 public:
  Judgement(const TrainerNumbers& trainer, absl::Span<const ServerNumbers> servers,
            const JudgeOptions& options)
      : trainer_(trainer), servers_(servers), options_(options), wall_(trainer.seconds()) {}

  Verdict Make() {
    const StageNumbers& train = trainer_.stage("train");
    if (train.batches < kFewestBatches || wall_ <= 0) {
      Tell(absl::StrFormat("%.0f batches in %s are too few to judge by", train.batches,
                           HumanSeconds(wall_)));
      return verdict_;
    }
    verdict_.batch_seconds = wall_ / train.batches;
    verdict_.waits = train.starved_seconds / (wall_ * train.threads);
    FindStages();
    if (verdict_.waits < kSeldom) {
      BoundByDevice();
    } else {
      verdict_.stage = busiest_;
      TellOfStages();
      if (WaitsForCalls()) {
        BoundByCalls();
      } else {
        BoundByOwnCores();
      }
    }
    TellOfCalls();
    return verdict_;
  }

 private:
  void Tell(std::string sentence) { verdict_.evidence.push_back(std::move(sentence)); }
  void Advise(std::string what, double speedup = 0) {
    verdict_.advice.push_back({std::move(what), speedup});
  }

  double BusyShare(const std::string& stage) const {
    const StageNumbers& numbers = trainer_.stage(stage);
    return numbers.busy_seconds / (wall_ * numbers.threads);
  }
  // What a stage takes for a batch at the least: with all its threads busy.
  double StageSeconds(const std::string& stage) const {
    const StageNumbers& numbers = trainer_.stage(stage);
    return numbers.batches < 1 ? 0 : numbers.busy_seconds / (numbers.batches * numbers.threads);
  }

  void FindStages() {
    double most = -1;
    for (const char* stage : {"schedule", "sample", "plan", "fetch", "assemble"}) {
      if (BusyShare(stage) > most) {
        most = BusyShare(stage);
        busiest_ = stage;
      }
    }
    for (const auto& [name, numbers] : trainer_.stages) {
      if (name != busiest_) next_seconds_ = std::max(next_seconds_, StageSeconds(name));
    }
  }

  // How much faster batches come if the busiest stage takes this part of its time: until the next
  // one holds them up.
  double SpeedupAt(double part) const {
    const double then = std::max(next_seconds_, part * StageSeconds(busiest_));
    return then <= 0 ? 0 : std::max(1.0, StageSeconds(busiest_) / then);
  }

  void TellOfStages() {
    const StageNumbers& stage = trainer_.stage(busiest_);
    Tell(absl::StrFormat("the trainer waits for data %s of its time: %s of %s a batch",
                         Percent(verdict_.waits),
                         HumanSeconds(verdict_.waits * verdict_.batch_seconds),
                         HumanSeconds(verdict_.batch_seconds)));
    Tell(
        absl::StrFormat("of the stages that make batches %s is the busiest: its %.0f threads are "
                        "busy %s of the time",
                        busiest_, stage.threads, Percent(BusyShare(busiest_))));
  }

  void BoundByDevice() {
    verdict_.bound = Bound::kDevice;
    const double own = StageSeconds("train");
    const double data = StageSeconds(busiest_);
    Tell(
        absl::StrFormat("the trainer waits for data %s of its time, and is busy by itself for %s "
                        "a batch",
                        Percent(verdict_.waits), HumanSeconds(own)));
    if (data <= 0) return;
    const double until = std::max(1.0, own / data);
    Tell(
        absl::StrFormat("the slowest stage that makes batches, %s, takes %s: %.1f times as many "
                        "could be made",
                        busiest_, HumanSeconds(data), until));
    Advise("a faster model or device, or more trainers: data keeps up until then", until);
    if (!TellOfOwnCores()) {
      Advise("a machine with more cores: the trainer's own step shares them with its loader");
    }
  }

  // Whether the busiest stage's time passes in calls to servers.
  bool WaitsForCalls() {
    for (const std::string& method : MethodsOf(busiest_)) {
      const auto seconds = trainer_.rpc_seconds.find(method);
      if (seconds == trainer_.rpc_seconds.end() || seconds->second <= 0) continue;
      call_seconds_ += seconds->second;
      const auto count = trainer_.rpcs.find(method);
      if (count != trainer_.rpcs.end()) calls_ += count->second;
    }
    if (busiest_ == "sample" && trainer_.edges_remote < trainer_.edges_local) return false;
    return call_seconds_ >= kInCalls * trainer_.stage(busiest_).busy_seconds;
  }

  void BoundByOwnCores() {
    verdict_.bound = busiest_ == "sample" ? Bound::kSampling : Bound::kLoader;
    const StageNumbers& stage = trainer_.stage(busiest_);
    Tell(call_seconds_ > 0
             ? absl::StrFormat("it waits for servers %s of that time: the rest it computes",
                               Percent(std::min(1.0, call_seconds_ / stage.busy_seconds)))
             : std::string("it waits for no server: it computes"));
    const bool has_cores = TellOfOwnCores();
    const int threads = static_cast<int>(stage.threads);
    if (busiest_ == "sample") {
      if (has_cores) {
        Advise(absl::StrCat("sample_threads=", 2 * threads, " in place of ", threads),
               SpeedupAt(0.5));
      }
      Advise("smaller fanouts, or draws=\"labor\", which needs fewer nodes for the same fanouts");
      if (!has_cores) Advise("a machine with more cores, or more trainers");
      return;
    }
    Advise(busiest_ == "assemble" ? "fewer or narrower columns, or placement=\"device\""
                                  : "larger batches",
           busiest_ == "assemble" ? SpeedupAt(0.5) : 0);
    if (!has_cores) Advise("a machine with more cores");
  }

  // Whether the trainer's machine has cores to spare.
  bool TellOfOwnCores() {
    if (trainer_.cores <= 0) return true;
    const double used = trainer_.cpu_seconds / wall_;
    Tell(absl::StrFormat("the trainer uses %.1f of its %.0f cores", used, trainer_.cores));
    return used < kFullCores * trainer_.cores;
  }

  void BoundByCalls() {
    const double at_once = call_seconds_ / wall_;
    Tell(absl::StrFormat("its time passes in calls: %.1f are under way at a time, each for %s",
                         at_once, HumanSeconds(calls_ > 0 ? call_seconds_ / calls_ : 0)));
    TellOfRows();
    if (servers_.empty()) {
      BoundByOthers();
    } else {
      BoundByServersOrLink(at_once);
    }
  }

  // Without what servers say.
  void BoundByOthers() {
    if (LinkIsFull()) {
      BoundByLink();
      return;
    }
    verdict_.bound = Bound::kRemote;
    Advise(
        "ask the servers, too (--cluster FILE): they tell whether they lack cores, read from "
        "disks, or wait for the link");
    AdviseCache();
  }

  void BoundByServersOrLink(double at_once) {
    const ServerNumbers* fullest = &servers_.front();
    double on_disk = 0;
    double cores_used = 0;
    for (const ServerNumbers& server : servers_) {
      if (server.CpuDemand() > fullest->CpuDemand()) fullest = &server;
      on_disk += server.threads_on_disk;
      if (server.seconds > 0) cores_used += server.cpu_seconds / server.seconds;
    }
    if (on_disk >= std::max(kFewestOnDisk, kOnDisk * at_once)) {
      BoundByDisk(on_disk);
    } else if (fullest->CpuDemand() >= kFullCores) {
      BoundByServerCpu(*fullest);
    } else if (busiest_ == "sample" && cores_used >= kComputing * at_once) {
      BoundBySamplingCalls(cores_used, at_once);
    } else {
      Tell(
          absl::StrFormat("the servers use %.2f cores meanwhile, of the fullest (%s) %s, and no "
                          "disk: calls take their time on the way",
                          cores_used, fullest->name, Percent(fullest->CpuDemand())));
      BoundByLink();
    }
  }

  void BoundByDisk(double on_disk) {
    verdict_.bound = Bound::kDisk;
    double read = 0;
    double files = 0;
    double resident = 0;
    double seconds = 0;
    for (const ServerNumbers& server : servers_) {
      read += server.read_bytes;
      files += server.file_bytes;
      resident += server.resident_bytes;
      seconds = std::max(seconds, server.seconds);
    }
    Tell(
        absl::StrFormat("%.1f of the servers' threads wait for a disk at a time; they read %s a "
                        "second",
                        on_disk, Bytes(seconds > 0 ? read / seconds : 0)));
    Tell(absl::StrFormat("of %s of files %s are in memory", Bytes(files), Bytes(resident)));
    Advise(
        "more memory for the servers' files, or more servers, so that what is asked for stays "
        "in memory",
        SpeedupAt(0));
    Advise("faster disks: twice as fast", SpeedupAt(0.5));
    AdviseCache();
  }

  void BoundByServerCpu(const ServerNumbers& fullest) {
    verdict_.bound = Bound::kServerCpu;
    Tell(absl::StrFormat(
        "server %s uses %.2f of its %.0f cores, and %.2f threads more are ready to run and have "
        "none",
        fullest.name, fullest.cpu_seconds / fullest.seconds, fullest.cores,
        fullest.cpu_wait_seconds / fullest.seconds));
    double least = fullest.CpuDemand();
    for (const ServerNumbers& server : servers_) least = std::min(least, server.CpuDemand());
    if (least < kFullCores / 2) {
      Tell(absl::StrFormat("another server is asked for %s of its cores", Percent(least)));
      Advise(absl::StrCat("move shards away from ", fullest.name,
                          ", or give them a replica: others have cores to spare"),
             SpeedupAt(0.5));
    }
    Advise("twice the cores for it, or a second server with its shards", SpeedupAt(0.5));
    if (fullest.refused_calls > 0) {
      Tell(absl::StrFormat("it refused %.0f calls", fullest.refused_calls));
    }
    AdviseCache();
  }

  void BoundBySamplingCalls(double cores_used, double at_once) {
    verdict_.bound = Bound::kSampling;
    Tell(
        absl::StrFormat("the servers compute with %.2f cores for %.1f calls, and have more: too "
                        "few are asked at once",
                        cores_used, at_once));
    const int threads = static_cast<int>(trainer_.stage("sample").threads);
    Advise(absl::StrCat("sample_threads=", 2 * threads, " in place of ", threads), SpeedupAt(0.5));
    Advise("smaller fanouts, or draws=\"labor\"");
  }

  bool LinkIsFull() const {
    return options_.link_bytes_per_second > 0 &&
           trainer_.received_bytes / wall_ >= kFullLink * options_.link_bytes_per_second;
  }

  void BoundByLink() {
    verdict_.bound = Bound::kLink;
    const double rate = trainer_.received_bytes / wall_;
    Tell(options_.link_bytes_per_second > 0
             ? absl::StrFormat("%s a second arrive, %s of the link", Bytes(rate),
                               Percent(rate / options_.link_bytes_per_second))
             : absl::StrFormat("%s a second arrive", Bytes(rate)));
    AdviseCache();
    if (busiest_ == "fetch") {
      Advise("wire_precision=\"float16\": half the bytes of float32 columns", SpeedupAt(0.5));
      Advise("trainers on the servers' machines, each with local_shards");
      const int threads = static_cast<int>(trainer_.stage("fetch").threads);
      Advise(absl::StrCat("if the link is long but not full: fetch_threads=", 2 * threads,
                          " in place of ", threads));
    } else {
      const int threads = static_cast<int>(trainer_.stage("sample").threads);
      Advise(absl::StrCat("if the link is long but not full: sample_threads=", 2 * threads,
                          " in place of ", threads),
             SpeedupAt(0.5));
    }
    Advise("a faster link: twice as fast", SpeedupAt(0.5));
  }

  double FetchedABatch() const {
    const double batches = trainer_.stage("plan").batches;
    return batches < 1 ? 0 : trainer_.fetched_nodes / batches;
  }

  void TellOfRows() {
    if (busiest_ != "fetch") return;
    const double fetched = FetchedABatch();
    Tell(absl::StrFormat(
        "a batch fetches the rows of %.0f nodes, %s in all", fetched,
        Bytes(trainer_.remote_bytes / std::max(1.0, trainer_.stage("plan").batches))));
    if (trainer_.expected_rows > 0) {
      Tell(absl::StrFormat("vicinity plan foretold %.0f", trainer_.expected_rows));
    }
  }

  // The smallest cache of the plan that gains nine tenths of what the largest gains.
  void AdviseCache() {
    const double fetched = FetchedABatch();
    if (busiest_ != "fetch" || fetched <= 0) return;
    if (options_.plan.empty()) {
      Advise(
          "a larger cache: `vicinity plan --format json` tells what it would save (--plan FILE)");
      return;
    }
    std::vector<PlannedCache> sizes = options_.plan;
    std::sort(sizes.begin(), sizes.end(), [](const PlannedCache& a, const PlannedCache& b) {
      return a.cache_rows < b.cache_rows;
    });
    const auto gain = [&](const PlannedCache& size) { return SpeedupAt(size.rows / fetched) - 1; };
    double most = 0;
    for (const PlannedCache& size : sizes) most = std::max(most, gain(size));
    for (const PlannedCache& size : sizes) {
      if (most < 0.01 || gain(size) < 0.9 * most) continue;
      Advise(
          absl::StrFormat("a cache of %d rows (%s): vicinity plan foretells %.0f rows a batch in "
                          "place of %.0f",
                          size.cache_rows, Bytes(size.cache_bytes), size.rows, fetched),
          1 + gain(size));
      return;
    }
    Advise("no larger cache: vicinity plan foretells no gain by one");
  }

  void TellOfCalls() {
    if (trainer_.retries > 0) {
      Tell(absl::StrFormat("%.0f of %.0f calls were made again after a failure", trainer_.retries,
                           trainer_.shard_calls));
    }
    if (trainer_.quarantines > 0) {
      Tell(absl::StrFormat("servers were taken out of use %.0f times: `vicinity health`",
                           trainer_.quarantines));
    }
  }

  const TrainerNumbers& trainer_;
  const absl::Span<const ServerNumbers> servers_;
  const JudgeOptions& options_;
  const double wall_;
  Verdict verdict_;
  std::string busiest_;
  double next_seconds_ = 0;  // a batch, of the slowest of all other stages, training among them
  double call_seconds_ = 0;  // of the busiest stage's calls
  double calls_ = 0;
};

}  // namespace

const char* BoundName(Bound bound) {
  switch (bound) {
    case Bound::kUnknown:
      break;
    case Bound::kDevice:
      return "device";
    case Bound::kLink:
      return "link";
    case Bound::kServerCpu:
      return "server-cpu";
    case Bound::kSampling:
      return "sampling";
    case Bound::kDisk:
      return "disk";
    case Bound::kLoader:
      return "loader";
    case Bound::kRemote:
      return "remote";
  }
  return "unknown";
}

Verdict Judge(const TrainerNumbers& trainer, absl::Span<const ServerNumbers> servers,
              const JudgeOptions& options) {
  return Judgement(trainer, servers, options).Make();
}

}  // namespace vicinity
