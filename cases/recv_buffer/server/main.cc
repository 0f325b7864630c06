#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <string>

#include "certificate.h"
#include "connection.h"
#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "recv-server: %s\n", what);
  return 3;
}

}  // namespace

// The server of the case recv_buffer, which listens on 127.0.0.1. Prints on standard output its port ("port=N"), then
// for TLS its certificate, then an empty line. Serves one client after the other, sending without end. Ends when its
// standard input ends.
int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode != "tcp" && mode != "tls" && mode != "https") {
    std::fprintf(stderr, "recv-server: unknown mode '%s': give tcp, tls or https\n", mode.c_str());
    return 2;
  }
  zerotax::HelperProcess::end_with_parent();

  std::string certificate;
  const zerotax::ServerContext context =
      mode == "tcp" ? zerotax::ServerContext() : zerotax::make_server_context(certificate);
  if (mode != "tcp" && context == nullptr) return fail("OpenSSL cannot make a certificate");

  const zerotax::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.get(), generic, sizeof address) != 0 || ::listen(listener.get(), 4) != 0 ||
      ::getsockname(listener.get(), generic, &length) != 0) {
    return fail("cannot listen on any port of 127.0.0.1");
  }
  std::printf("port=%u\n%s\n", static_cast<unsigned>(ntohs(address.sin_port)), certificate.c_str());
  std::fflush(stdout);

  while (true) {
    const zerotax::UniqueFd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client) zerotax::serve(client.get(), context.get(), mode == "https");
  }
}
