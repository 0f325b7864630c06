#include "connection.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tls/tls_client.h"

namespace zerotax {
namespace {

/// The functions of the TLS module, set by load_tls.
struct TlsModule {
  decltype(&recv_tls_connect) connect = nullptr;
  decltype(&recv_tls_receive) receive = nullptr;
  decltype(&recv_tls_close) close = nullptr;
} tls;

template <typename Function>
bool find(void* module, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(module, name));
  return function != nullptr;
}

/// Loads the module at run time, so that no other case has libssl in its process.
const char* load_tls() {
  char path[PATH_MAX];
  if (!path_beside_this_program("../libexec/recv-tls.so", &path[0], sizeof path))
    return "the path of the TLS module is too long";
  void* module = ::dlopen(&path[0], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return "no TLS module in this build: install libssl-dev, then build again";
  const bool found = find(module, "recv_tls_connect", tls.connect) && find(module, "recv_tls_receive", tls.receive) &&
                     find(module, "recv_tls_close", tls.close);
  return found ? nullptr : "the TLS module belongs to another build: build it with ./run build";
}

}  // namespace

const char* Connection::open(Transport transport) {
  transport_ = transport;
  char server[PATH_MAX];
  if (!path_beside_this_program("../libexec/recv-server", &server[0], sizeof server))
    return "the path of the server is too long";
  if (const char* why = server_.start(&server[0], transport == Transport::kTls ? "tls" : "tcp")) return why;
  const char* why = connect_tcp();
  if (why == nullptr && transport == Transport::kTls) {
    const char* certificate = std::strstr(server_.greeting(), "-----BEGIN");
    why = certificate != nullptr ? start_tls(certificate) : "the server gave no certificate";
  }
  if (why != nullptr) close();
  return why;
}

const char* Connection::connect_tcp() {
  unsigned port = 0;
  if (std::sscanf(server_.greeting(), "port=%u", &port) != 1) return "the server reported no port";
  socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{10, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(socket_.get(), generic, sizeof address) == 0 ? nullptr : "no connection to the server on 127.0.0.1";
}

const char* Connection::start_tls(const char* certificate) {
  if (const char* why = load_tls()) return why;
  return tls.connect(socket_.get(), certificate);
}

long Connection::receive(void* buffer, std::size_t bytes) {
  if (transport_ == Transport::kTls) return tls.receive(buffer, bytes);
  // Receives at most as many bytes as a TLS record holds, so that plain TCP differs from TLS only in the missing
  // cipher.
  return ::recv(socket_.get(), buffer, std::min(bytes, kRecordBytes), MSG_WAITALL);
}

void Connection::close() {
  if (transport_ == Transport::kTls && tls.close != nullptr) tls.close();
  socket_.reset();
  server_.stop();
}

}  // namespace zerotax
