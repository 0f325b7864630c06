#pragma once

#include <cstddef>

/// The TLS half of the case, in a module of its own that is loaded when the case begins.
extern "C" {

/// Shakes hands over a connected socket, TLS 1.3 only. The server's certificate must be `pem` itself, and name
/// "localhost". Returns nullptr, or why it failed: a text that stays until the next call.
const char* recv_tls_connect(int fd, const char* pem);

/// SSL_read: at most `bytes` bytes, of at most one record (16 KiB). Returns how many, or -1.
long recv_tls_receive(void* buffer, std::size_t bytes);

/// Frees what recv_tls_connect made. The socket stays open.
void recv_tls_close();
}
