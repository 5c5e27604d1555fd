// How large a reply can get, computed from the request before anything is allocated or read.
#pragma once

#include <cstdint>

#include "partition/dataset/dataset.h"
#include "proto/service.pb.h"

namespace vicinity {

// Payload bytes that the reply has at most, as an estimate where only reading the graph would tell:
// names are taken to have 32 bytes, and lists that are taken whole the mean length of their type. 0
// for a request that its handler will refuse anyway. Whatever the request says, nothing overflows:
// what is too large is INT64_MAX.
int64_t ReplyBytes(const Dataset& dataset, const proto::SampleRequest& request);
int64_t ReplyBytes(const Dataset& dataset, const proto::RowsRequest& request);
int64_t ReplyBytes(const Dataset& dataset, const proto::NamesRequest& request);
int64_t ReplyBytes(const Dataset& dataset, const proto::ResolveRequest& request);
int64_t ReplyBytes(const Dataset& dataset, const proto::RankingRequest& request);

}  // namespace vicinity
