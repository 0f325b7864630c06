#include <algorithm>
#include <cstring>

#include "connection.h"
#include "meter/meter.h"

namespace zerotax {
namespace {

/// The destination of received data in a client's program, such as a Python bytes object.
unsigned char received_copy[kRecordBytes];

Connection connection;

/// One recv as PyOpenSSL did it until 2016: the buffer has the requested size and is zeroed, but one record is received
/// into it.
bool operation(Meter& meter, const Request& request) {
  void* buffer = meter.allocate(request.size_bytes);
  if (buffer == nullptr) return false;
  meter.begin_receive();
  const long got = connection.receive(buffer, request.size_bytes);
  if (got > 0) {
    std::memcpy(&received_copy[0], buffer, std::min(static_cast<std::size_t>(got), sizeof received_copy));
    escape(&received_copy[0]);
  }
  meter.end_receive(static_cast<std::size_t>(std::max(got, 0L)));
  if (request.touch > 0) meter.touch(buffer, request.size_bytes, request.touch);
  meter.release(buffer);
  if (got <= 0) meter.fail("the server sent no more data");
  return got > 0;
}

const char* begin_tls(const Request& /*request*/) { return connection.open(Connection::Transport::kTls); }
const char* begin_tcp(const Request& /*request*/) { return connection.open(Connection::Transport::kTcp); }
void end() { connection.close(); }

constexpr Case kTls{
    "recv_buffer", "calloc a buffer, receive a TLS record of 16 KiB into it, copy it out, free it, and repeat",
    operation,     begin_tls,
    end,           true};
constexpr Case kTcp{
    "recv_buffer_tcp", "recv_buffer over plain TCP: 16 KiB without the cipher", operation, begin_tcp, end, true};
const CaseRegistration tls_registration(kTls);
const CaseRegistration tcp_registration(kTcp);

}  // namespace
}  // namespace zerotax
