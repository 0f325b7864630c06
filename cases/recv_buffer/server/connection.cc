#include "connection.h"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace zerotax {
namespace {

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: application/octet-stream\r\n"
    "Content-Length: 4611686018427387904\r\n"
    "Connection: close\r\n\r\n";
constexpr std::size_t kMostHead = 65'536;

/// One connection, with or without TLS.
class Stream {
 public:
  Stream(int fd, SSL_CTX* context) : fd_(fd), ssl_(context != nullptr ? SSL_new(context) : nullptr) {
    ready_ = context == nullptr || (ssl_ && SSL_set_fd(ssl_.get(), fd) == 1 && SSL_accept(ssl_.get()) == 1);
  }

  [[nodiscard]] bool ready() const { return ready_; }

  /// Sends all bytes. Returns false if sending failed.
  bool send(std::string_view bytes) {
    std::size_t sent = 0;
    if (ssl_) return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) == 1;
    while (sent < bytes.size()) {
      const ssize_t more = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += static_cast<std::size_t>(more);
    }
    return true;
  }

  /// Reads up to the empty line after the head of a request. Returns false if no such line arrives.
  bool read_head() {
    std::string head;
    std::array<char, 4096> part{};
    while (head.find("\r\n\r\n") == std::string::npos) {
      std::size_t got = 0;
      if (ssl_) {
        if (SSL_read_ex(ssl_.get(), part.data(), part.size(), &got) != 1) return false;
      } else {
        const ssize_t more = ::recv(fd_, part.data(), part.size(), 0);
        if (more <= 0) return false;
        got = static_cast<std::size_t>(more);
      }
      head.append(part.data(), got);
      if (head.size() > kMostHead) return false;
    }
    return true;
  }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  int fd_;
  std::unique_ptr<SSL, Free> ssl_;
  bool ready_ = false;
};

}  // namespace

void serve(int fd, SSL_CTX* context, bool http) {
  Stream stream(fd, context);
  if (!stream.ready() || (http && (!stream.read_head() || !stream.send(kResponse)))) return;
  // Each write sends four full records.
  const std::string data(std::size_t{4} * 16 * 1024, 'z');
  while (stream.send(data)) {
  }
}

}  // namespace zerotax
