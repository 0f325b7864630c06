#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace zerotax {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using ServerContext = std::unique_ptr<SSL_CTX, FreeContext>;

/// Returns a TLS 1.3 context with a new key (EC P-256) and a new self-signed certificate for localhost and 127.0.0.1;
/// empty if OpenSSL fails. Sets `pem` to the certificate that clients should trust.
ServerContext make_server_context(std::string& pem);

}  // namespace zerotax
