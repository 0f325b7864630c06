#include "os/message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zerotax {

MessageWriter& MessageWriter::number(std::uint64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
  return *this;
}

MessageWriter& MessageWriter::all(const MessageWriter& other) {
  bytes_.append(other.bytes_);
  return *this;
}

std::uint64_t MessageReader::number() {
  std::uint64_t value = 0;
  if (rest_.size() < sizeof value) {
    rest_ = {};
    intact_ = false;
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string_view MessageReader::text() {
  const std::uint64_t bytes = number();
  if (bytes > rest_.size()) {
    rest_ = {};
    intact_ = false;
    return {};
  }
  const std::string_view value = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return value;
}

std::size_t MessageReader::count(std::size_t each) {
  const std::uint64_t parts = number();
  if (parts > rest_.size() / each) {
    rest_ = {};
    intact_ = false;
    return 0;
  }
  return parts;
}

bool MessageSocket::send(std::string_view bytes, int descriptor) {
  if (bytes.size() > kMostBytes) return false;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

std::optional<std::string_view> MessageSocket::receive(UniqueFd* descriptor) {
  buffer_.resize(kMostBytes);
  iovec part{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor != nullptr) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* head = descriptor != nullptr ? CMSG_FIRSTHDR(&message) : nullptr;
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(head), sizeof received);
    *descriptor = UniqueFd(received);
  }
  if (got <= 0 || (message.msg_flags & MSG_TRUNC) != 0) return std::nullopt;
  return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
}

}  // namespace zerotax
