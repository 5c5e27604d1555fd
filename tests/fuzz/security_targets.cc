#include "tests/fuzz/security_targets.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/security/certificates.h"
#include "proto/security/token.h"
#include "proto/security/token_source.h"
#include "server/security/access_control.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/hosts/certificate_authority.h"

namespace vicinity::fuzz {
namespace {

constexpr char kMethod[] = "/vicinity.proto.Graph/FetchRows";
constexpr char kDashes[] = "\n---\n";

std::string Token() {
  auto token = MakeToken();
  Expect(token.ok(), "the system has random numbers");
  return *std::move(token);
}

}  // namespace

FuzzTarget FuzzAccessFile(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      absl::StrCat("grants { name: \"a\" role: READ token_sha256: \"",
                   absl::BytesToHexString(HashToken("vct_x")),
                   "\" }\ngrants { name: \"b\" role: ADMIN certificate: \"b.example\" }\n# end\n")};
  target.run = [](std::string_view input) {
    const auto grants = ParseGrants("access.textproto", std::string(input));
    if (!grants.ok()) return;
    for (const Grant& grant : *grants) {
      Expect(grant.role != Role::kNone && !grant.name.empty(), "a grant has a name and a role");
      Expect(grant.token_hash.empty() != grant.certificate.empty(),
             "a grant is a token's or a certificate's");
      Expect(grant.token_hash.empty() || grant.token_hash.size() == 32, "a hash has 32 bytes");
    }
  };
  return target;
}

FuzzTarget FuzzToken(const std::string& folder) {
  const std::string token = Token();
  const std::string access = absl::StrCat(folder, "/access.textproto");
  testing::WriteSecret(access, absl::StrCat("grants { name: \"a\" role: READ token_sha256: \"",
                                            absl::BytesToHexString(HashToken(token)), "\" }"));
  auto loaded = AccessControl::Load(access);
  Expect(loaded.ok(), loaded.status().ToString().c_str());
  FuzzTarget target;
  target.seeds = {token, absl::StrCat(token, "\n"), absl::StrCat("Bearer ", token)};
  target.run = [folder, token, control = std::shared_ptr<AccessControl>(*std::move(loaded))](
                   std::string_view input) {
    const std::string text(input);
    const std::string path = absl::StrCat(folder, "/token");
    testing::WriteSecret(path, text);
    for (const auto& source : {TokenSource::FromText(text), TokenSource::FromFile(path)}) {
      Expect(!source.ok() || LooksLikeToken((*source)->Get()), "what is taken looks like a token");
    }
    Caller caller;
    caller.authorization = {text};
    Expect(!control->Check(kMethod, caller).ok() || text.find(token) != std::string::npos,
           "who has not the token is not let in");
    caller.authorization = {"Bearer " + text, text};
    Expect(!control->Check(kMethod, caller).ok() || text.find(token) != std::string::npos,
           "who has not the token is not let in, saying it twice");
  };
  return target;
}

FuzzTarget FuzzCertificates(const std::string& folder) {
  const testing::CertificateAuthority authority("fuzz");
  const testing::IssuedCertificate issued = authority.Issue({});
  FuzzTarget target;
  target.seeds = {
      absl::StrCat(issued.certificate, kDashes, issued.key, kDashes, authority.certificate()),
      absl::StrCat(issued.certificate, authority.certificate(), kDashes, issued.key),
      absl::StrCat(kDashes, kDashes, authority.certificate()),
  };
  target.run = [folder](std::string_view input) {
    const std::vector<std::string> texts =
        absl::StrSplit(absl::string_view(input.data(), input.size()), absl::MaxSplits(kDashes, 3));
    TlsFiles files;
    std::string* const paths[] = {&files.certificate, &files.key, &files.ca, &files.revoked};
    for (size_t i = 0; i < texts.size(); ++i) {
      *paths[i] = absl::StrCat(folder, "/", i, ".pem");
      testing::WriteSecret(*paths[i], texts[i]);
    }
    for (const TlsEnd end : {TlsEnd::kServer, TlsEnd::kClient}) {
      const absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files, end);
      if (!material.ok() || material->certificate.empty()) continue;
      Expect(ExpiryOf(material->certificate).ok(), "what is checked can be read again");
    }
  };
  return target;
}

}  // namespace vicinity::fuzz
