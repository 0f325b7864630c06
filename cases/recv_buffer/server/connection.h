#pragma once

#include <openssl/ssl.h>

namespace zerotax {

/// Serves one connected socket until the client closes it, by TLS if there is a context, otherwise by plain TCP. The
/// bytes are never zero, so that a page that receives them is dirty.
///
/// With `http`, first reads the head of a request, and begins a response of 2^62 bytes. A client closes the connection
/// when it has received enough. Never throws; a failure ends the connection.
void serve(int fd, SSL_CTX* context, bool http);

}  // namespace zerotax
