#include "client/writes/change_writer.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/shards/shard_access.h"
#include "client/shards/shard_requests.h"
#include "client/types/error.h"
#include "client/types/result.h"
#include "client/writes/batch_maker.h"
#include "client/writes/checked_changes.h"
#include "client/writes/keys_of_nodes.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Time = std::chrono::steady_clock::time_point;

Time Now() { return std::chrono::steady_clock::now(); }

constexpr std::chrono::nanoseconds kLookAgain = std::chrono::seconds(1);

// The server's word on the batch, not on the way to it.
bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsAlreadyExists(status) ||
         absl::IsNotFound(status);
}

// It says nothing of the batch, so that the same may be sent again.
bool IsNoAnswer(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

auto OrderOf(const ChangedRow& row) { return std::make_tuple(row.kind, row.part, row.row); }
auto OrderOf(const RefusedRow& row) { return OrderOf(row.what); }

template <typename Rows>
void SortOnce(Rows* rows) {
  std::sort(rows->begin(), rows->end(),
            [](const auto& a, const auto& b) { return OrderOf(a) < OrderOf(b); });
  const auto end = std::unique(rows->begin(), rows->end(), [](const auto& a, const auto& b) {
    return OrderOf(a) == OrderOf(b);
  });
  rows->erase(end, rows->end());
}

// Both sorted.
template <typename Others>
void LeaveOut(const Others& others, std::vector<ChangedRow>* rows) {
  const auto is_other = [&](const ChangedRow& row) {
    const auto at = std::lower_bound(
        others.begin(), others.end(), row,
        [](const auto& a, const ChangedRow& b) { return OrderOf(a) < OrderOf(b); });
    return at != others.end() && OrderOf(*at) == OrderOf(row);
  };
  rows->erase(std::remove_if(rows->begin(), rows->end(), is_other), rows->end());
}

}  // namespace

// One call of Write, in its thread. Of each shard:
//
//   idle --lane free--> asking --applied, refused--> idle, or over
//                        ^  |
//                   time |  | no answer                     any --given up, other errors--> over
//                        |  v
//                       waiting
//
// The lane is taken from idle to idle, or over. A batch that an earlier call gave up on is sent
// first, with none of this call's rows.
class WriteCall {
 public:
  WriteCall(ChangeWriter* writer, const CheckedChanges& changes, const CallContext& context,
            Written* written)
      : writer_(*writer),
        options_(writer->options_),
        changes_(changes),
        context_(context),
        written_(*written) {}

  // Only where memory has run out midway is anything under way still.
  ~WriteCall() {
    for (auto& [shard, work] : works_) {
      if (!work.has_lane) continue;
      if (work.state == State::kAsking) {
        WaitForAnswer(&work);
        work.lane->sent()->unsure = true;
      }
      writer_.Release(work.shard);
    }
  }
  WriteCall(const WriteCall&) = delete;
  WriteCall& operator=(const WriteCall&) = delete;

  absl::Status Run() {
    absl::Status sorted = SortByOwner();
    if (!sorted.ok()) return SendNothing(sorted);
    for (auto& [shard, work] : works_) {
      work.shard = {shard};
      work.lane = &writer_.lanes_[shard].lane;
      work.since = Now();
    }
    while (Step()) {
    }
    return Finish();
  }

 private:
  enum class State : uint8_t { kIdle, kAsking, kWaiting, kOver };

  struct Range {
    size_t begin = 0;
    size_t end = 0;
    size_t size() const { return end - begin; }
  };

  struct ShardWork {
    ShardId shard{};
    WriteLane* lane = nullptr;
    bool has_lane = false;
    std::vector<RowRef> rows;
    Range flight;               // of the rows, those under way
    std::vector<Range> halves;  // of a batch that was refused, the next one last
    size_t next = 0;            // rows from here on come after those
    State state = State::kIdle;
    Time since{};       // idle: then; else when the batch was first sent in this call
    Time not_before{};  // waiting
    std::chrono::nanoseconds wait{};
    uint64_t version = 0;
    absl::Status error;                  // why it is over, if not all is applied or refused
    std::optional<absl::Status> answer;  // guarded by the writer's mutex

    bool has_more() const { return !halves.empty() || next < rows.size(); }
  };

  ChangedRow RowOf(const RowRef& ref) const {
    const CheckedPart& part = changes_.parts()[ref.part];
    return {part.kind, part.part, ref.row};
  }

  void Refuse(const RowRef& ref, const absl::Status& why) {
    written_.refused.push_back({RowOf(ref), ToError(why)});
  }

  absl::Status SortByOwner() {
    const auto& parts = changes_.parts();
    gone_keys_.resize(parts.size());
    for (uint32_t p = 0; p < parts.size(); ++p) {
      num_rows_ += parts[p].num_rows;
      if (parts[p].kind == ChangeKind::kRemovedNodes) {
        VICINITY_RETURN_IF_ERROR(SortGoneNodes(p));
        continue;
      }
      VICINITY_ASSIGN_OR_RETURN(const absl::flat_hash_set<int64_t> strays, StraysOf(parts[p]));
      for (int64_t row = 0; row < parts[p].num_rows; ++row) {
        const RowRef ref{p, static_cast<uint32_t>(row)};
        const absl::Status fault =
            strays.contains(row) ? NoSource(parts[p], row) : changes_.RowFault(parts[p], row);
        if (!fault.ok()) {
          Refuse(ref, fault);
          continue;
        }
        works_[changes_.OwnerOf(parts[p], row).value].rows.push_back(ref);
      }
    }
    return absl::OkStatus();
  }

  NodeTypeId SourceTypeOf(const CheckedPart& part) const {
    return {changes_.schema().edge_types[part.type].source_type};
  }

  // Rows of new edges whose sources are ids that no node has: the targets' shards cannot tell, and
  // who draws them could not read their rows.
  absl::StatusOr<absl::flat_hash_set<int64_t>> StraysOf(const CheckedPart& part) {
    absl::flat_hash_set<int64_t> strays;
    if (part.kind != ChangeKind::kNewEdges) return strays;
    const NodeTypeId type = SourceTypeOf(part);
    std::vector<int64_t> rows;  // of those that are not in the files
    std::vector<int64_t> sources;
    for (int64_t row = 0; row < part.num_rows; ++row) {
      const int64_t source = part.sources[row];
      if (source < writer_.book_.num_nodes(type) ||
          !writer_.book_.Contains(type, GlobalNode{source})) {
        continue;
      }
      rows.push_back(row);
      sources.push_back(source);
    }
    VICINITY_ASSIGN_OR_RETURN(const std::vector<char> there,
                              writer_.counts_.AreThere(type, sources, context_));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!there[i]) strays.insert(rows[i]);
    }
    return strays;
  }

  absl::Status NoSource(const CheckedPart& part, int64_t row) const {
    return absl::NotFoundError(absl::StrCat(
        "there is no node ", part.sources[row], " of type \"",
        changes_.schema().node_types[SourceTypeOf(part).value].name, "\", the source"));
  }

  absl::Status SortGoneNodes(uint32_t p) {
    const CheckedPart& part = changes_.parts()[p];
    std::vector<int64_t> nodes;
    std::vector<uint32_t> rows;
    for (int64_t row = 0; row < part.num_rows; ++row) {
      const auto row32 = static_cast<uint32_t>(row);
      const absl::Status fault = changes_.RowFault(part, row);
      if (!fault.ok()) {
        Refuse({p, row32}, fault);
        continue;
      }
      nodes.push_back(part.nodes[row]);
      rows.push_back(row32);
    }
    VICINITY_ASSIGN_OR_RETURN(const KeysOfNodes found,
                              FindKeysOfNodes(writer_.router_, writer_.book_, &writer_.counts_,
                                              {part.type}, nodes, context_));
    gone_keys_[p].resize(part.num_rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      gone_keys_[p][rows[i]] = found.keys[i];
      if (!found.faults[i].ok()) {
        Refuse({p, rows[i]}, found.faults[i]);
        continue;
      }
      const ShardId owner = changes_.OwnerOf(part, rows[i]);
      const ShardId lists = writer_.book_.DirectoryShard(found.keys[i]);
      const bool same = owner == lists;
      works_[owner.value].rows.push_back({p, rows[i], {true, same}});
      if (!same) works_[lists.value].rows.push_back({p, rows[i], {false, true}});
    }
    return absl::OkStatus();
  }

  absl::Status SendNothing(const absl::Status& why) {
    written_.refused.clear();
    for (const CheckedPart& part : changes_.parts()) {
      for (int64_t row = 0; row < part.num_rows; ++row) {
        written_.unsent.push_back({part.kind, part.part, row});
      }
    }
    return Explain(why);
  }

  // False: all is over.
  bool Step() {
    std::vector<ShardWork*> answered;
    std::vector<ShardWork*> ready;
    std::vector<ShardWork*> late;
    bool running = false;
    {
      MutexLock lock(&writer_.mu_);
      running = Look(&answered, &ready, &late);
      if (running && answered.empty() && ready.empty() && late.empty()) {
        writer_.changed_.WaitFor(&writer_.mu_, TimeToWait());
        return true;
      }
    }
    for (ShardWork* work : late) FailIdle(work);
    for (ShardWork* work : answered) OnAnswer(work, *std::exchange(work->answer, std::nullopt));
    for (ShardWork* work : ready) Send(work);
    return running;
  }

  // Which shards have answered; to which a batch can go, their lanes being taken then; and which
  // lanes have not been free for too long.
  bool Look(std::vector<ShardWork*>* answered, std::vector<ShardWork*>* ready,
            std::vector<ShardWork*>* late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_.mu_) {
    const Time now = Now();
    int running = 0;
    for (auto& [shard, work] : works_) {
      if (work.state == State::kOver) continue;
      if (++running > options_.shards_at_once) break;
      if (work.answer.has_value()) {
        answered->push_back(&work);
      } else if (work.state == State::kIdle && writer_.TryTake(work.shard)) {
        work.has_lane = true;
        ready->push_back(&work);
      } else if (work.state == State::kIdle &&
                 now - work.since > std::max(options_.give_up_after, options_.least_turn)) {
        late->push_back(&work);
      } else if (work.state == State::kWaiting && work.not_before <= now) {
        ready->push_back(&work);
      }
    }
    return running > 0;
  }

  std::chrono::nanoseconds TimeToWait() const {
    std::chrono::nanoseconds wait = kLookAgain;
    const Time now = Now();
    for (const auto& [shard, work] : works_) {
      if (work.state != State::kWaiting) continue;
      wait = std::min<std::chrono::nanoseconds>(wait, work.not_before - now);
    }
    return std::max(wait, std::chrono::nanoseconds(1));
  }

  void Send(ShardWork* work) {
    if (work->state == State::kIdle) {
      work->since = Now();
      work->wait = options_.first_wait;
      work->flight = {};
      if (work->lane->sent() == nullptr) {
        work->flight = NextRange(work);
        work->lane->Begin(MakeBatch(changes_, gone_keys_, RowsOf(*work, work->flight)),
                          options_.make_session);
      }
    }
    work->state = State::kAsking;
    SentBatch* const sent = work->lane->sent();
    const ShardWrite write{&sent->session, &sent->batch, options_.durability, &sent->applied};
    writer_.router_.shard(work->shard).Ask(write, context_, [this, work](absl::Status status) {
      // The call may end, and the writer go, as soon as the mutex is free.
      MutexLock lock(&writer_.mu_);
      work->answer = std::move(status);
      writer_.changed_.NotifyAll();
    });
  }

  Range NextRange(ShardWork* work) {
    if (!work->halves.empty()) {
      const Range half = work->halves.back();
      work->halves.pop_back();
      return half;
    }
    const Range left{work->next, work->rows.size()};
    const size_t count = CountForBatch(changes_, RowsOf(*work, left), options_.batch_bytes);
    work->next += count;
    return {left.begin, left.begin + count};
  }

  static absl::Span<const RowRef> RowsOf(const ShardWork& work, const Range& range) {
    return absl::MakeConstSpan(work.rows).subspan(range.begin, range.size());
  }

  void OnAnswer(ShardWork* work, const absl::Status& status) {
    SentBatch* const sent = work->lane->sent();
    const bool of_earlier_call = work->flight.size() == 0;
    if (status.ok() && sent->applied.retired) {
      FailRetired(work);
    } else if (status.ok()) {
      OnApplied(work);
    } else if (IsRefusal(status)) {
      work->lane->Drop(options_.make_session);
      Halve(work, status);
    } else if (absl::IsOutOfRange(status) && of_earlier_call) {
      work->lane->Drop(options_.make_session);  // that call has said what is not known
    } else if (absl::IsOutOfRange(status) && !sent->unsure && !sent->renewed) {
      work->lane->BeginSession(options_.make_session());
      work->not_before = Time();
      work->state = State::kWaiting;
      return;
    } else if (IsNoAnswer(status)) {
      sent->unsure = true;
      const bool wait = Now() - work->since < options_.give_up_after && !absl::IsCancelled(status);
      if (wait) return WaitAgain(work);
      Fail(work, status);
    } else {
      Fail(work, status);
    }
    work->state = work->error.ok() && work->has_more() ? State::kIdle : State::kOver;
    work->since = Now();
    work->has_lane = false;
    writer_.Release(work->shard);
  }

  void FailIdle(ShardWork* work) {
    work->flight = {};
    ListUnsent(*work);
    work->error = absl::DeadlineExceededError(absl::StrCat(
        "shard ", work->shard.value, ": other calls of this writer still wait for its answer"));
    work->state = State::kOver;
  }

  void WaitForAnswer(ShardWork* work) {
    MutexLock lock(&writer_.mu_);
    while (!work->answer.has_value()) writer_.changed_.WaitFor(&writer_.mu_, kLookAgain);
  }

  void OnApplied(ShardWork* work) {
    const AppliedBatch& applied = work->lane->sent()->applied;
    work->version = std::max(work->version, work->flight.size() > 0 ? applied.version : 0);
    PlaceIds(changes_, RowsOf(*work, work->flight), applied, &written_);
    work->lane->OnApplied();
  }

  // Until only rows that are wrong themselves are left. Nothing if it was an earlier call's.
  void Halve(ShardWork* work, const absl::Status& why) {
    const Range whole = work->flight;
    if (whole.size() == 1) return Refuse(work->rows[whole.begin], why);
    if (whole.size() == 0) return;
    const size_t middle = whole.begin + whole.size() / 2;
    work->halves.push_back({middle, whole.end});
    work->halves.push_back({whole.begin, middle});
  }

  void WaitAgain(ShardWork* work) {
    work->not_before = Now() + work->wait;
    work->wait = std::min(2 * work->wait, options_.longest_wait);
    work->state = State::kWaiting;
  }

  void Fail(ShardWork* work, const absl::Status& status) {
    const bool unsure = work->lane->sent()->unsure;
    // Else it is first when the lane goes on. A session that is forgotten cannot.
    const bool is_last_word = !unsure || absl::IsOutOfRange(status);
    if (is_last_word) work->lane->Drop(options_.make_session);
    List(*work, work->flight, unsure ? &written_.unsure : &written_.unsent);
    ListUnsent(*work);
    work->error = status;
  }

  // What got no answer before is known now, too: it is not applied.
  void FailRetired(ShardWork* work) {
    work->lane->Drop(options_.make_session);
    List(*work, work->flight, &written_.unsent);
    ListUnsent(*work);
    work->error = absl::FailedPreconditionError(absl::StrCat(
        "shard ", work->shard.value,
        ": another dataset has taken the place of the one that this graph is of, with what was "
        "written: open the graph, and a writer, anew"));
  }

  void ListUnsent(const ShardWork& work) {
    for (const Range& half : work.halves) List(work, half, &written_.unsent);
    List(work, {work.next, work.rows.size()}, &written_.unsent);
  }

  void List(const ShardWork& work, const Range& range, std::vector<ChangedRow>* out) const {
    for (const RowRef& ref : RowsOf(work, range)) out->push_back(RowOf(ref));
  }

  absl::Status Finish() {
    SortOnce(&written_.refused);
    SortOnce(&written_.unsure);
    SortOnce(&written_.unsent);
    LeaveOut(written_.refused, &written_.unsure);
    LeaveOut(written_.refused, &written_.unsent);
    LeaveOut(written_.unsure, &written_.unsent);
    const auto size = [](const auto& rows) { return static_cast<int64_t>(rows.size()); };
    written_.num_applied =
        num_rows_ - size(written_.refused) - size(written_.unsure) - size(written_.unsent);
    for (const CheckedPart& part : changes_.parts()) {
      if (part.kind != ChangeKind::kNewNodes) continue;
      writer_.counts_.OnNew({part.type}, written_.node_ids[part.part]);
    }
    absl::Status error;
    for (const auto& [shard, work] : works_) {
      if (work.version > 0) written_.versions.push_back({shard, work.version});
      if (error.ok()) error = work.error;
    }
    return error.ok() ? error : Explain(error);
  }

  absl::Status Explain(const absl::Status& error) const {
    const std::string rows =
        absl::StrCat("of ", num_rows_, " nodes and edges ", written_.num_applied, " are written, ",
                     written_.refused.size(), " are refused, ", written_.unsure.size(),
                     " may be written or not, and ", written_.unsent.size(), " are not");
    if (absl::IsUnimplemented(error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the graph is served read-only: start its servers with --changes DIR; ",
                       rows, ": ", error.message()));
    }
    return absl::Status(error.code(), absl::StrCat(rows, ": ", error.message()));
  }

  ChangeWriter& writer_;
  const ChangeWriterOptions& options_;
  const CheckedChanges& changes_;
  const CallContext context_;
  Written& written_;
  GoneKeys gone_keys_;
  int64_t num_rows_ = 0;
  std::map<int32_t, ShardWork> works_;  // by shard; they stay where they are
};

ChangeWriter::ChangeWriter(const ShardRouter& router, ChangeWriterOptions options)
    : router_(router),
      book_(router.book().Growing()),
      options_(std::move(options)),
      counts_(router, book_),
      lanes_(router.book().num_shards()) {}

bool ChangeWriter::TryTake(ShardId shard) {
  Lane& lane = lanes_[shard.value];
  return !std::exchange(lane.taken, true);
}

void ChangeWriter::Release(ShardId shard) {
  MutexLock lock(&mu_);
  lanes_[shard.value].taken = false;
  changed_.NotifyAll();
}

absl::Status ChangeWriter::Write(const GraphChanges& changes, const CallContext& context,
                                 Written* written) {
  *written = Written();
  VICINITY_ASSIGN_OR_RETURN(const CheckedChanges checked,
                            CheckedChanges::Check(router_.schema(), book_, changes));
  for (const CheckedPart& part : checked.parts()) {
    if (part.kind == ChangeKind::kNewNodes) written->node_ids.emplace_back(part.num_rows, -1);
    if (part.kind == ChangeKind::kNewEdges) written->edge_ids.emplace_back(part.num_rows, -1);
  }
  return WriteCall(this, checked, context, written).Run();
}

}  // namespace vicinity
