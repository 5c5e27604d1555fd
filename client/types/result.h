// Errors as the client library's users see them: a code, and a text that says what was wrong.
//
// Standard C++ alone: nothing of gRPC, protobuf or Abseil is needed to use the client.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace vicinity {

// Each code means one thing. Values are those of gRPC and Abseil.
enum class ErrorCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,   // the call is wrong: never retry
  kDeadlineExceeded = 4,  // no answer in time; the text names who was waited for
  kNotFound = 5,          // no such node, column, shard, file
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,   // back off
  kFailedPrecondition = 9,  // another dataset or protocol version than expected; a forked child; no
                            // such device
  kAborted = 10,            // damaged on the way: the same may be asked again at once
  kOutOfRange = 11,         // of a live graph: a version that there is not yet
  kInternal = 13,           // our own fault, or a server that does not keep the protocol
  kUnavailable = 14,        // a server is away; the text names the shard
  kDataLoss = 15,           // a file failed its checksum
  kUnauthenticated = 16,    // a certificate or token is missing or not good; the text says which
};

// "NOT_FOUND", ...
const char* ErrorCodeName(ErrorCode code);

class Error {
 public:
  Error() = default;  // no error
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

// A value or the error that stood in its way. Look at ok() before value().
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}                             // NOLINT: as StatusOr
  Result(Error error) : error_(std::move(error)) { assert(!error_.ok()); }  // NOLINT: likewise
  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace vicinity
