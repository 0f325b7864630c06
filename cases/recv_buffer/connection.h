#pragma once

#include <cstddef>

#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace zerotax {

/// What one receive brings at most: a TLS record's worth of data (RFC 8446, section 5.1).
inline constexpr std::size_t kRecordBytes = std::size_t{16} * 1024;

/// The client's connection to a server of its own, which sends without end.
class Connection {
 public:
  enum class Transport { kTls, kTcp };

  /// Starts the server and connects. Returns nullptr, or why it failed: a text that stays.
  const char* open(Transport transport);
  /// Receives into the first bytes of a buffer: one record at most, and by TCP as much. Waits ten seconds at most.
  /// Returns the bytes received; 0 or less if there will be no more.
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
