#include "tests/hostile/stranger.hpp"

#include <arpa/inet.h>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace potluck::hostile {

namespace {

sockaddr_in at(const std::string& host, std::uint16_t port) {
  sockaddr_in x{};
  x.sin_family = AF_INET;
  x.sin_port = htons(port);
  inet_pton(AF_INET, host.c_str(), &x.sin_addr);
  return x;
}

} // namespace

const key_pair& key() {
  static const auto made = key_pair::generate();
  return made;
}

raw_socket::raw_socket(std::uint16_t port, line how, const key_pair& who)
    : raw_socket(port, how, who, manner{}) {
  REQUIRE(open_);
}

raw_socket::raw_socket(std::uint16_t port, line how, const key_pair& who,
                       const manner& x)
    : file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  REQUIRE(file_ >= 0);
  if (x.reads_little) {
    const int bytes = 4096;
    ::setsockopt(file_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(x.patience);
  const timeval patience{
      seconds.count(), std::chrono::microseconds{x.patience - seconds}.count()};
  ::setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const auto from = at(x.from, 0), to = at("127.0.0.1", port);
  REQUIRE(::bind(file_, reinterpret_cast<const sockaddr*>(&from), sizeof(from))
          == 0);
  if (::connect(file_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0)
    open_ = how == line::plain || shake(who);
}

raw_socket::~raw_socket() {
  ::close(file_);
}

bool raw_socket::shake(const key_pair& who) {
  tls_.emplace(tls_context{who}, tls_channel::side::dialler, 1000);
  for (;;) {
    const auto result = tls_->shake();
    if (!flush())
      return false;
    if (result == tls_channel::verdict::done)
      return true;
    if (result != tls_channel::verdict::more || read_some() <= 0)
      return false;
    tls_->feed(buffer_, size_);
  }
}

bool raw_socket::write(const std::string& bytes) {
  if (!flush())
    return false;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (tls_) {
    tls_->write(data, bytes.size());
    tls_->flush();
  } else {
    left_ = bytes;
  }
  flush();
  return true;
}

void raw_socket::end_writing() {
  ::shutdown(file_, SHUT_WR);
}

bool raw_socket::read_to_end(std::string& bytes) {
  for (;;) {
    const auto size = read_some();
    if (size <= 0)
      return size == 0;
    if (tls_)
      decrypt(bytes);
    else
      bytes.append(reinterpret_cast<char*>(buffer_), size_);
  }
}

bool raw_socket::ended() {
  for (;;) {
    const auto size = ::recv(file_, buffer_, sizeof(buffer_), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN))
      return true;
    if (size < 0)
      return false;
  }
}

int raw_socket::read_some() {
  pollfd ready{file_, POLLIN, 0};
  const std::chrono::milliseconds patience{startup_patience};
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0)
    return -1;
  const auto size = ::recv(file_, buffer_, sizeof(buffer_), 0);
  size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  return static_cast<int>(size_);
}

void raw_socket::decrypt(std::string& bytes) {
  tls_->feed(buffer_, size_);
  std::uint8_t room[4096];
  for (;;) {
    const auto got = tls_->read(room, sizeof(room));
    if (got.what != tls_channel::verdict::done)
      return; // After a goodbye or a failure the end of the stream follows.
    bytes.append(reinterpret_cast<char*>(room), got.size);
  }
}

bool raw_socket::flush() {
  if (tls_) {
    byte_array out;
    tls_->take_output(out);
    left_.append(out.begin(), out.end());
  }
  std::size_t sent = 0;
  while (sent < left_.size()) {
    // The other side may have closed already, which may be what we want.
    const auto some
        = ::send(file_, left_.data() + sent, left_.size() - sent, MSG_NOSIGNAL);
    if (some <= 0)
      break;
    sent += static_cast<std::size_t>(some);
  }
  left_.erase(0, sent);
  return left_.empty();
}

std::string framed(const std::string& head, const std::string& body) {
  auto bytes = [](const std::string& x) {
    return reinterpret_cast<const std::uint8_t*>(x.data());
  };
  const auto preamble = write_preamble(
      preamble_for(bytes(head), head.size(), bytes(body), body.size()));
  return std::string(preamble.begin(), preamble.end()) + head + body;
}

std::string frame_of(const message& x, const std::string& body) {
  const auto head = encode(x);
  return framed({head.begin(), head.end()}, body);
}

std::string preamble_of(std::uint32_t head, std::uint32_t body) {
  const auto bytes = write_preamble({head, body, 0});
  return std::string(bytes.begin(), bytes.end());
}

hello greeting(const key_pair& who) {
  hello x;
  x.id = who.id();
  x.run = "potluck";
  return x;
}

void allow_many_sockets() {
  rlimit most{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &most) == 0);
  most.rlim_cur = most.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &most) == 0);
}

std::size_t memory_of(const peer& who) {
  std::ifstream in{"/proc/" + std::to_string(who.process.pid()) + "/statm"};
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace potluck::hostile
