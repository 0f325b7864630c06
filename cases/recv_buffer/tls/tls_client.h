#pragma once

#include <cstddef>

/// The TLS part of the case, in a separate module that is loaded when the case begins.
extern "C" {

/// Performs a handshake over a connected socket, with TLS 1.3 only. The server's certificate must be `pem` itself, and
/// must name "localhost". Returns nullptr, or the reason of a failure, which is valid until the next call.
const char* recv_tls_connect(int fd, const char* pem);

/// Calls SSL_read for at most `bytes` bytes of one record (16 KiB). Returns the number of bytes, or -1.
long recv_tls_receive(void* buffer, std::size_t bytes);

/// Frees what recv_tls_connect made, but leaves the socket open.
void recv_tls_close();
}
