#include "proto/security/openssl.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>
#include <utility>

namespace vicinity::openssl {
namespace {

// Instead of a question on the terminal: we have nobody to ask.
int NoPassphrase(char*, int, int, void*) { return -1; }

Bio Over(absl::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

template <typename Object, typename Read>
bool ReadAll(absl::string_view pem, Read read, std::vector<Object>* objects) {
  ERR_clear_error();
  const Bio in = Over(pem);
  for (;;) {
    Object object(read(in.get(), nullptr, &NoPassphrase, nullptr));
    if (object == nullptr) break;
    objects->push_back(std::move(object));
  }
  // That no further one begins is how the text should end.
  const unsigned long error = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return ended;
}

template <typename Write>
std::string Written(Write write) {
  const Bio out(BIO_new(BIO_s_mem()));
  if (out == nullptr || write(out.get()) != 1) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

bool ParseAll(absl::string_view pem, std::vector<Certificate>* certificates) {
  return ReadAll(pem, &PEM_read_bio_X509, certificates);
}

bool ParseAll(absl::string_view pem, std::vector<RevocationList>* lists) {
  return ReadAll(pem, &PEM_read_bio_X509_CRL, lists);
}

Key ParseKey(absl::string_view pem) {
  Key key(PEM_read_bio_PrivateKey(Over(pem).get(), nullptr, &NoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

std::string ToPem(const X509& certificate) {
  return Written([&](BIO* out) { return PEM_write_bio_X509(out, &certificate); });
}

std::string ToPem(const EVP_PKEY& key) {
  return Written([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string ToPem(const X509_CRL& list) {
  return Written([&](BIO* out) { return PEM_write_bio_X509_CRL(out, &list); });
}

absl::Time ToTime(const ASN1_TIME* time) {
  std::tm fields{};
  ASN1_TIME_to_tm(time, &fields);
  return absl::FromTimeT(timegm(&fields));
}

std::string LastError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text = reason == nullptr ? "no reason given" : reason;
  ERR_clear_error();
  return text;
}

}  // namespace vicinity::openssl
