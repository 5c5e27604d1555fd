// What a caller's connections to servers are secured with, as gRPC takes it.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "proto/security/certificates.h"
#include "proto/security/tls_sessions.h"
#include "proto/security/token_source.h"
#include "proto/security/watched_tls.h"

namespace vicinity {

struct CallerCredentials {
  std::shared_ptr<grpc::ChannelCredentials> channel;
  // For connections that are not gRPC's, by the same files; null: plaintext.
  std::shared_ptr<TlsSessions> tls{};
};

// TLS where `files` have authorities, watched as WatchedTls does, which `report` hears of; else
// plaintext. With a token, which may be null, every call shows it: without TLS only to this
// machine. For all channels of a process, since it watches the files with a thread of its own.
//
// Errors: ReadTlsFiles' and WatchedTls'.
absl::StatusOr<CallerCredentials> MakeChannelCredentials(const TlsFiles& files,
                                                         const std::shared_ptr<TokenSource>& token,
                                                         WatchedTls::Report report);

}  // namespace vicinity
