/// Sound inputs of `fuzz_files`.
#pragma once

#include <memory>

#include <openssl/x509.h>

#include "runtime/identity/certificate.hpp"
#include "runtime/membership/kept_addresses.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/little_endian.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::files_samples {

/// A disk that remembers the last file.
class one_file : public disk {
public:
  std::string bytes;
  expected<bool> replace(const std::string&,
                         const std::vector<file_section>& sections) override {
    bytes.clear();
    for (auto& x : sections)
      bytes.append(static_cast<const char*>(x.data), x.size);
    return true;
  }
};

inline training_state state(std::size_t values) {
  training_state x;
  x.step = 3;
  x.history_samples = 96;
  for (auto* part : {&x.parameters, &x.first_moment, &x.second_moment})
    part->assign(values, 0.5f);
  remember_digest(x);
  return x;
}

inline std::string expert(const std::string& values) {
  const std::string uid = "ffn.0.1";
  std::string result = "PLX2";
  append_little_endian(result, static_cast<std::uint32_t>(uid.size()));
  result += uid;
  append_little_endian(result, std::uint32_t{2});
  append_little_endian(result, std::uint64_t{7});
  const auto sum = digest_of(values.data(), values.size());
  result.append(sum.bytes.begin(), sum.bytes.end());
  return result + values;
}

inline std::string certificate() {
  const auto made = make_certificate(key_pair::generate());
  unsigned char* der = nullptr;
  const auto size = i2d_X509(made.get(), &der);
  std::string result(reinterpret_cast<char*>(der),
                     static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return result;
}

inline std::string addresses() {
  kept_addresses x;
  x.listens(41234);
  peer_id id;
  for (std::uint8_t i = 1; i < 4; ++i) {
    id.bytes[0] = i;
    const contact who{id, {"198.51.100." + std::to_string(i), 7000}};
    if (i == 1)
      x.met(who, 1'700'000'000);
    else if (i == 2)
      x.claimed(who, 1'700'000'001);
    else
      x.named({id, {"seed.example.org", 7000}}, 1'700'000'002);
  }
  return x.text();
}

inline std::string artifacts() {
  artifact_list all;
  for (auto name : {"model", "words"}) {
    artifact x;
    x.name = name;
    x.bytes = max_artifact_bytes;
    x.content = sha256(x.name);
    x.pieces = sha256(x.name + " in pieces");
    all.push_back(x);
  }
  return to_artifacts_text(all);
}

/// Of two, of which one has signed it.
inline signed_step a_step() {
  signed_step x;
  x.charter.bytes[0] = x.before.bytes[0] = x.after.bytes[0] = 1;
  x.step = 3;
  x.samples = 20;
  x.makers.resize(2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    x.makers[i].id.bytes[0] = i + 1;
    x.makers[i].samples = 10;
  }
  x.makers[1].by.signer.bytes[0] = x.makers[1].by.proof.bytes[0] = 1;
  return x;
}

inline fuzz_samples all() {
  const auto of = [](int kind, const std::string& bytes) {
    return static_cast<char>(kind) + bytes;
  };
  one_file disk;
  save_checkpoint("", charter{{}, "tokens"}, state(40), disk, {a_step()});
  return {of(0, disk.bytes),
          of(128 | 0, disk.bytes),
          of(1, artifacts()),
          of(2, expert("values")),
          of(128 | 2, expert("values")),
          of(3, addresses()),
          of(4, key_pair::generate().pem()),
          of(5, certificate()),
          of(6, "; comment\nsteps=3\n[join]\nrate=0.25\npeer=[\"a:1\", "
                "\"b:2\"]\ndata=\"x\"\ninsecure=true\n[bootstrap]\n"
                "listen=\"y\"\n[scheduler]\nmax-threads=2\n")};
}

} // namespace potluck::files_samples
