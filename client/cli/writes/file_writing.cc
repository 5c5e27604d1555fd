#include "client/cli/writes/file_writing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

// What is read before it is written, and kept until that is over.
constexpr int64_t kChunkRows = 65536;
constexpr int64_t kChunkBytes = int64_t{8} << 20;
constexpr size_t kNamedRows = 10;  // in the error
constexpr absl::Duration kLookAgain = absl::Milliseconds(200);

absl::Status ToStatus(const Error& error) {
  return absl::Status(static_cast<absl::StatusCode>(error.code()), error.message());
}

// It says nothing of what was asked, so that the same may be asked again.
bool MayAnswerYet(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAborted(status) || absl::IsResourceExhausted(status);
}

}  // namespace

FileWriting::FileWriting(FileWritingOptions options, ChangeFile* file, Progress* progress)
    : options_(std::move(options)),
      file_(*file),
      progress_(*progress),
      letters_(options_.dead_letter) {}

absl::StatusOr<std::unique_ptr<FileWriting>> FileWriting::Create(FileWritingOptions options,
                                                                 std::unique_ptr<Graph> graph,
                                                                 ChangeFile* file,
                                                                 Progress* progress) {
  std::unique_ptr<FileWriting> writing(new FileWriting(std::move(options), file, progress));
  VICINITY_ASSIGN_OR_RETURN(writing->target_, writing->TargetOf(std::move(graph)));
  return writing;
}

absl::StatusOr<FileWriting::Target> FileWriting::TargetOf(std::unique_ptr<Graph> graph) const {
  Target target;
  target.graph = std::move(graph);
  Result<std::unique_ptr<Writer>> writer = Writer::Create(target.graph.get(), options_.writer);
  if (!writer.ok()) return ToStatus(writer.error());
  target.writer = *std::move(writer);
  VICINITY_ASSIGN_OR_RETURN(target.rows,
                            ChangeRows::Create(*target.graph, options_.subject, file_));
  return target;
}

absl::Status FileWriting::Run() {
  VICINITY_RETURN_IF_ERROR(letters_.CheckIsNew());
  const bool is_known = file_.num_rows() != ChangeFile::kUnknown;
  const int64_t total = is_known ? file_.num_rows() - std::max<int64_t>(options_.from, 0) : 0;
  progress_.Begin("writing", std::max<int64_t>(total, 0),
                  options_.subject.of_edges ? "edges" : "nodes");
  const absl::Status status = WriteAll();
  progress_.End();
  const absl::Status letters = letters_.Finish();
  VICINITY_RETURN_IF_ERROR(status);
  VICINITY_RETURN_IF_ERROR(letters);
  return num_refused_ > 0 && !letters_.wanted() ? Refused() : absl::OkStatus();
}

// Stops at the first row that is refused, unless there is a place for it.
absl::Status FileWriting::WriteAll() {
  while (letters_.wanted() || num_refused_ == 0) {
    VICINITY_ASSIGN_OR_RETURN(const ChangeFile::Found found, file_.Next());
    if (found == ChangeFile::Found::kEnd) break;
    if (file_.number() < options_.from) continue;
    last_number_ = file_.number();
    if (found == ChangeFile::Found::kBad) {
      Refuse(Json::object(), last_number_, file_.problem());
      continue;
    }
    AddRow();
    if (target_.rows->num_rows() < kChunkRows && target_.rows->num_bytes() < kChunkBytes) continue;
    VICINITY_RETURN_IF_ERROR(Flush());
  }
  return Flush();
}

void FileWriting::AddRow() {
  const absl::Status added = target_.rows->Add(file_.row());
  if (!added.ok()) {
    return Refuse(file_.row().ToJson(), file_.number(), std::string(added.message()));
  }
  rows_.push_back({file_.number(), static_cast<int64_t>(rows_.size())});
  file_.Keep();
}

absl::Status FileWriting::Flush() {
  if (target_.rows->num_rows() == 0) return absl::OkStatus();
  const absl::StatusOr<GraphChanges> changes = FindRows();
  const absl::Status status = changes.ok() ? Write(*changes) : SendNothing(changes.status());
  rows_.clear();
  file_.Forget();
  return status;
}

// Ids are looked up for as long as what they name would be sent again.
absl::StatusOr<GraphChanges> FileWriting::FindRows() {
  const absl::Time end = absl::Now() + absl::FromChrono(options_.writer.give_up_after);
  while (true) {
    absl::StatusOr<GraphChanges> changes = target_.rows->Take();
    if (changes.ok() || !MayAnswerYet(changes.status()) || absl::Now() >= end) return changes;
    absl::SleepFor(kLookAgain);
  }
}

absl::Status FileWriting::Write(const GraphChanges& changes) {
  Written written;
  const Error error = target_.writer->Write(changes, &written);
  for (const RefusedRow& refused : written.refused) {
    const std::string* const fault = target_.rows->FaultOf(refused.what.row);
    RefuseWritten(refused.what.row, fault != nullptr ? *fault : refused.why.message());
  }
  num_written_ += written.num_applied;
  for (const WrittenVersion& version : written.versions) {
    versions_[version.shard] = version.version;
  }
  progress_.Update(num_written_ + num_refused_);
  if (error.ok()) return absl::OkStatus();
  if (error.code() != ErrorCode::kFailedPrecondition || !MayGoOver(written)) {
    return GivenUp(written, ToStatus(error));
  }
  return GoOver(written, ToStatus(error));
}

absl::Status FileWriting::SendNothing(const absl::Status& why) {
  Written nothing;
  for (size_t row = 0; row < rows_.size(); ++row) {
    nothing.unsent.push_back({ChangeKind::kNewNodes, 0, static_cast<int64_t>(row)});
  }
  if (absl::IsFailedPrecondition(why) && MayGoOver(nothing)) return GoOver(nothing, why);
  return GivenUp(nothing, why);
}

// Edges' own ids are others in another dataset.
bool FileWriting::MayGoOver(const Written& written) const {
  const std::vector<std::string>& names = file_.names();
  const WriteSubject& subject = options_.subject;
  const bool has_edge_ids =
      subject.of_edges && subject.action != WriteAction::kAdd &&
      std::find(names.begin(), names.end(), subject.edge_id_field) != names.end();
  return written.unsure.empty() && !has_edge_ids && options_.reopen != nullptr;
}

absl::Status FileWriting::GoOver(const Written& written, const absl::Status& why) {
  absl::StatusOr<std::unique_ptr<Graph>> next = options_.reopen();
  if (!next.ok() || (*next)->fingerprint() == target_.graph->fingerprint()) {
    return GivenUp(written, why);
  }
  absl::StatusOr<Target> target = TargetOf(*std::move(next));
  if (!target.ok()) return GivenUp(written, target.status());
  progress_.Note("another dataset has taken the graph's place: what follows is written there");
  std::swap(target_, *target);
  versions_.clear();
  AddAgain(written.unsent);
  if (rows_.empty()) return absl::OkStatus();
  const absl::StatusOr<GraphChanges> changes = FindRows();
  return changes.ok() ? Write(*changes) : SendNothing(changes.status());
}

// Of those that were read these alone, once more.
void FileWriting::AddAgain(const std::vector<ChangedRow>& unsent) {
  std::vector<Row> rows;
  for (const ChangedRow& each : unsent) {
    const Row& row = rows_[static_cast<size_t>(each.row)];
    const absl::Status added = target_.rows->Add(file_.Kept(row.kept));
    if (added.ok()) {
      rows.push_back(row);
    } else {
      Refuse(file_.Kept(row.kept).ToJson(), row.number, std::string(added.message()));
    }
  }
  rows_ = std::move(rows);
}

void FileWriting::Refuse(Json row, int64_t number, const std::string& reason) {
  ++num_refused_;
  if (reasons_.size() < kNamedRows) {
    reasons_.push_back(absl::StrCat(file_.Place(number), ": ", reason));
  }
  if (letters_.wanted()) letters_.Add(std::move(row), number, reason);
}

void FileWriting::RefuseWritten(int64_t row, const std::string& reason) {
  const Row& refused = rows_[static_cast<size_t>(row)];
  Refuse(file_.Kept(refused.kept).ToJson(), refused.number, reason);
}

absl::Status FileWriting::GivenUp(const Written& written, const absl::Status& why) {
  for (const ChangedRow& row : written.unsure) {
    RefuseWritten(row.row, "may be written or not: no answer came");
  }
  for (const ChangedRow& row : written.unsent) RefuseWritten(row.row, "was not sent");
  std::string text = absl::StrCat(why.message(), "\n", num_written_, " rows are written; ");
  if (letters_.wanted()) {
    absl::StrAppend(&text, "those up to ", file_.unit(), " ", last_number_,
                    " that may not be are in ", letters_.path());
  } else {
    absl::StrAppend(&text, "the first that may not be is ", file_.unit(), " ", FirstOpen(written),
                    " (--dead-letter FILE keeps all that may not be)");
  }
  absl::StrAppend(&text, ". ", WhereToGoOn());
  return absl::Status(why.code(), text);
}

int64_t FileWriting::FirstOpen(const Written& written) const {
  int64_t number = last_number_;
  for (const auto* rows : {&written.unsure, &written.unsent}) {
    if (rows->empty()) continue;
    number = std::min(number, rows_[static_cast<size_t>(rows->front().row)].number);
  }
  return number;
}

absl::Status FileWriting::Refused() const {
  std::string text = absl::StrCat(num_refused_, num_refused_ == 1 ? " row is" : " rows are",
                                  " refused, ", num_written_, " are written:");
  for (const std::string& reason : reasons_) absl::StrAppend(&text, "\n  ", reason);
  if (num_refused_ > static_cast<int64_t>(reasons_.size())) absl::StrAppend(&text, "\n  ...");
  absl::StrAppend(&text, "\n", WhereToGoOn(),
                  ", and --dead-letter FILE keeps what is refused and goes on");
  return absl::InvalidArgumentError(text);
}

std::string FileWriting::WhereToGoOn() const {
  return absl::StrCat("What is behind ", file_.unit(), " ", last_number_,
                      " was not read: --from-line ", last_number_ + 1, " goes on there");
}

}  // namespace vicinity::cli
