// What is said of changes of a shard, by those who make them and those who serve them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vicinity {

// What a write survives once it is acknowledged.
enum class Durability : uint8_t {
  kBuffered,    // the end of the process
  kSync,        // a power cut
  kReplicated,  // the loss of fewer than half of the shard's servers; of the only one: as kSync
};

// Who writes a shard (proto/live.proto, WriterTerm).
struct WriterTerm {
  uint64_t term = 0;
  std::string writer{};  // a server's name; empty: nobody

  bool operator==(const WriterTerm& other) const {
    return term == other.term && writer == other.writer;
  }
};

// How far a copy of a shard's change log goes: its last version, and the term that was written in.
struct LogPosition {
  uint64_t version = 0;
  uint64_t term = 0;

  bool operator==(const LogPosition& other) const {
    return version == other.version && term == other.term;
  }
  // Of two copies the one with the later term has all that the writers of that term have committed
  // to a majority, and of one term the longer one has the other.
  bool operator<(const LogPosition& other) const {
    return term != other.term ? term < other.term : version < other.version;
  }
};

// The servers that have a shard, as one of them sees it.
struct ShardServers {
  std::string self{};   // its name; empty: it is alone, and whoever opens the shard writes it
  std::string first{};  // who writes it in term 0
  int count = 1;
};

// What became of a batch.
struct AppliedBatch {
  uint64_t version = 0;
  uint64_t term = 0;      // of the writer that made the version
  bool repeated = false;  // it had been applied before
  // It was not applied and never will be: the shard was retired (LiveShard::Retire). The rest says
  // nothing then.
  bool retired = false;
  // Of each part of new_nodes and new_edges the id of its first; the others' follow in steps of the
  // number of shards.
  std::vector<int64_t> first_nodes{};
  std::vector<int64_t> first_edges{};
};

// How far a reader of changes, who names itself, has come.
struct ChangeCursor {
  std::string name{};
  LogPosition at{};         // the last version that it has acknowledged
  int64_t unix_micros = 0;  // when
};

// A version of a shard, and how large the shard is then.
struct ShardVersion {
  uint64_t version = 0;
  uint64_t term = 0;                 // of the writer that made it; 0 of version 0
  std::vector<int64_t> num_nodes{};  // of each node type, those in the files and new ones
  std::vector<int64_t> num_edges{};  // of each edge type, likewise; those that were removed count
  std::vector<ChangeCursor> cursors{};  // if they were asked for
};

}  // namespace vicinity
