#pragma once

#include <openssl/ssl.h>

namespace zerotax {

/// Serves one connected socket until the client closes it: without a context by plain TCP, with one by TLS. The bytes
/// are never zero, so that a page they are received into is dirty. With `http` a request's head is read first, and a
/// response of 2^62 bytes begun: a client closes when it has enough. Never throws; what fails ends the connection.
void serve(int fd, SSL_CTX* context, bool http);

}  // namespace zerotax
