#include "tests/integration/served_certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>

namespace vicinity::testing {

std::string ServedCertificate(int port) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof(kHttp2));
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()),
                                                                 &BIO_free_all);
  const std::string address = "127.0.0.1:" + std::to_string(port);
  BIO_set_conn_hostname(connection.get(), address.c_str());
  SSL* session = nullptr;
  BIO_get_ssl(connection.get(), &session);
  std::string text;
  if (BIO_do_connect(connection.get()) == 1) {
    X509* certificate = SSL_get1_peer_certificate(session);
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
    if (certificate != nullptr && PEM_write_bio_X509(out.get(), certificate) == 1) {
      char* data = nullptr;
      const long size = BIO_get_mem_data(out.get(), &data);
      text.assign(data, static_cast<size_t>(size));
    }
    X509_free(certificate);
  }
  ERR_clear_error();
  return text;
}

}  // namespace vicinity::testing
