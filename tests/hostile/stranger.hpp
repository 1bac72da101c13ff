/// A stranger: a connection to a peer, below everything that keeps its manners.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/codec.hpp"
#include "messages/framing.hpp"
#include "runtime/uv/tls_channel.hpp"
#include "tests/loopback/scene.hpp"

namespace potluck::hostile {

using namespace loopback;

/// Who the stranger is, if it is always the same one.
const key_pair& key();

enum class line { plain, encrypted };

class raw_socket {
public:
  struct manner {
    std::string from = "127.0.0.1"; ///< An address of this machine.
    /// For each write.
    std::chrono::milliseconds patience = startup_patience;
    bool reads_little = false; ///< The kernel takes little that is not read.
  };

  /// Connects to a port of this machine, and proves that it is `who`.
  raw_socket(std::uint16_t port, line how, const key_pair& who = key());
  raw_socket(std::uint16_t port, line how, const key_pair& who,
             const manner& x);
  ~raw_socket();
  raw_socket(const raw_socket&) = delete;
  raw_socket& operator=(const raw_socket&) = delete;

  /// Whether a connection came about.
  bool open() const {
    return open_;
  }
  /// Writes what was left of before, and then this, as far as it is taken.
  /// False when something is left of before: then none of this is written.
  bool write(const std::string& bytes);
  void end_writing();
  /// Everything the other side writes until it closes; false if it does not.
  bool read_to_end(std::string& bytes);
  /// Whether it has closed, without waiting. What has come is lost.
  bool ended();

private:
  /// Above zero: so many bytes; zero: the end; below: nothing in time.
  int read_some();
  void decrypt(std::string& bytes);
  bool flush();
  bool shake(const key_pair& who);

  int file_ = -1;
  bool open_ = false;
  std::optional<tls_channel> tls_;
  std::string left_; ///< To be sent.
  std::uint8_t buffer_[4096];
  std::size_t size_ = 0;
};

/// A frame whose checksum fits, whatever is in it.
std::string framed(const std::string& head, const std::string& body);
std::string frame_of(const message& x, const std::string& body = "");
std::string preamble_of(std::uint32_t head, std::uint32_t body);
/// Of a trainer of the usual run.
hello greeting(const key_pair& who = key());

/// From here on this process may have as many sockets as the system lets it.
void allow_many_sockets();

/// Bytes of the process that are in memory.
std::size_t memory_of(const peer& who);

} // namespace potluck::hostile
