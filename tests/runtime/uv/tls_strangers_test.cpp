/// What becomes of those who prove nothing.
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::strangers;
using namespace std::chrono_literals;

TEST_CASE("noise and other protocols are shown the door") {
  for (const std::string& text :
       {std::string{"GET / HTTP/1.1\r\nHost: example\r\n\r\n"},
        std::string{"SSH-2.0-OpenSSH_9.2\r\n"}, std::string(1, '\0'),
        std::string(100'000, '\xff')}) {
    std::string answer;
    auto reason = reason_after([&](const address& where) {
      wire x{where};
      ::send(x.fd(), text.data(), text.size(), MSG_NOSIGNAL);
      answer = x.rest();
    });
    CHECK(reason
          == "the other side does not speak TLS 1.3; it is another program");
    if (text.size() < 1000) // Else a reset may overtake it.
      CHECK(answer == std::string{"\x15\x03\x03\x00\x02\x02\x46", 7});
  }
}

TEST_CASE("what only begins like TLS is shown the door") {
  for (const std::string& text :
       {std::string{"\x16\x03\x01\x00\x05\xff\xff\xff\xff\xff", 10},
        std::string{"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9},
        std::string{"\x16\x03\x03\xff\xff", 5},
        std::string{"\x15\x03\x03\x00\x02\x02\x28", 7}}) {
    auto reason = reason_after([&](const address& where) {
      wire x{where};
      x.write(text);
      x.rest();
    });
    CAPTURE(reason);
    CHECK(says(reason, "the encrypted connection failed: "));
  }
}

TEST_CASE("an older TLS is refused") {
  auto knock = [](const address& where) {
    program{TLS1_2_VERSION, TLS1_2_VERSION}.meet(wire{where}, false);
  };
  CHECK(says(reason_after(knock), "does not speak TLS 1.3"));
  auto key = ed25519();
  CHECK(says(reason_of_dial([&](wire& x) {
               program old{TLS1_2_VERSION, TLS1_2_VERSION};
               old.show(key.get(), nullptr);
               old.meet(x, true);
             }),
             "does not speak TLS 1.3"));
}

TEST_CASE("who shows no certificate, or a wrong one, is refused") {
  auto with = [](EVP_PKEY* key, const EVP_MD* hash, EVP_PKEY* signer) {
    return [=](const address& where) {
      program x{TLS1_3_VERSION, TLS1_3_VERSION};
      if (key != nullptr)
        x.show(key, hash, signer);
      x.meet(wire{where}, false);
    };
  };
  CHECK(reason_after(with(nullptr, nullptr, nullptr))
        == "the other side showed no certificate with an Ed25519 key");
  // It is told that it would not do, and so shows none.
  CHECK(reason_after(with(rsa().get(), EVP_sha256(), nullptr))
        == "the other side showed no certificate with an Ed25519 key");
  auto one = ed25519(), other = ed25519();
  CHECK(reason_after(with(one.get(), nullptr, other.get()))
        == "the other side showed a certificate that its own key has not "
           "signed");
}

TEST_CASE("whoever is dialled has to prove a key as well") {
  auto answer_with = [](EVP_PKEY* key, const EVP_MD* hash, EVP_PKEY* signer) {
    return [=](wire& x) {
      program answering{TLS1_3_VERSION, TLS1_3_VERSION};
      answering.show(key, hash, signer);
      answering.meet(x, true);
    };
  };
  auto other_key
      = reason_of_dial(answer_with(rsa().get(), EVP_sha256(), nullptr));
  CHECK(says(other_key, "the encrypted connection failed: "));
  auto one = ed25519(), other = ed25519();
  CHECK(says(reason_of_dial(answer_with(one.get(), nullptr, other.get())),
             "showed a certificate that its own key has not signed"));
}

TEST_CASE("who stops in the middle of a handshake is not waited for") {
  auto how = secure();
  how.handshake_timeout = 200ms;
  auto silent = [](const address& where) { wire{where}.rest(); };
  CHECK(says(reason_after(silent, how), "has not proven who it is in time"));
  auto half = [](const address& where) {
    wire x{where};
    x.write(std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11});
    x.rest();
  };
  CHECK(says(reason_after(half, how), "has not proven who it is in time"));
  CHECK(says(reason_of_dial([](wire& x) { x.rest(); }, how),
             "has not proven who it is in time"));
}

TEST_CASE("who hangs up in the middle of a handshake is gone") {
  CHECK(says(reason_after([](const address& where) { wire{where}; }),
             "before it had proven who it is"));
  CHECK(says(reason_of_dial([](wire& x) { shutdown(x.fd(), SHUT_RDWR); }),
             "before it had proven who it is"));
}

TEST_CASE("those who prove nothing do not take all the room") {
  auto how = secure();
  how.max_unproven = 3;
  node server{make_uv_transport(how)};
  auto where = *server.net->listen(anywhere);
  std::vector<std::unique_ptr<wire>> idle;
  for (int i = 0; i < 3; ++i)
    idle.push_back(std::make_unique<wire>(where));
  // For the fourth the oldest gives way.
  wire fourth{where};
  CHECK(idle.front()->rest().empty());
  CHECK(says(reason_of(server), "it made room for others"));
  node friendly{make_uv_transport(secure())};
  for (int i = 0; i < 10; ++i)
    CHECK(friendly.heard->wait_for_open(friendly.net->dial(where)));
}

TEST_CASE("who sends much and proves nothing is not read on") {
  // The beginning of a handshake whose messages never end.
  auto record = [](std::uint8_t type, const std::string& what) {
    std::string x{static_cast<char>(type), 3, 1};
    x += static_cast<char>(what.size() >> 8);
    x += static_cast<char>(what.size());
    return x + what;
  };
  auto endless = [&](const address& where) {
    wire x{where};
    x.write(record(22, std::string{"\x01\x00\xff\xff", 4}
                           + std::string(limits::bytes_before_proof, 'x')));
    x.rest();
  };
  CHECK(says(reason_after(endless), "sends much and proves nothing"));
}
