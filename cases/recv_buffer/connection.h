#pragma once

#include <cstddef>

#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Maximum number of bytes that one receive delivers: the data of a TLS record (RFC 8446, section 5.1).
inline constexpr std::size_t kRecordBytes = std::size_t{16} * 1024;

/// A client's connection to a server that it starts. The server sends without end.
class Connection {
 public:
  enum class Transport { kTls, kTcp };

  /// Starts the server and connects. Returns nullptr, or the reason of a failure, as a text that stays valid.
  const char* open(Transport transport);
  /// Receives into the first bytes of a buffer: by TLS at most one record, by TCP at most as many bytes as a record
  /// holds. Waits up to ten seconds. Returns the number of bytes received; 0 or less if no more bytes will arrive.
  long receive(void* buffer, std::size_t bytes);
  /// Ends the connection and the server.
  void close();

 private:
  const char* connect_tcp();
  const char* start_tls(const char* certificate);

  HelperProcess server_;
  UniqueFd socket_;
  Transport transport_ = Transport::kTcp;
};

}  // namespace zerotax
