// Changes of a live graph: nodes, edges and values, to whichever shards they belong to.
//
//   auto writer = vicinity::Writer::Create(graph);
//   if (!writer.ok()) return writer.error();
//   vicinity::NewEdges edges;
//   edges.edge_type = "links";
//   edges.sources = {12, 7};
//   edges.targets = {3, 3};
//   vicinity::GraphChanges changes;
//   changes.new_edges.push_back(edges);
//   auto written = (*writer)->Write(changes);
//   if (!written.ok()) return written.error();
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <memory>

#include "client/graph.h"
#include "client/types/result.h"
#include "client/types/write_values.h"

namespace vicinity {

// Each node and edge goes to the shard that owns it, in batches of about 1 MiB, which become
// visible one by one: those of one shard in order, shards at the same time. Batches are numbered,
// and one that got no answer is sent again with its number, so each is applied once, whatever
// servers and connections do meanwhile.
//
// Threads:  any number may write at once; a shard takes one batch after the other.
// Lifetime: `graph` must outlive it.
// Memory:   beside what is given 12 bytes a row, two batches for each of up to 16 shards at a
//           time, and of what is refused a text a row.
class Writer {
 public:
  // kFailedPrecondition for a graph that is not live, or stays at its versions (Graph::At);
  // kInvalidArgument for options out of range.
  static Result<std::unique_ptr<Writer>> Create(const Graph* graph,
                                                const WriterOptions& options = {});
  ~Writer();

  // Returns when all is applied, as durable as the options say, or refused. A row that a server
  // refuses takes none but itself with it: its batch is halved and sent again until only such rows
  // are left (Written::refused), which takes up to twice as many batches as there are such rows
  // times the logarithm of a batch's.
  //
  // Errors, before anything is sent: kNotFound (a type or column, naming those there are) and
  // kInvalidArgument (types, shapes, numbers of rows, a column of a new node that is not given).
  // Then kPermissionDenied without the role `write`; what a shard last said when give_up_after is
  // over, or up to the graph's call budget later; kDeadlineExceeded where other calls kept a shard
  // waiting for as long. The text counts the rows that are applied, that may be, and that were not
  // sent; which ones the second form tells. What may be applied comes first when its shard is
  // written again by this writer.
  Result<Written> Write(const GraphChanges& changes);
  // ... with what is known of the rows also where it fails.
  Error Write(const GraphChanges& changes, Written* written);

 private:
  class Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vicinity
