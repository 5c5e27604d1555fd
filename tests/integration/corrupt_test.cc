// CORRUPT-1: 2,000 things that happen to files of a dataset, of every kind to every kind of file,
// before, while and after somebody opens it. Whatever happens, every answer is the right one or an
// error, none takes longer than 10 s, and other shards go on being served.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/shard_reader.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/bus_errors.h"
#include "proto/common/mutex.h"
#include "proto/service.grpc.pb.h"
#include "server/server.h"
#include "tests/integration/fixtures/dataset_answers.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/mutation.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Answer;
using testing::MutationKind;
using testing::Mutator;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kNoHang(10);
constexpr int kThreads = 8;  // they wait more than they work
constexpr int32_t kShards = 3;

// When the file is changed: before it is opened, while, or after it has been read.
enum class Moment { kBefore, kDuring, kAfter };

// What became of the mutations of all threads.
class Tally {
 public:
  void Add(const std::string& what, const std::string& wrong, int num_errors,
           Clock::duration took) {
    const MutexLock lock(&mu_);
    ++num_mutations_;
    if (num_errors > 0) ++num_noticed_;
    longest_ = std::max(longest_, took);
    if (!wrong.empty() && wrong_.empty()) wrong_ = absl::StrCat(what, ": ", wrong);
  }
  void AddWrong(const std::string& what, const std::string& wrong) {
    const MutexLock lock(&mu_);
    if (!wrong.empty() && wrong_.empty()) wrong_ = absl::StrCat("after ", what, ": ", wrong);
  }
  // 0 wrong rows, 0 hangs; and the mutations do harm.
  void Check(int num_mutations) {
    const MutexLock lock(&mu_);
    CHECK(wrong_ == "");
    CHECK(num_mutations_ == num_mutations);
    CHECK(num_noticed_ > num_mutations / 4);
    CHECK(longest_ < kNoHang);
    UNSCOPED_INFO(num_noticed_ << " of " << num_mutations_ << " were noticed");
  }

 private:
  Mutex mu_;
  int num_mutations_ ABSL_GUARDED_BY(mu_) = 0;
  int num_noticed_ ABSL_GUARDED_BY(mu_) = 0;  // the rest did no harm to what was asked
  Clock::duration longest_ ABSL_GUARDED_BY(mu_){0};
  std::string wrong_ ABSL_GUARDED_BY(mu_);
};

// Rankings of every shard's own home, all nodes of each type.
absl::Status AddRankings(const std::string& directory, const Book& book) {
  proto::Ranking description;
  description.set_name(kDefaultRanking);
  std::vector<std::vector<RankedNodes>> orders;
  for (int32_t s = 0; s < book.num_shards(); ++s) {
    description.add_homes()->add_shards(s);
    orders.emplace_back();
    for (int32_t t = 0; t < book.num_node_types(); ++t) {
      RankedNodes order;
      for (int64_t i = 0; i < book.num_nodes(NodeTypeId{t}); ++i) {
        order.nodes.push_back(i);
        order.probabilities.push_back(1.0F / static_cast<float>(i + 1));
      }
      orders.back().push_back(std::move(order));
    }
  }
  return WriteRanking(directory, description, orders);
}

// A dataset with every kind of file, and what it answers while it is sound.
class CorruptTest {
 public:
  CorruptTest() {
    GuardAgainstBusErrors();
    const testing::MemoryGraph graph = testing::TypedGraph(900, 600, 70, 3);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, kShards, 4), Sound()));
    {
      VICINITY_ASSERT_OK_AND_ASSIGN(const auto written, Dataset::Open(Sound()));
      VICINITY_REQUIRE_OK(AddRankings(Sound(), written->book()));
    }
    VICINITY_ASSERT_OK_AND_ASSIGN(shape_, Dataset::Open(Sound()));
    for (int32_t s = 0; s < kShards; ++s) {
      expected_.push_back(testing::MappedAnswers(*shape_, *shape_, {s}));
      for (const Answer& answer : expected_.back()) VICINITY_REQUIRE_OK(answer);
    }
  }

 protected:
  std::string Sound() const { return folder_.File("sound"); }
  // A copy to spoil.
  std::string Copy(const std::string& name) const {
    std::filesystem::copy(Sound(), folder_.File(name), std::filesystem::copy_options::recursive);
    return folder_.File(name);
  }
  static Dataset::Options AsServersDo() {
    Dataset::Options options;
    options.verify_at_touch = true;
    options.leave_out_damaged = true;
    return options;
  }

  // All shards' answers; "" or what is wrong.
  std::string AskMapped(const Dataset& dataset, int* num_errors) const {
    for (int32_t s = 0; s < kShards; ++s) {
      if (dataset.shard({s}) == nullptr) {
        ++*num_errors;
        if (absl::IsDataLoss(dataset.fault({s}))) continue;
        return absl::StrCat("shard ", s, " is away: ", dataset.fault({s}).ToString());
      }
      const std::string wrong = testing::CompareAnswers(
          expected_[s], testing::MappedAnswers(*shape_, dataset, {s}), num_errors);
      if (!wrong.empty()) return absl::StrCat("shard ", s, ", ", wrong);
    }
    return "";
  }

  // What a trainer that maps `directory` meets when `file` is changed at `moment`.
  void MutateMapped(const std::string& directory, Mutator* mutator, const std::string& file,
                    MutationKind kind, Moment moment, Tally* tally) const {
    std::string what;
    int num_errors = 0;
    std::string wrong;
    std::thread meanwhile;
    if (moment == Moment::kBefore) what = mutator->Mutate(file, kind);
    if (moment == Moment::kDuring) {
      meanwhile = std::thread([&] { what = mutator->Mutate(file, kind); });
    }
    const auto begin = Clock::now();
    auto dataset = Dataset::Open(directory, AsServersDo());
    if (moment == Moment::kAfter) {
      if (dataset.ok()) wrong = AskMapped(**dataset, &num_errors);
      what = mutator->Mutate(file, kind);
    }
    if (dataset.ok()) {
      if (wrong.empty()) wrong = AskMapped(**dataset, &num_errors);
    } else {
      ++num_errors;
      const bool typed = absl::IsDataLoss(dataset.status()) || absl::IsNotFound(dataset.status());
      if (!typed) wrong = dataset.status().ToString();
    }
    const auto took = Clock::now() - begin;
    if (meanwhile.joinable()) meanwhile.join();
    mutator->Undo();
    tally->Add(what, wrong, num_errors, took);
  }

  const testing::TempDir folder_;
  std::unique_ptr<Dataset> shape_;             // sound
  std::vector<std::vector<Answer>> expected_;  // by shard
};

TEST_CASE_METHOD(CorruptTest,
                 "whatever happens to a file, a trainer that maps it reads nothing wrong",
                 "[corrupt]") {
  constexpr int kMutations = 1600;
  Tally tally;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    const std::string directory = Copy(absl::StrCat("copy", t));
    threads.emplace_back([this, t, directory, &tally] {
      Mutator mutator(directory, 100 + t);
      const auto num_files = mutator.files().size();
      for (int i = t; i < kMutations; i += kThreads) {
        // Every kind meets every file, and every moment: 7, 3 and the number of files go round
        // with strides of their own.
        const std::string& file = mutator.files()[(i / kThreads * 5 + t * 13) % num_files];
        MutateMapped(directory, &mutator, file,
                     static_cast<MutationKind>(i / 3 % testing::kNumMutationKinds),
                     static_cast<Moment>(i / kThreads % 3), &tally);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  tally.Check(kMutations);
}

// A server in this process, and who asks it.
class Served {
 public:
  explicit Served(const std::string& directory) {
    ServerOptions options;
    options.data = directory;
    options.check_bytes_per_second = int64_t{1} << 30;
    auto server = Server::Start(options);
    status_ = server.status();
    if (!server.ok()) return;
    server_ = *std::move(server);
    stub_ = proto::Graph::NewStub(
        grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials()));
  }
  const absl::Status& status() const { return status_; }
  proto::Graph::Stub* stub() const { return stub_.get(); }

 private:
  absl::Status status_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<proto::Graph::Stub> stub_;
};

// The same of a server: the answers are chunks as they travel.
class CorruptServerTest : public CorruptTest {
 public:
  CorruptServerTest() {
    const Served sound(Sound());
    VICINITY_REQUIRE_OK(sound.status());
    for (int32_t s = 0; s < kShards; ++s) {
      served_.push_back(testing::ServedAnswers(*shape_, {s}, sound.stub()));
      for (const Answer& answer : served_.back()) VICINITY_REQUIRE_OK(answer);
    }
  }

 protected:
  std::string Ask(const Served& server, int32_t shard, int* num_errors) const {
    return testing::CompareAnswers(
        served_[shard], testing::ServedAnswers(*shape_, {shard}, server.stub()), num_errors);
  }
  std::string AskAll(const Served& server, int* num_errors) const {
    for (int32_t s = 0; s < kShards; ++s) {
      const std::string wrong = Ask(server, s, num_errors);
      if (!wrong.empty()) return absl::StrCat("shard ", s, ", ", wrong);
    }
    return "";
  }

  std::vector<std::vector<Answer>> served_;  // by shard
};

TEST_CASE_METHOD(CorruptServerTest,
                 "whatever happened to a file, a server that starts says nothing wrong",
                 "[corrupt]") {
  constexpr int kMutations = 120;
  const std::string directory = Copy("copy");
  Mutator mutator(directory, 7);
  Tally tally;
  for (int i = 0; i < kMutations; ++i) {
    const std::string& file = mutator.files()[i * 5 % mutator.files().size()];
    const auto kind = static_cast<MutationKind>(i % testing::kNumMutationKinds);
    std::string what;
    std::thread meanwhile([&] { what = mutator.Mutate(file, kind); });
    if (i % 2 == 0) meanwhile.join();  // before, else while it starts
    const auto begin = Clock::now();
    int num_errors = 0;
    std::string wrong;
    {
      const Served server(directory);
      if (server.status().ok()) {
        wrong = AskAll(server, &num_errors);
      } else {
        ++num_errors;
      }
    }
    const auto took = Clock::now() - begin;
    if (meanwhile.joinable()) meanwhile.join();
    mutator.Undo();
    tally.Add(what, wrong, num_errors, took);
  }
  tally.Check(kMutations);
}

TEST_CASE_METHOD(CorruptServerTest,
                 "a server notices what happens to its files, serves other shards, and takes back "
                 "what is mended",
                 "[corrupt]") {
  constexpr int kMutations = 240;
  constexpr int kServers = 8;
  Tally tally;
  std::vector<std::thread> threads;
  std::atomic<int> not_back{0};
  for (int t = 0; t < kServers; ++t) {
    const std::string directory = Copy(absl::StrCat("served", t));
    threads.emplace_back([this, t, directory, &tally, &not_back] {
      Mutator mutator(directory, 1000 + t);
      const Served server(directory);
      for (int i = t; i < kMutations; i += kServers) {
        const std::string& file = mutator.files()[(i * 5 + t) % mutator.files().size()];
        const auto kind = static_cast<MutationKind>(i / kServers % testing::kNumMutationKinds);
        int num_errors = 0;
        const std::string what = mutator.Mutate(file, kind);
        const auto begin = Clock::now();
        std::string wrong = AskAll(server, &num_errors);
        const auto took = Clock::now() - begin;
        mutator.Undo();
        tally.Add(what, wrong, num_errors, took);
        // Back in service, without a restart.
        for (int errors = 1; errors > 0;) {
          errors = 0;
          wrong = AskAll(server, &errors);
          tally.AddWrong(what, wrong);
          if (Clock::now() - begin < 2 * kNoHang) continue;
          ++not_back;
          break;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(not_back == 0);
  tally.Check(kMutations);
}

// Beyond whatever anybody checks at open.
class LargeFileTest {
 public:
  LargeFileTest() {
    GuardAgainstBusErrors();
    Schema schema;
    schema.node_types.push_back(
        {"page", IdKind::kDense, 0, {{"bytes", DType::kUint8, {kRowBytes}}}, "", 0, ""});
    auto book = Book::Create({{0, kRows}});
    VICINITY_REQUIRE_OK(book);
    VICINITY_ASSERT_OK_AND_ASSIGN(
        const auto writer, DatasetWriter::Create(directory_, "large", std::move(schema), *book));
    VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray keys, writer->Keys({0}, {0}));
    VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray rows, writer->Column({0}, {0}, 0));
    for (int64_t i = 0; i < kRows; ++i) {
      keys.as<uint64_t>()[i] = static_cast<uint64_t>(i);
      std::memcpy(rows.data + i * kRowBytes, &i, sizeof(i));
    }
    VICINITY_REQUIRE_OK(writer->Finish(nullptr, "a test"));
    size_ = static_cast<int64_t>(std::filesystem::file_size(path_));
  }

 protected:
  static constexpr int64_t kRowBytes = 4096;
  static constexpr int64_t kRows = int64_t{1} << 18;  // 1 GiB

  // Opens it and reads some rows, the damaged one among them. -1: a wrong row; else errors.
  int Read(const Dataset& dataset, int64_t victim) const {
    const ShardReader reader(*dataset.shard({0}));
    const ShardColumn column = reader.NodeColumn(NodeTypeId{0}, 0);
    int errors = 0;
    for (const int64_t row : {int64_t{0}, victim, kRows / 2, kRows - 1}) {
      std::string found(kRowBytes, '?');
      const absl::Status status =
          reader.ReadRange(column, row, 1, [&](const char* at) { found.assign(at, kRowBytes); });
      std::string expected(kRowBytes, '\0');
      std::memcpy(&expected[0], &row, sizeof(row));
      if (status.ok() && found != expected) return -1;
      if (!status.ok()) ++errors;
    }
    return errors;
  }

  // Changes the file; returns what mends it.
  std::function<void()> Spoil(int kind, int64_t victim) const {
    const int64_t at = 64 + victim * kRowBytes;
    if (kind == 0) {
      testing::FlipBit(path_, at, 3);
      return [this, at] { testing::FlipBit(path_, at, 3); };
    }
    if (kind == 1) {
      testing::Overwrite(path_, at, std::string(8, '\0'));
      return [this, at, victim] { testing::OverwriteValue(path_, at, victim); };
    }
    if (kind == 2) {
      testing::CutTo(path_, size_ + 100);
      return [this] { testing::CutTo(path_, size_); };
    }
    const std::string aside = path_ + ".aside";
    std::filesystem::rename(path_, aside);
    return [this, aside] { std::filesystem::rename(aside, path_); };
  }

  const testing::TempDir folder_;
  const std::string directory_ = folder_.File("large");
  const std::string path_ = directory_ + "/shard-00000/nodes.page.column.bytes";
  int64_t size_ = 0;
};

TEST_CASE_METHOD(LargeFileTest, "nothing wrong is read of a file of a GiB", "[corrupt]") {
  std::mt19937_64 random(5);
  int noticed = 0;
  for (int i = 0; i < 40; ++i) {
    const int64_t victim = 1 + static_cast<int64_t>(random() % (kRows - 1));
    const int kind = i % 4;
    CAPTURE(i, kind, victim);
    const bool before = i / 4 % 2 == 0;
    std::function<void()> mend;
    if (before) mend = Spoil(kind, victim);
    Dataset::Options options;
    options.verify_at_touch = true;
    auto dataset = Dataset::Open(directory_, options);
    if (!before) {
      VICINITY_REQUIRE_OK(dataset);
      CHECK(Read(**dataset, victim) == 0);
      mend = Spoil(kind, victim);
    }
    const int errors = dataset.ok() ? Read(**dataset, victim) : 1;
    CHECK(errors >= 0);
    noticed += errors > 0 ? 1 : 0;
    mend();
  }
  // A file that is away after it was mapped does no harm.
  CHECK(noticed == 35);
}

}  // namespace
}  // namespace vicinity
