// Calls that clients of an earlier version made, and what its server told them: this one's answers
// are the same, byte for byte but for clocks, so whoever has not been upgraded understands them.
//
// A new one, for each version: with the programs of that version,
//   VICINITY_OLD=FOLDER VICINITY_TRANSCRIPT=tests/data/rpc/rpc-N transcript_test "[.make]"
// and tests/data/rpc/README.md.
#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/cluster/host_port.h"
#include "proto/common/file.h"
#include "proto/service.pb.h"
#include "server/server.h"
#include "tests/integration/fixtures/rpc_transcript.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RecordedCall;
using testing::RunningProgram;

const char* const kArchives[] = {"rpc-1"};

const google::protobuf::ServiceDescriptor& Service() {
  return *proto::HelloRequest::descriptor()->file()->FindServiceByName("Graph");
}

// Null: not one of the service's.
const google::protobuf::MethodDescriptor* MethodOf(const RecordedCall& call) {
  constexpr char kPrefix[] = "/vicinity.proto.Graph/";
  if (!absl::StartsWith(call.method, kPrefix)) return nullptr;
  return Service().FindMethodByName(call.method.substr(sizeof(kPrefix) - 1));
}

// What says of `now` that it is another answer than `then`; "" nothing.
std::string Difference(const RecordedCall& then, const RecordedCall& now) {
  if (then.code != now.code) return absl::StrCat("ends with ", now.code, ": ", now.error);
  if (then.replies.size() != now.replies.size()) {
    return absl::StrCat(now.replies.size(), " messages");
  }
  const google::protobuf::Descriptor& type = *MethodOf(then)->output_type();
  google::protobuf::util::MessageDifferencer differencer;
  std::string found;
  differencer.ReportDifferencesToString(&found);
  // Changes have the time at which they were made, cursors that at which they were told.
  differencer.IgnoreField(proto::Change::descriptor()->FindFieldByName("unix_micros"));
  differencer.IgnoreField(proto::ChangeCursor::descriptor()->FindFieldByName("unix_micros"));
  if (type.name() == "ChangesChunk" || type.name() == "BarrierReply") {
    differencer.IgnoreField(type.FindFieldByName("checksum"));
  }
  const auto* const prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
  for (size_t i = 0; i < then.replies.size(); ++i) {
    const std::unique_ptr<google::protobuf::Message> before(prototype->New());
    const std::unique_ptr<google::protobuf::Message> after(prototype->New());
    if (!before->ParseFromString(then.replies[i]) || !after->ParseFromString(now.replies[i])) {
      return "no message";
    }
    if (!differencer.Compare(*before, *after)) return found;
  }
  return "";
}

// The graph, and an empty folder for changes, of an archive.
class Archive {
 public:
  explicit Archive(const std::string& name) {
    const auto tar =
        RunningProgram::Start({"/bin/tar", "-xzf", absl::StrCat("tests/data/rpc/", name, ".tar.gz"),
                               "-C", folder_.path(), "--strip-components=1"});
    VICINITY_REQUIRE_OK(tar.status());
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*tar)->WaitForExit(absl::Seconds(60)));
    INFO((*tar)->output());
    REQUIRE(code == 0);
    auto calls = testing::ReadTranscript(folder_.File("calls.json"));
    VICINITY_REQUIRE_OK(calls);
    calls_ = *std::move(calls);
    ServerOptions options;
    options.data = folder_.File("graph");
    options.changes = folder_.File("changes");
    auto server = Server::Start(options);
    VICINITY_REQUIRE_OK(server);
    server_ = *std::move(server);
    channel_ =
        grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials());
  }

  const std::vector<RecordedCall>& calls() const { return calls_; }
  RecordedCall Again(const RecordedCall& call) const {
    return testing::CallAgain(channel_, call.method, call.request);
  }

 private:
  const testing::TempDir folder_;
  std::vector<RecordedCall> calls_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_CASE("clients of earlier versions are answered as their servers answered them",
          "[transcript]") {
  for (const char* const name : kArchives) {
    CAPTURE(name);
    const Archive archive(name);
    std::set<std::string> methods;
    for (const RecordedCall& call : archive.calls()) {
      if (MethodOf(call) == nullptr || MethodOf(call)->name() == "Status") continue;  // clocks
      methods.insert(MethodOf(call)->name());
      CAPTURE(call.method, call.error);
      CHECK(Difference(call, archive.Again(call)) == "");
    }
    // All that clients call; Replicate and Carry servers and the tool do.
    CHECK(methods == std::set<std::string>{"Apply", "Barrier", "Changes", "Describe",
                                           "FetchDegrees", "FetchEdgeIds", "FetchRagged",
                                           "FetchRanking", "FetchRows", "FindRows", "Hello",
                                           "ResolveKeys", "SampleNeighbors", "Walk"});
  }
}

TEST_CASE("an answer that is another one is seen", "[transcript]") {
  const Archive archive(kArchives[0]);
  int compared = 0;
  for (const RecordedCall& call : archive.calls()) {
    if (MethodOf(call) == nullptr || call.replies.empty() || call.code != 0) continue;
    RecordedCall other = call;
    other.code = 3;
    CHECK(Difference(call, other) != "");
    other = call;
    other.replies.pop_back();
    CHECK(Difference(call, other) != "");
    other = call;
    other.replies[0] += std::string("\x50\x01", 2);      // a field, 10 say
    other.replies[0] += std::string("\xf8\x7f\x01", 3);  // and one that nobody knows, 2047
    CHECK(Difference(call, other) != "");
    ++compared;
  }
  CHECK(compared > 20);
}

// A shell that has the programs as $OLD, and the folder as $IN.
class Maker {
 public:
  Maker(std::string old, std::string in) : old_(std::move(old)), in_(std::move(in)) {}

  void Run(const std::string& script) const {
    const auto program = RunningProgram::Start(
        {"/bin/sh", "-ec", absl::StrCat("OLD='", old_, "'; IN='", in_, "'; ", script)});
    VICINITY_REQUIRE_OK(program.status());
    VICINITY_ASSERT_OK_AND_ASSIGN(const int code, (*program)->WaitForExit(absl::Seconds(60)));
    INFO(script << "\n" << (*program)->output());
    REQUIRE(code == 0);
  }

 private:
  const std::string old_;
  const std::string in_;
};

TEST_CASE("makes what later versions are to answer", "[.make]") {
  const char* const old = std::getenv("VICINITY_OLD");
  const char* const folder = std::getenv("VICINITY_TRANSCRIPT");
  REQUIRE(old != nullptr);
  REQUIRE(folder != nullptr);
  std::filesystem::create_directories(folder);
  const testing::TempDir scratch;
  const Maker maker(old, folder);
  // 60 nodes with names, each with edges from three others, and two of them to the same.
  maker.Run(absl::StrCat(
      "cd ", scratch.path(),
      "; seq -f n%g 0 59 > ids.txt; seq 0 59 | awk '{print $1, $1 * 2, 0.5}' > features.txt;"
      "seq 0 59 | awk '{print $1 % 4}' > labels.txt; seq -f n%g 0 39 > train.txt;"
      "seq 0 59 | awk '{for (i = 1; i < 4; ++i) print \"n\" ($1 * 7 + i * i) % 60, \"n\" $1}' > "
      "e.txt;"
      "echo n1 n2 >> e.txt;"
      "$OLD/vicinity import --edges e.txt --ids ids.txt --features features.txt --labels labels.txt"
      " --train train.txt --name named --output one;"
      "$OLD/vicinity partition --input one --shards 1 --batch-size 8 --output $IN/graph"));
  VICINITY_ASSERT_OK_AND_ASSIGN(
      const auto server,
      RunningProgram::Start({absl::StrCat(old, "/vicinityd"), "--data",
                             absl::StrCat(folder, "/graph"), "--changes", scratch.File("changes"),
                             "--listen", "127.0.0.1:0", "--ready-file", scratch.File("ready")}));
  VICINITY_REQUIRE_OK(server->WaitForLine("ready in", absl::Seconds(60)));
  VICINITY_ASSERT_OK_AND_ASSIGN(std::string address, ReadFile(scratch.File("ready")));
  address.pop_back();
  const testing::RecordingProxy proxy(address);
  VICINITY_REQUIRE_OK(
      WriteFileAtomically(scratch.File("c"), absl::StrCat("data: '", folder,
                                                          "/graph' num_shards: 1 changes: 'none' "
                                                          "servers { name: 'vicinityd' listen: '",
                                                          proxy.address(), "' shards: 0 }")));
  const std::string on = absl::StrCat(" --cluster ", scratch.File("c"), " ");
  const auto ask = [&](const std::string& command) {
    maker.Run(absl::StrCat("cd ", scratch.path(), "; $OLD/", command, on));
  };
  const auto read = [&] {
    ask("vicinity describe");
    ask("vicinity get --id n7");
    ask("vicinity sample --seeds n1,n7,n59 --fanouts 3,2");
    ask("vicinity sample --seeds n2 --fanouts 4,4 --replace --seed 9");
    ask("vicinity walk --starts n3,n4 --length 5 --walks 2");
    ask("vicinity query --input s=n2,n9 'a = nodes(node, $s); b = neighbors(a, link, 2, "
        "where=\"label > 1\", columns=[features], edge_ids=true); c = negatives(a, link, 2)'");
    ask("vicinity query 'a = nodes(node, where=\"label = 3\")'");
    ask("vicinity query --explain --input s=n2,n9 'a = nodes(node, $s); b = neighbors(a, link, "
        "2)'");
  };
  read();
  ask("vicinity_train --epochs 1 --batch-size 8 --fanouts 3,2");
  maker.Run(absl::StrCat(
      "cd ", scratch.path(),
      "; printf 'id,features,label,split\\nx1,1 2 3,1,0\\nx2,4 5 6,2,0\\n' > nodes.csv;"
      "printf 'source,target\\nx1,n7\\nn7,x2\\nx1,x2\\n' > edges.csv;"
      "printf 'id,features\\nn7,9 9 9\\n' > other.csv; printf 'source,target\\nn1,n2\\n' > "
      "gone.csv;"
      "printf 'id\\nn59\\n' > gone-nodes.csv"));
  ask("vicinity write nodes.csv --nodes node");
  ask("vicinity write edges.csv --edges link");
  ask("vicinity write other.csv --nodes node --action update");
  ask("vicinity write gone.csv --edges link --action remove");
  ask("vicinity versions");
  ask("vicinity get --id x2");
  read();
  ask("vicinity watch --from 0 --once");
  ask("vicinity watch --cursor reader --once");
  ask("vicinity versions --cursors");
  VICINITY_REQUIRE_OK(testing::WriteTranscript(absl::StrCat(folder, "/calls.json"), proxy.calls()));
}

}  // namespace
}  // namespace vicinity
