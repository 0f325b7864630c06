#include "tls_client.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdio>

namespace {

SSL_CTX* context = nullptr;
SSL* connection = nullptr;
char reason[112];

const char* fail(const char* what) {
  // Returns the verification result if there is one, because it is more precise than "certificate verify failed".
  const long verdict = connection != nullptr ? SSL_get_verify_result(connection) : X509_V_OK;
  const char* detail =
      verdict != X509_V_OK ? X509_verify_cert_error_string(verdict) : ERR_reason_error_string(ERR_peek_last_error());
  std::snprintf(&reason[0], sizeof reason, "%s: %s", what,
                detail != nullptr ? detail : "the server closed the connection");
  recv_tls_close();
  return &reason[0];
}

bool trust(const char* pem) {
  BIO* text = BIO_new_mem_buf(pem, -1);
  X509* certificate = text != nullptr ? PEM_read_bio_X509(text, nullptr, nullptr, nullptr) : nullptr;
  BIO_free(text);
  const bool added = certificate != nullptr && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1;
  X509_free(certificate);
  return added;
}

}  // namespace

const char* recv_tls_connect(int fd, const char* pem) {
  context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) return fail("no TLS 1.3");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (!trust(pem)) return fail("the server gave no certificate");
  connection = SSL_new(context);
  if (connection == nullptr || SSL_set_fd(connection, fd) != 1 || SSL_set1_host(connection, "localhost") != 1) {
    return fail("no TLS connection");
  }
  return SSL_connect(connection) == 1 ? nullptr : fail("the TLS handshake failed");
}

long recv_tls_receive(void* buffer, std::size_t bytes) {
  std::size_t got = 0;
  return SSL_read_ex(connection, buffer, bytes, &got) == 1 ? static_cast<long>(got) : -1;
}

void recv_tls_close() {
  SSL_free(connection);
  SSL_CTX_free(context);
  connection = nullptr;
  context = nullptr;
}
