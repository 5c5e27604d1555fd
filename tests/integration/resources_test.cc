// What the programs do where the machine has not got what they need: a line and an exit code, or
// service all the same.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/common/file.h"
#include "proto/common/last_words.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/hosts/memory_cgroup.h"
#include "tests/testing/hosts/running_program.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::RunningProgram;

constexpr absl::Duration kLimit = absl::Seconds(60);

struct End {
  int code = 0;
  std::string output;
};

End EndOf(RunningProgram* program) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const int code, program->WaitForExit(kLimit));
  return {code, program->output()};
}

class ResourcesTest {
 public:
  ResourcesTest() {
    const testing::MemoryGraph graph = testing::RandomGraph({});
    VICINITY_REQUIRE_OK(WriteGraph(graph, testing::Shuffled(graph, 2, 5), data()));
  }

 protected:
  std::string data() const { return folder_.File("graph"); }

  // A shell that sets limits and then becomes `command`, its "$@".
  static std::unique_ptr<RunningProgram> Under(const std::string& limits,
                                               const std::vector<std::string>& command) {
    std::vector<std::string> args = {"/bin/sh", "-c", absl::StrCat("ulimit -c 0; ", limits), "sh"};
    args.insert(args.end(), command.begin(), command.end());
    auto program = RunningProgram::Start(args);
    VICINITY_REQUIRE_OK(program);
    return *std::move(program);
  }
  std::vector<std::string> Server(const std::vector<std::string>& extra = {}) const {
    std::vector<std::string> command = {"server/vicinityd", "--data",  data(), "--listen",
                                        "127.0.0.1:0",      "--drain", "0.1",  "--ready-file",
                                        ready_file()};
    command.insert(command.end(), extra.begin(), extra.end());
    return command;
  }
  std::string ready_file() const { return folder_.File("ready"); }

  // What `vicinity status` says of the server that wrote the ready file.
  End Status() const {
    VICINITY_ASSERT_OK_AND_ASSIGN(const std::string address, ReadFile(ready_file()));
    const auto status =
        Under("exec \"$@\"", {"client/cli/vicinity", "status", "--format", "json", "--server",
                              std::string(absl::StripSuffix(address, "\n"))});
    return EndOf(status.get());
  }

  const testing::TempDir folder_;
};

TEST_CASE_METHOD(ResourcesTest, "a server without room for its threads and memory says so at once",
                 "[resources]") {
  const int mib = GENERATE(100, 200, 300, 400);
  const auto server = Under(absl::StrCat("ulimit -v ", mib * 1024, "; exec \"$@\""), Server());
  const End end = EndOf(server.get());
  CAPTURE(mib, end.output);
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.output, Catch::Contains("a server needs") && Catch::Contains("ulimit -v"));
}

TEST_CASE_METHOD(ResourcesTest, "a tool without memory ends with a line or does its work",
                 "[resources]") {
  const int mib = GENERATE(30, 60, 100, 200);
  const auto tool = Under(absl::StrCat("ulimit -v ", mib * 1024, "; exec \"$@\""),
                          {"client/cli/vicinity", "verify", data()});
  const End end = EndOf(tool.get());
  CAPTURE(mib, end.output);
  CHECK((end.code == 0 || end.code == 1 || end.code == kResourcesExitCode || end.code == 127));
  CHECK_FALSE(end.output.empty());  // 127: not even its libraries have room, which the loader says
}

TEST_CASE_METHOD(ResourcesTest, "a server that may start few processes says so at once",
                 "[resources]") {
  const int processes = GENERATE(4, 8);
  // Root has no such limit: another user, who may still read what root may.
  const std::string caps = "-all,+dac_override,+dac_read_search";
  const auto server =
      Under(absl::StrCat("exec prlimit --nproc=", processes, ":", processes,
                         " setpriv --reuid=54321 --inh-caps=", caps, " --ambient-caps=", caps,
                         " --bounding-set=", caps, " \"$@\""),
            Server());
  const End end = EndOf(server.get());
  CAPTURE(processes, end.output);
  if (absl::StrContains(end.output, "setpriv:") || absl::StrContains(end.output, "prlimit:")) {
    WARN("not root, or in a sandbox: the limit of processes is not tried");
    return;
  }
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.output,
             Catch::Contains("threads") && Catch::Contains(absl::StrCat("ulimit -u: ", processes)));
}

TEST_CASE_METHOD(ResourcesTest, "a server that may open few files serves", "[resources]") {
  const auto server = Under("ulimit -n 64; exec \"$@\"", Server());
  VICINITY_REQUIRE_OK(server->WaitForLine("ready in", kLimit));
  CHECK(Status().code == 0);
  server->Signal(SIGTERM);
  CHECK(EndOf(server.get()).code == 0);
}

TEST_CASE_METHOD(ResourcesTest, "a server in a container with little memory serves or is killed",
                 "[resources]") {
  const int mib = GENERATE(8, 24, 48);
  const auto group = testing::MemoryCgroup::Create(int64_t{mib} << 20);
  if (!group.ok()) {
    WARN("no memory cgroup: " << group.status());
    return;
  }
  const std::string go = folder_.File("go");
  const auto server =
      Under(absl::StrCat("until [ -e ", go, " ]; do sleep 0.01; done; exec \"$@\""), Server());
  VICINITY_REQUIRE_OK((*group)->Add(server->pid()));
  VICINITY_REQUIRE_OK(WriteFileAtomically(go, ""));
  const absl::Status ready = server->WaitForLine("ready in", kLimit);
  CAPTURE(mib, ready);
  if (ready.ok()) {
    CHECK(Status().code == 0);
    server->Signal(SIGTERM);
    CHECK(EndOf(server.get()).code == 0);
  } else {
    CHECK(EndOf(server.get()).code == 128 + SIGKILL);  // the kernel's way, which leaves no word
    CHECK((*group)->killed() > 0);
  }
}

// Runs `script`, which mounts something at $1, the folder, and then the command. No output where
// nobody may.
End Mounted(const std::string& folder, const std::string& script,
            const std::vector<std::string>& command) {
  std::vector<std::string> args = {"/usr/bin/unshare",
                                   "--mount",
                                   "/bin/sh",
                                   "-c",
                                   absl::StrCat(script, " || exit 99; shift; exec \"$@\""),
                                   "sh",
                                   folder};
  args.insert(args.end(), command.begin(), command.end());
  auto program = RunningProgram::Start(args);
  VICINITY_REQUIRE_OK(program);
  End end = EndOf(program->get());
  if (end.code == 99 || absl::StrContains(end.output, "unshare")) {
    WARN("may not mount here: " << end.output);
    end.output.clear();
  }
  return end;
}

TEST_CASE_METHOD(ResourcesTest, "a full disk ends a writer with a line, and leaves nothing",
                 "[resources]") {
  const std::string full = folder_.File("full");
  std::filesystem::create_directory(full);
  // What is on the mounted disk can be seen from inside alone: so the shell looks, too.
  const End end = Mounted(full, "mount -t tmpfs -o size=64k none \"$1\"",
                          {"/bin/sh", "-c", "\"$@\"; code=$?; ls -A " + full + "; exit $code", "sh",
                           "client/cli/vicinity", "generate", "block-model", "--num-nodes", "5000",
                           "--output", full + "/set"});
  if (end.output.empty()) return;
  CAPTURE(end.output);
  CHECK(end.code == 1);
  CHECK_THAT(end.output, Catch::Contains("disk") || Catch::Contains("No space left on device"));
  CHECK_THAT(end.output, !Catch::Contains("\nset"));
}

TEST_CASE_METHOD(ResourcesTest, "a server whose ready file has no room says so", "[resources]") {
  const std::string full = folder_.File("full");
  std::filesystem::create_directory(full);
  const End end =
      Mounted(full, "mount -t tmpfs -o size=4k none \"$1\" && head -c 4096 /dev/zero >\"$1/all\"",
              {"server/vicinityd", "--data", data(), "--listen", "127.0.0.1:0", "--ready-file",
               full + "/ready"});
  if (end.output.empty()) return;
  CAPTURE(end.output);
  CHECK(end.code == kResourcesExitCode);
  CHECK_THAT(end.output, Catch::Contains("No space left on device"));
}

TEST_CASE_METHOD(ResourcesTest, "a read-only disk is read, and a writer says that it is one",
                 "[resources]") {
  const std::string mount = "mount --bind -o ro \"$1\" \"$1\"";
  const End verified = Mounted(data(), mount, {"client/cli/vicinity", "verify", data()});
  if (verified.output.empty()) return;
  CHECK(verified.code == 0);
  const End ranked = Mounted(
      data(), mount, {"client/cli/vicinity", "rank", data(), "--fanouts", "2", "--seeds", "all"});
  CAPTURE(ranked.output);
  CHECK(ranked.code == 6);
  CHECK_THAT(ranked.output, Catch::Contains("Read-only file system"));
}

// A pipe that is full and that nobody reads.
class FullPipe {
 public:
  explicit FullPipe(const std::string& path) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    reader_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE((reader_ >= 0 && writer_ >= 0));
    const std::string bytes(4096, 'x');
    while (write(writer_, bytes.data(), bytes.size()) > 0) {
    }
  }
  ~FullPipe() {
    close(reader_);
    close(writer_);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

 private:
  int reader_ = -1;
  int writer_ = -1;
};

TEST_CASE_METHOD(ResourcesTest,
                 "a log that nobody reads keeps a server neither from serving nor "
                 "from stopping",
                 "[resources]") {
  const std::string path = folder_.File("log");
  const FullPipe pipe(path);
  // The shell tells of the server's end on a stream that is read.
  const auto server = Under(absl::StrCat("trap 'kill -TERM $pid' TERM; \"$@\" 2>", path,
                                         " & pid=$!; until [ -s ", ready_file(),
                                         " ]; do sleep 0.01; done; echo started; wait $pid; "
                                         "wait $pid; echo ended with $?"),
                            Server({"--log-level", "debug"}));
  VICINITY_REQUIRE_OK(server->WaitForLine("started", kLimit));
  for (int i = 0; i < 3; ++i) {
    const End status = Status();
    CAPTURE(status.output);
    REQUIRE(status.code == 0);
    const auto json = nlohmann::json::parse(status.output, nullptr, false);
    REQUIRE(json.is_object());
    CHECK_THAT(json.dump(), Catch::Contains("log-queue-bytes"));
  }
  server->Signal(SIGTERM);
  VICINITY_CHECK_OK(server->WaitForLine("ended with 0", kLimit));
}

}  // namespace
}  // namespace vicinity
