#include "partition/overlay/delta_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/overlay/failpoint.h"
#include "partition/overlay/store_log.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

enum Family : size_t { kMeta, kChanges, kRows, kNumFamilies };
constexpr std::array<const char*, kNumFamilies> kFamilyNames = {"default", "changes", "rows"};

constexpr char kIdentityKey[] = "identity";
constexpr char kFormatKey[] = "format";
constexpr char kWriterKey[] = "writer";
constexpr char kShownKey[] = "shown";
constexpr char kCatchingUpKey[] = "catching-up";
constexpr std::string_view kCursorKeys = "cursor/";  // and its name
constexpr char kFormat[] = "1";
constexpr int kJobs = 4;

// Of the store as a whole, or the sum over its families.
struct Property {
  const std::string& name;
  bool is_sum;
};

Property PropertyOf(StoreNumber which) {
  using Names = rocksdb::DB::Properties;
  switch (which) {
    case StoreNumber::kBufferBytes:
      return {Names::kSizeAllMemTables, true};
    case StoreNumber::kCacheBytes:  // which families share
      return {Names::kBlockCacheUsage, false};
    case StoreNumber::kReaderBytes:
      return {Names::kEstimateTableReadersMem, true};
    case StoreNumber::kFileBytes:
      return {Names::kLiveSstFilesSize, true};
    case StoreNumber::kPendingBytes:
      return {Names::kEstimatePendingCompactionBytes, true};
    case StoreNumber::kFlushes:
      return {Names::kNumRunningFlushes, false};
    case StoreNumber::kMerges:
      return {Names::kNumRunningCompactions, false};
    case StoreNumber::kWriteStopped:
      return {Names::kIsWriteStopped, false};
    case StoreNumber::kWriteRate:
      return {Names::kActualDelayedWriteRate, false};
    case StoreNumber::kErrors:
      break;
  }
  return {Names::kBackgroundErrors, true};
}

rocksdb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Big-endian, so that the order of keys is that of what they say.
template <typename T>
void AppendBig(T value, std::string* key) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    key->push_back(static_cast<char>(value >> shift & 0xff));
  }
}

std::string KeyOf(uint64_t version) {
  std::string key;
  AppendBig(version, &key);
  return key;
}

std::string CursorKeyOf(std::string_view name) { return std::string(kCursorKeys).append(name); }

uint64_t VersionOf(const rocksdb::Slice& key) {
  uint64_t version = 0;
  for (size_t i = 0; i < key.size(); ++i) version = version << 8 | static_cast<uint8_t>(key[i]);
  return version;
}

std::string KeyOf(const RowPlace& place) {
  std::string key;
  AppendBig(static_cast<uint8_t>(place.part.kind), &key);
  AppendBig(static_cast<uint32_t>(place.part.type), &key);
  AppendBig(static_cast<uint32_t>(place.part.column + 1), &key);
  AppendBig(place.row, &key);
  AppendBig(place.version, &key);
  return key;
}

// A value and a sum of it under its key: what is read is what was written there, or an error.
constexpr size_t kSumBytes = sizeof(uint64_t);

uint64_t SumOf(std::string_view key, std::string_view value) {
  return Checksum(value, Checksum(key));
}

std::string Sealed(std::string_view key, std::string_view value) {
  const uint64_t sum = SumOf(key, value);
  std::string sealed(value);
  sealed.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return sealed;
}

absl::StatusOr<std::string_view> Unsealed(std::string_view key, std::string_view sealed) {
  uint64_t sum = 0;
  if (sealed.size() >= kSumBytes) {
    std::memcpy(&sum, sealed.data() + sealed.size() - kSumBytes, kSumBytes);
    sealed.remove_suffix(kSumBytes);
    if (sum == SumOf(key, sealed)) return sealed;
  }
  return absl::DataLossError("a stored value does not have the sum that was stored with it");
}

absl::Status FromRocks(const rocksdb::Status& status, const std::string& folder) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat(folder, ": ", status.ToString());
  if (status.IsCorruption()) return absl::DataLossError(text);
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(text);
  if (status.IsNotFound()) return absl::NotFoundError(text);
  return absl::UnavailableError(text);
}

// Tells of a disk that is full when something in the background finds it so, and keeps RocksDB from
// going on by itself then: Reopen alone does, from what is on the disk.
class FullDisk final : public rocksdb::EventListener {
 public:
  explicit FullDisk(std::function<void()> on_full) : on_full_(std::move(on_full)) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* error) override {
    if (error->IsNoSpace()) on_full_();
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status error,
                            bool* recovers) override {
    if (error.IsNoSpace()) *recovers = false;
  }

 private:
  const std::function<void()> on_full_;
};

// `make`: there was none before. Else a store that has lost its beginning would be a new one.
rocksdb::DBOptions DbOptions(const DeltaStoreOptions& options, bool make) {
  rocksdb::DBOptions db;
  db.create_if_missing = make;
  db.create_missing_column_families = make;
  // The default recovers to a point in time: a damaged byte in the middle of the log would open
  // without a word and without what came after it.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.max_total_wal_size = static_cast<uint64_t>(options.log_bytes);
  db.max_background_jobs = kJobs;
  db.max_open_files = 512;
  db.paranoid_checks = true;
  if (options.env != nullptr) db.env = options.env;
  return db;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const DeltaStoreOptions& options,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = static_cast<size_t>(options.buffer_bytes);
  family.max_write_buffer_number = 2;
  family.memtable_protection_bytes_per_key = 8;
  family.compression = rocksdb::kNoCompression;  // rows of numbers
  family.level0_slowdown_writes_trigger = 40;
  family.level0_stop_writes_trigger = 80;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.checksum = rocksdb::kXXH3;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

// Not waited for: who has the folder has it for as long as it serves.
absl::StatusOr<FolderLock> LockOf(const std::string& folder) {
  LockWait no_wait;
  no_wait.limit = absl::ZeroDuration();
  absl::StatusOr<FolderLock> lock = FolderLock::Take(folder, no_wait);
  if (!absl::IsFailedPrecondition(lock.status())) return lock;
  return absl::FailedPreconditionError(
      absl::StrCat(lock.status().message(),
                   ": another server serves from here; stop that one, or name another folder of "
                   "changes"));
}

}  // namespace

DeltaStore::Commit::Commit(const DeltaStore& store)
    : store_(store),
      batch_(std::make_unique<rocksdb::WriteBatch>(0, 0, /*protection_bytes_per_key=*/8, 0)) {}

DeltaStore::Commit::~Commit() = default;

absl::Status DeltaStore::Commit::Put(size_t family, const std::string& key,
                                     std::string_view value) {
  const std::string sealed = Sealed(key, value);
  return FromRocks(batch_->Put(store_.families_[family], SliceOf(key), SliceOf(sealed)),
                   store_.folder_);
}

absl::Status DeltaStore::Commit::PutRow(const RowPlace& place, std::string_view value) {
  return Put(kRows, KeyOf(place), value);
}

absl::Status DeltaStore::Commit::PutChange(uint64_t version, std::string_view change) {
  last_version_ = version;
  return Put(kChanges, KeyOf(version), change);
}

absl::Status DeltaStore::Commit::PutShown(uint64_t version) {
  return Put(kMeta, kShownKey, KeyOf(version));
}

int64_t DeltaStore::Commit::bytes() const { return static_cast<int64_t>(batch_->GetDataSize()); }

DeltaStore::DeltaStore(std::string folder, std::string identity, const DeltaStoreOptions& options,
                       FolderLock lock, std::unique_ptr<HighWater> high_water)
    : folder_(std::move(folder)),
      identity_(std::move(identity)),
      options_(options),
      lock_(std::move(lock)),
      high_water_(std::move(high_water)) {}

DeltaStore::~DeltaStore() { CloseDb(); }

void DeltaStore::CloseDb() {
  for (rocksdb::ColumnFamilyHandle* const family : families_) {
    db_->DestroyColumnFamilyHandle(family);
  }
  families_.clear();
  db_.reset();
}

absl::StatusOr<std::unique_ptr<DeltaStore>> DeltaStore::Open(const std::string& folder,
                                                             const std::string& identity,
                                                             const DeltaStoreOptions& options) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, folder, "mkdir");
  }
  Pass(Failpoint::kStoreFolderMade);
  VICINITY_ASSIGN_OR_RETURN(FolderLock lock, LockOf(folder));
  Pass(Failpoint::kStoreLocked);
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<HighWater> high_water,
                            HighWater::Open(absl::StrCat(folder, "/high-water")));
  Pass(Failpoint::kStoreMarkOpened);
  std::unique_ptr<DeltaStore> store(
      new DeltaStore(folder, identity, options, std::move(lock), std::move(high_water)));
  VICINITY_RETURN_IF_ERROR(store->OpenDb(/*to_write=*/true));
  Pass(Failpoint::kStoreDbOpened);
  VICINITY_RETURN_IF_ERROR(store->CheckIdentity());
  Pass(Failpoint::kStoreIdentified);
  VICINITY_RETURN_IF_ERROR(store->high_water_->Made());
  Pass(Failpoint::kStoreMade);
  VICINITY_RETURN_IF_ERROR(store->FindEnd());
  VICINITY_RETURN_IF_ERROR(SyncDirectory(folder));
  Pass(Failpoint::kStoreOpened);
  return store;
}

absl::Status DeltaStore::OpenDb(bool to_write) {
  const std::shared_ptr<rocksdb::Cache> cache =
      rocksdb::NewLRUCache(static_cast<size_t>(options_.cache_bytes));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* const name : kFamilyNames) {
    families.emplace_back(name, FamilyOptions(options_, cache));
  }
  const std::string path = absl::StrCat(folder_, "/db");
  rocksdb::DBOptions options = DbOptions(options_, to_write && !high_water_->was_made());
  if (options.create_if_missing) mkdir(path.c_str(), 0700);  // what it cannot, RocksDB says
  options.info_log = StoreLog::Open(absl::StrCat(path, "/LOG"));
  options.listeners.push_back(std::make_shared<FullDisk>([this] { MeetFullDisk(); }));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      to_write ? rocksdb::DB::Open(options, path, families, &families_, &db)
               : rocksdb::DB::OpenForReadOnly(options, path, families, &families_, &db);
  db_.reset(db);
  if (status.IsInvalidArgument() && high_water_->was_made()) {  // as RocksDB says "does not exist"
    return absl::DataLossError(absl::StrCat(folder_, ": ", status.ToString()));
  }
  return FromRocks(status, folder_);
}

// A new store's is written at once, so that it never is without.
absl::Status DeltaStore::CheckIdentity() {
  std::string format;
  std::string found;
  const rocksdb::Status of_format =
      db_->Get(rocksdb::ReadOptions(), families_[kMeta], kFormatKey, &format);
  const rocksdb::Status of_identity =
      db_->Get(rocksdb::ReadOptions(), families_[kMeta], kIdentityKey, &found);
  if (of_format.IsNotFound() && of_identity.IsNotFound() && !high_water_->was_made()) {
    rocksdb::WriteBatch batch;
    batch.Put(families_[kMeta], kFormatKey, kFormat);
    batch.Put(families_[kMeta], kIdentityKey, identity_);
    if (options_.new_is_behind) batch.Put(families_[kMeta], kCatchingUpKey, "");
    rocksdb::WriteOptions durable;
    durable.sync = true;
    return FromRocks(db_->Write(durable, &batch), folder_);
  }
  if (of_format.IsNotFound() || of_identity.IsNotFound()) {
    return absl::DataLossError(
        absl::StrCat(folder_, ": the store does not say what it belongs to"));
  }
  VICINITY_RETURN_IF_ERROR(FromRocks(of_format, folder_));
  VICINITY_RETURN_IF_ERROR(FromRocks(of_identity, folder_));
  if (format != kFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder_, ": changes of format ", format, ", and this build reads ", kFormat));
  }
  if (found == identity_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(folder_, ": these are changes of ", found, ", and not of ", identity_));
}

absl::Status DeltaStore::Failed(absl::Status status) {
  failed_ = std::move(status);
  if (is_full()) MeetFullDisk();
  return failed_;
}

void DeltaStore::MeetFullDisk() {
  met_full_disk_.store(true, std::memory_order_release);
  if (options_.on_full) options_.on_full();
}

// What was written is not sorted any more since the background met a full disk, and there would
// be no end to that.
absl::Status DeltaStore::CheckWritable() {
  if (failed_.ok() && met_full_disk_.load(std::memory_order_acquire)) {
    failed_ = absl::ResourceExhaustedError(
        absl::StrCat(folder_, ": the disk was full when changes were to be sorted onto it"));
  }
  return failed_;
}

std::shared_lock<std::shared_mutex> DeltaStore::Reading() const {
  if (reopening_.load(std::memory_order_acquire)) {
    const std::lock_guard<std::mutex> after_it(turn_);
  }
  return std::shared_lock<std::shared_mutex>(db_mu_);
}

absl::Status DeltaStore::CheckOpen() const {
  if (db_ != nullptr) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(folder_, ": the disk was full, and it could not be opened again yet"));
}

// The log that it begins, and its buffers as sorted files.
int64_t DeltaStore::reopen_bytes() const {
  return number(StoreNumber::kBufferBytes) + 2 * options_.buffer_bytes;
}

absl::Status DeltaStore::Reopen() {
  const std::lock_guard<std::mutex> turn(turn_);
  reopening_.store(true, std::memory_order_release);
  const std::unique_lock<std::shared_mutex> alone(db_mu_);
  CloseDb();
  met_full_disk_.store(false, std::memory_order_release);
  absl::Status opened = OpenDb(/*to_write=*/true);
  if (opened.ok()) opened = CheckIdentity();
  if (opened.ok()) opened = FindEnd();
  if (db_ == nullptr) OpenDb(/*to_write=*/false).IgnoreError();  // readers see if that fails, too
  reopening_.store(false, std::memory_order_release);
  if (absl::IsResourceExhausted(opened)) return Failed(std::move(opened));
  failed_ = opened;
  return opened;
}

absl::Status DeltaStore::FindEnd() {
  last_version_ = 0;
  const std::unique_ptr<rocksdb::Iterator> end(
      db_->NewIterator(rocksdb::ReadOptions(), families_[kChanges]));
  end->SeekToLast();
  if (end->Valid()) last_version_ = VersionOf(end->key());
  VICINITY_RETURN_IF_ERROR(FromRocks(end->status(), folder_));
  if (last_version_ >= high_water_->version()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      folder_, ": the change log ends at version ", last_version_, ", but version ",
      high_water_->version(),
      " was acknowledged as on disk; rebuild the shard from a replica or restore a backup"));
}

absl::StatusOr<std::string> DeltaStore::ReadWriter() const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  std::string sealed;
  const rocksdb::Status read =
      db_->Get(rocksdb::ReadOptions(), families_[kMeta], kWriterKey, &sealed);
  if (read.IsNotFound()) return std::string();
  VICINITY_RETURN_IF_ERROR(FromRocks(read, folder_));
  const absl::StatusOr<std::string_view> writer = Unsealed(kWriterKey, sealed);
  if (writer.ok()) return std::string(*writer);
  return At(absl::StrCat(folder_, ": who writes the shard"), writer.status());
}

absl::StatusOr<std::optional<uint64_t>> DeltaStore::ReadShown() const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  std::string sealed;
  const rocksdb::Status read =
      db_->Get(rocksdb::ReadOptions(), families_[kMeta], kShownKey, &sealed);
  if (read.IsNotFound()) return std::optional<uint64_t>();
  VICINITY_RETURN_IF_ERROR(FromRocks(read, folder_));
  const absl::StatusOr<std::string_view> key = Unsealed(kShownKey, sealed);
  if (key.ok() && key->size() == sizeof(uint64_t)) {
    return VersionOf(rocksdb::Slice(key->data(), key->size()));
  }
  return At(absl::StrCat(folder_, ": which versions are shown"),
            absl::DataLossError("it does not read"));
}

absl::Status DeltaStore::SaveWriter(std::string_view writer) {
  VICINITY_RETURN_IF_ERROR(CheckWritable());
  const std::string sealed = Sealed(kWriterKey, writer);
  rocksdb::WriteOptions durable;
  durable.sync = true;
  Pass(Failpoint::kStoreWriterSaving);
  const absl::Status saved =
      FromRocks(db_->Put(durable, families_[kMeta], kWriterKey, sealed), folder_);
  Pass(Failpoint::kStoreWriterSaved);
  return Failed(saved);
}

absl::StatusOr<bool> DeltaStore::IsCatchingUp() const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  std::string nothing;
  const rocksdb::Status read =
      db_->Get(rocksdb::ReadOptions(), families_[kMeta], kCatchingUpKey, &nothing);
  if (read.IsNotFound()) return false;
  VICINITY_RETURN_IF_ERROR(FromRocks(read, folder_));
  return true;
}

absl::Status DeltaStore::SaveShown(uint64_t version) {
  VICINITY_RETURN_IF_ERROR(CheckWritable());
  return Failed(FromRocks(db_->Put(rocksdb::WriteOptions(), families_[kMeta], kShownKey,
                                   Sealed(kShownKey, KeyOf(version))),
                          folder_));
}

absl::Status DeltaStore::SaveCaughtUp() {
  VICINITY_RETURN_IF_ERROR(CheckWritable());
  rocksdb::WriteOptions durable;
  durable.sync = true;
  return Failed(FromRocks(db_->Delete(durable, families_[kMeta], kCatchingUpKey), folder_));
}

absl::Status DeltaStore::SaveCursor(std::string_view name, std::string_view cursor) {
  const auto open = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  const std::string key = CursorKeyOf(name);
  rocksdb::WriteOptions durable;
  durable.sync = true;
  return FromRocks(db_->Put(durable, families_[kMeta], key, Sealed(key, cursor)), folder_);
}

absl::Status DeltaStore::DropCursor(std::string_view name) {
  const auto open = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  rocksdb::WriteOptions durable;
  durable.sync = true;
  return FromRocks(db_->Delete(durable, families_[kMeta], CursorKeyOf(name)), folder_);
}

absl::Status DeltaStore::ReadCursors(
    const std::function<absl::Status(std::string_view name, std::string_view cursor)>& take) const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  const std::unique_ptr<rocksdb::Iterator> at(
      db_->NewIterator(rocksdb::ReadOptions(), families_[kMeta]));
  for (at->Seek(SliceOf(kCursorKeys)); at->Valid(); at->Next()) {
    const std::string_view key = ViewOf(at->key());
    if (key.substr(0, kCursorKeys.size()) != kCursorKeys) break;
    const std::string_view name = key.substr(kCursorKeys.size());
    const absl::StatusOr<std::string_view> cursor = Unsealed(key, ViewOf(at->value()));
    if (!cursor.ok()) {
      return At(absl::StrCat(folder_, ": the cursor \"", std::string(name), "\""), cursor.status());
    }
    VICINITY_RETURN_IF_ERROR(take(name, *cursor));
  }
  return FromRocks(at->status(), folder_);
}

absl::Status DeltaStore::Write(const Commit& commit, bool durable) {
  VICINITY_RETURN_IF_ERROR(CheckWritable());
  rocksdb::WriteOptions options;
  options.sync = durable;
  Pass(Failpoint::kStoreWriting);
  VICINITY_RETURN_IF_ERROR(Failed(FromRocks(db_->Write(options, commit.batch_.get()), folder_)));
  Pass(Failpoint::kStoreWritten);
  last_version_ = commit.last_version_;
  return durable ? Failed(high_water_->Raise(last_version_)) : absl::OkStatus();
}

absl::Status DeltaStore::Sync() {
  VICINITY_RETURN_IF_ERROR(CheckWritable());
  Pass(Failpoint::kStoreSyncing);
  VICINITY_RETURN_IF_ERROR(Failed(FromRocks(db_->FlushWAL(/*sync=*/true), folder_)));
  Pass(Failpoint::kStoreSynced);
  return Failed(high_water_->Raise(last_version_));
}

absl::Status DeltaStore::Replay(
    const std::function<absl::Status(uint64_t version, std::string_view change)>& take) const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  rocksdb::ReadOptions once;
  once.fill_cache = false;
  once.readahead_size = size_t{4} << 20;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(once, families_[kChanges]));
  uint64_t expected = 1;
  for (at->SeekToFirst(); at->Valid(); at->Next(), ++expected) {
    const uint64_t version = VersionOf(at->key());
    if (version != expected) {
      return absl::DataLossError(
          absl::StrCat(folder_, ": the change log has no version ", expected, " before ", version));
    }
    const absl::StatusOr<std::string_view> change =
        Unsealed(ViewOf(at->key()), ViewOf(at->value()));
    if (!change.ok()) {
      return At(absl::StrCat(folder_, ": change log, version ", version), change.status());
    }
    VICINITY_RETURN_IF_ERROR(take(version, *change));
  }
  return FromRocks(at->status(), folder_);
}

absl::StatusOr<std::string> DeltaStore::ReadChange(uint64_t version) const {
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  const std::string key = KeyOf(version);
  std::string sealed;
  VICINITY_RETURN_IF_ERROR(FromRocks(
      db_->Get(rocksdb::ReadOptions(), families_[kChanges], SliceOf(key), &sealed), folder_));
  const absl::StatusOr<std::string_view> change = Unsealed(key, sealed);
  if (change.ok()) return std::string(*change);
  return At(absl::StrCat(folder_, ": change log, version ", version), change.status());
}

absl::Status DeltaStore::ReadRows(
    absl::Span<const RowPlace> places,
    const std::function<void(size_t i, std::string_view value)>& take) const {
  std::vector<std::string> keys;
  for (const RowPlace& place : places) keys.push_back(KeyOf(place));
  std::vector<size_t> order(places.size());  // RocksDB must not be asked for one key twice
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<rocksdb::Slice> distinct;
  for (const size_t i : order) {
    if (distinct.empty() || ViewOf(distinct.back()) != keys[i]) {
      distinct.push_back(SliceOf(keys[i]));
    }
  }
  const auto reading = Reading();
  VICINITY_RETURN_IF_ERROR(CheckOpen());
  std::vector<rocksdb::PinnableSlice> values(distinct.size());
  std::vector<rocksdb::Status> found(distinct.size());
  db_->MultiGet(rocksdb::ReadOptions(), families_[kRows], distinct.size(), distinct.data(),
                values.data(), found.data(), /*sorted_input=*/true);
  size_t at = 0;
  for (const size_t i : order) {
    while (ViewOf(distinct[at]) != keys[i]) ++at;
    const auto where = [&] {
      return absl::StrCat(folder_, ": row ", places[i].row, " at version ", places[i].version);
    };
    if (found[at].IsNotFound()) {
      return absl::DataLossError(absl::StrCat(where(), " is not there, though it has changed"));
    }
    VICINITY_RETURN_IF_ERROR(FromRocks(found[at], folder_));
    const absl::StatusOr<std::string_view> value = Unsealed(keys[i], ViewOf(values[at]));
    if (!value.ok()) return At(where(), value.status());
    take(i, *value);
  }
  return absl::OkStatus();
}

int64_t DeltaStore::number(StoreNumber which) const {
  const Property property = PropertyOf(which);
  const std::shared_lock<std::shared_mutex> reading(db_mu_, std::try_to_lock);
  if (!reading.owns_lock() || db_ == nullptr) return 0;
  uint64_t value = 0;
  if (property.is_sum) {
    db_->GetAggregatedIntProperty(property.name, &value);
  } else {
    db_->GetIntProperty(property.name, &value);
  }
  return static_cast<int64_t>(value);
}

}  // namespace vicinity
