/// Strangers that write nonsense to a peer's port, unencrypted or with a key of
/// their own: each loses its connection, and nobody else loses anything.
#include <random>

#include <doctest/doctest.h>

#include "tests/hostile/stranger.hpp"

using namespace potluck::hostile;
using nlohmann::json;

namespace {

/// The frames in `bytes` that can be read.
std::vector<potluck::message> frames_in(const std::string& bytes) {
  std::vector<potluck::message> result;
  auto data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t at = 0;
  while (at + potluck::preamble_bytes <= bytes.size()) {
    auto sizes = potluck::read_preamble(data + at);
    REQUIRE(sizes.has_value());
    at += potluck::preamble_bytes;
    if (at + sizes->head_size + sizes->body_size > bytes.size())
      break;
    auto content
        = potluck::decode(data + at, sizes->head_size, sizes->body_size);
    if (content)
      result.push_back(*content);
    at += sizes->head_size + sizes->body_size;
  }
  return result;
}

/// Writes `bytes` to the peer and checks that it closes the connection.
std::string check_closed_after(peer& who, const std::string& bytes,
                               line how = line::encrypted) {
  raw_socket s{who.port(), how};
  s.write(bytes);
  std::string answer;
  CHECK(s.read_to_end(answer));
  return answer;
}

} // namespace

TEST_CASE("nonsense costs the connection that carries it, and training goes "
          "on") {
  scene s;
  auto& a = s.join("a", tiny_run(128, 1000000));
  auto& b = s.join("b", {"--peer", a.address()});
  b.await("step");
  auto before = b.last_step();
  auto hello = frame_of(greeting());

  std::mt19937 random{1};
  std::string noise;
  for (int i = 0; i < 100000; ++i)
    noise += static_cast<char>(random());
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

  INFO("unencrypted");
  for (auto victim : {&a, &b}) {
    for (auto& bytes : {noise, request, hello, preamble_of(64, 0)})
      check_closed_after(*victim, bytes, line::plain);
    // Like the beginning of a handshake, and then noise.
    check_closed_after(*victim, "\x16\x03\x01\x02" + noise, line::plain);
  }

  INFO("before a hello");
  for (auto victim : {&a, &b}) {
    check_closed_after(*victim, noise);
    check_closed_after(*victim, request);
    // A head of zero bytes, a head too large, a body too large.
    check_closed_after(*victim, preamble_of(0, 0));
    check_closed_after(*victim, preamble_of(potluck::max_head_bytes + 1, 0));
    check_closed_after(*victim, preamble_of(64, potluck::max_body_bytes + 1));
    check_closed_after(*victim, preamble_of(64, 0) + std::string(64, '\xff'));
    // A message, but none that can come first.
    check_closed_after(*victim, frame_of(potluck::heartbeat{1}));
    // A stranger's refusal is no reason to end.
    check_closed_after(*victim, frame_of(potluck::refusal{"Go away."}));
  }

  INFO("with a hello in another's name");
  for (auto victim : {&a, &b}) {
    auto lie = greeting();
    lie.id = *potluck::parse_id<potluck::peer_id>((victim == &a ? b : a).id());
    auto answer = check_closed_after(*victim, frame_of(lie));
    std::string sentence;
    for (auto& x : frames_in(answer))
      if (auto no = std::get_if<potluck::refusal>(&x))
        sentence = no->sentence;
    CHECK(sentence.find("belongs to peer " + short_name(key().id()))
          != std::string::npos);
  }

  INFO("behind a hello");
  for (auto victim : {&a, &b}) {
    check_closed_after(*victim,
                       hello + preamble_of(64, 0) + std::string(64, '\xff'));
    check_closed_after(*victim, hello + framed(std::string(64, '\xff'), ""));
    check_closed_after(*victim, hello + "PLK0 is another protocol's magic");
    check_closed_after(*victim, hello + preamble_of(64, 1u << 31));
    auto damaged = frame_of(potluck::routing_ping{});
    damaged.back() = static_cast<char>(damaged.back() ^ 0x55);
    check_closed_after(*victim, hello + damaged);
    auto nonsense = damaged.substr(potluck::preamble_bytes);
    nonsense[0] = '\x7f';
    check_closed_after(*victim, hello + framed(nonsense, ""));
    // A body where there can be none.
    check_closed_after(*victim, hello + frame_of(potluck::heartbeat{1}, "x"));
    // A frame that ends in the middle.
    raw_socket cut{victim->port(), line::encrypted};
    cut.write(hello + preamble_of(64, 4096) + "half");
    cut.end_writing();
    std::string answer;
    CHECK(cut.read_to_end(answer));
  }

  INFO("valid messages at the wrong time");
  for (auto victim : {&a, &b}) {
    raw_socket stranger{victim->port(), line::encrypted};
    potluck::round_verdict verdict;
    verdict.group.bytes.fill(9);
    potluck::state_piece piece;
    piece.state.bytes.fill(9);
    potluck::group_cancel cancel;
    cancel.group.bytes.fill(9);
    stranger.write(hello + hello + frame_of(verdict)
                   + frame_of(piece, std::string(1024, 'x')) + frame_of(cancel)
                   + frame_of(potluck::refusal{"Go away."})
                   + frame_of(potluck::goodbye{"never mind"}));
    std::string answer;
    CHECK(stranger.read_to_end(answer));
  }

  // Nobody lost anybody, and both still agree.
  b.await_step(std::max(b.last_step(), before) + 5);
  a.await_step(b.last_step());
  auto of_a = a.digests();
  std::size_t common = 0;
  for (auto& [step, digest] : b.digests())
    if (of_a.count(step)) {
      CHECK(of_a.at(step) == digest);
      ++common;
    }
  CHECK(common > 5);
  for (auto p : {&a, &b}) {
    CHECK(p->process.running());
    auto other = (p == &a ? b : a).id().substr(0, 8);
    for (auto& x : p->log.named("departure"))
      CHECK(x.at("peer") != other);
    for (auto& x : p->log.named("fault"))
      CHECK(x.at("what").get<std::string>().rfind("restarted", 0)
            == std::string::npos);
  }
}

TEST_CASE("a peer of another protocol version is refused with a sentence") {
  scene s;
  auto& host = s.join("host", tiny_run(64, 1000000));
  host.await("step");
  auto other = greeting();
  other.version = potluck::protocol_version + 1;
  auto answer = check_closed_after(host, frame_of(other));
  std::string sentence;
  for (auto& x : frames_in(answer))
    if (auto no = std::get_if<potluck::refusal>(&x))
      sentence = no->sentence;
  INFO(sentence);
  CHECK(sentence.find("version") != std::string::npos);
  CHECK(sentence.find(std::to_string(other.version)) != std::string::npos);
  host.await_step(host.last_step() + 2);
}

TEST_CASE("a settings mismatch in the hello names the setting") {
  scene s;
  auto& host = s.join("host", tiny_run(64, 1000000));
  host.await("step");
  auto other = greeting();
  other.charter.bytes.fill(1);
  other.settings = {{"target-batch", "999"}};
  std::string sentence;
  for (auto& x : frames_in(check_closed_after(host, frame_of(other))))
    if (auto no = std::get_if<potluck::refusal>(&x))
      sentence = no->sentence;
  INFO(sentence);
  CHECK(sentence.find("target-batch is 999 here and 64 there")
        != std::string::npos);
}
