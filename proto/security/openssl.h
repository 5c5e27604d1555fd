// OpenSSL's objects with owners, and their text form.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace vicinity::openssl {

// One type for all deleters: a function that OpenSSL has for it.
template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<&BIO_free>>;
using Certificate = std::unique_ptr<X509, Deleter<&X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Deleter<&SSL_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<&EVP_PKEY_free>>;
using RevocationList = std::unique_ptr<X509_CRL, Deleter<&X509_CRL_free>>;
using Store = std::unique_ptr<X509_STORE, Deleter<&X509_STORE_free>>;

// All objects of one kind in a PEM text, in their order; what else is there is passed over. False
// if one of them is damaged or cut off.
bool ParseAll(absl::string_view pem, std::vector<Certificate>* certificates);
bool ParseAll(absl::string_view pem, std::vector<RevocationList>* lists);
// Null: none, a damaged one, or one with a passphrase, which nobody is asked for.
Key ParseKey(absl::string_view pem);

// Empty if OpenSSL has no memory.
std::string ToPem(const X509& certificate);
std::string ToPem(const EVP_PKEY& key);
std::string ToPem(const X509_CRL& list);

absl::Time ToTime(const ASN1_TIME* time);

// What the library says about its last failure, which is forgotten.
std::string LastError();

}  // namespace vicinity::openssl
