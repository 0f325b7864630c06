#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace zerotax {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using ServerContext = std::unique_ptr<SSL_CTX, FreeContext>;

/// A TLS 1.3 context with a key (EC P-256) and a certificate for localhost and 127.0.0.1, both made now and signed by
/// itself; `pem` becomes the certificate, for clients to trust. Empty if OpenSSL refuses.
ServerContext make_server_context(std::string& pem);

}  // namespace zerotax
