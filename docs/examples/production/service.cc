// Answers each request over HTTP with the sum of a picture that it composes from eight layers of 1 MiB.
//   service PORT            runs until a signal ends it; if PORT is 0, chooses a free port and prints the port
//   service PORT REQUESTS   sends REQUESTS requests to itself, and ends
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Layer = std::vector<unsigned char>;

__attribute__((noinline)) Layer draw_layer(unsigned char color) { return Layer(std::size_t{1} << 20, color); }

std::uint64_t compose_picture() {
  std::vector<Layer> layers;
  layers.reserve(8);
  for (unsigned char i = 0; i < 8; ++i) layers.push_back(draw_layer(i));
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) sum += layer[layer.size() / 2];
  return sum;
}

sockaddr_in address_of(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void answer(int client) {
  char request[4096];
  if (read(client, request, sizeof request) > 0) {
    const std::string body = std::to_string(compose_picture()) + "\n";
    const std::string text = "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    if (write(client, text.data(), text.size()) < 0) std::perror("service");
  }
  close(client);
}

void request(int port) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = address_of(port);
  char text[4096];
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      write(server, "GET / HTTP/1.0\r\n\r\n", 18) < 0) {
    std::perror("service");
  }
  while (read(server, text, sizeof text) > 0) {
  }
  close(server);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = address_of(std::atoi(words[1]));
  socklen_t size = sizeof address;
  if (bind(server, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(server, 64) != 0 ||
      getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("service");
    return 1;
  }
  const int port = ntohs(address.sin_port);
  if (count == 2) {
    std::printf("%d\n", port);
    std::fflush(stdout);
    for (;;) answer(accept(server, nullptr, nullptr));
  }
  const int requests = std::atoi(words[2]);
  std::thread client([&] {
    for (int i = 0; i < requests; ++i) request(port);
  });
  for (int i = 0; i < requests; ++i) answer(accept(server, nullptr, nullptr));
  client.join();
}
