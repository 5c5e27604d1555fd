#include "tests/testing/hosts/certificate_authority.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "proto/common/file.h"

namespace vicinity::testing {
namespace {

void Require(bool ok, const char* what) {
  if (ok) return;
  std::cerr << "cannot make certificates: " << what << "\n";
  std::abort();
}

void AddExtension(int id, const std::string& value, X509* issuer, X509* to) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  Require(extension != nullptr && X509_add_ext(to, extension, -1) == 1, value.c_str());
  X509_EXTENSION_free(extension);
}

// A certificate with everything but its extensions and signature.
X509* Begin(const std::string& name, EVP_PKEY* key, absl::Duration begins, absl::Duration ends) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);  // which is version 3
  uint64_t serial = 0;
  Require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1, "serial");
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), absl::ToInt64Seconds(begins));
  X509_gmtime_adj(X509_getm_notAfter(certificate), absl::ToInt64Seconds(ends));
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

template <typename Write>
std::string ToPem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  Require(write(out.get()) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string ToPem(X509* certificate) {
  return ToPem([certificate](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

}  // namespace

CertificateAuthority::CertificateAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free),
      certificate_(Begin(name, key_.get(), -absl::Hours(100), absl::Hours(100)), &X509_free) {
  X509* own = certificate_.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  AddExtension(NID_basic_constraints, "critical,CA:TRUE", own, own);
  AddExtension(NID_subject_key_identifier, "hash", own, own);
  Require(X509_sign(own, key_.get(), EVP_sha256()) > 0, "own signature");
}

std::string CertificateAuthority::certificate() const { return ToPem(certificate_.get()); }

IssuedCertificate CertificateAuthority::Issue(const CertificateWish& wish) const {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(
      Begin("test", key.get(), wish.begins, wish.ends), &X509_free);
  X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(NID_subject_alt_name, wish.names, certificate_.get(), made.get());
  AddExtension(NID_authority_key_identifier, "keyid", certificate_.get(), made.get());
  Require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0, "signature");
  return {ToPem(made.get()), ToPem([&key](BIO* out) {
            return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

void WriteIssued(const IssuedCertificate& issued, const std::string& folder,
                 const std::string& name) {
  std::filesystem::create_directories(folder);
  Require(WriteFileAtomically(folder + "/" + name + ".pem", issued.certificate).ok(), "the file");
  WriteSecret(folder + "/" + name + ".key", issued.key);
}

void WriteSecret(const std::string& path, const std::string& text) {
  Require(WriteFileAtomically(path, text).ok(), path.c_str());
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace vicinity::testing
