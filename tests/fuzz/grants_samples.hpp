/// Sound inputs of `fuzz_grants`.
#pragma once

#include "runtime/admission/admission.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/admission/kept_admission.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/organiser/amendment.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::grants_samples {

inline run_id run() {
  run_id x;
  x.bytes[0] = 7;
  return x;
}

/// What an organiser signs, without the seal.
inline std::string body(std::uint64_t number, run_change what) {
  static const auto organiser = key_pair::generate();
  amendment x;
  x.run = run();
  x.number = number;
  x.from = 5;
  x.signed_ms = 1'700'000'000'000;
  x.change = std::move(what);
  x.reason = "why not";
  const auto bytes = sign_amendment(x, organiser);
  return bytes.substr(0, bytes.size() - public_key::size - signature::size);
}

/// By somebody whose id is its key, for itself.
inline std::string token(const key_pair& by, std::string backing = {}) {
  admission x;
  x.run = run();
  x.holder.bytes = by.public_half().bytes;
  x.not_before_ms = 1'700'000'000'000;
  x.expiry_ms = x.not_before_ms + 3'600'000;
  x.last = backing; // Where there is one.
  x.backing = std::move(backing);
  return to_bytes(issue(x, *signatures_of(by)));
}

/// Three steps of a group of four, which three sign, twice.
inline std::string steps() {
  std::string chain(1, '\3');
  for (int i = 0; i < 3; ++i) {
    chain += std::string("\1\1", 2);             // Charter, steps between.
    chain += std::string("\0\x0f\0\x07", 4);     // Makers, signers.
    chain += std::string("\0\7\0\7\0\7\0\7", 8); // Samples.
  }
  return chain + chain;
}

inline fuzz_samples all() {
  const auto of = [](int kind, const std::string& bytes) {
    return static_cast<char>(kind) + bytes;
  };
  const auto key = key_pair::generate();
  peer_id someone;
  someone.bytes[0] = 3;
  fuzz_samples result;
  std::string book;
  std::uint64_t number = 0;
  for (const run_change& x : std::vector<run_change>{
           new_steps{60}, new_rate_tail{9}, pause_run{}, resume_run{},
           finish_run{}, new_bans{false, {someone}}, roll_back{3, {}},
           new_admission{admission_mode::token}}) {
    result.push_back(of(0, body(1, x)));
    append_text(book, body(++number, x));
  }
  const auto hex = to_string(key.public_half());
  result.push_back(of(1, book));
  result.push_back(of(2, "none"));
  result.push_back(of(2, hex));
  result.push_back(
      of(2, "2/" + hex + "," + to_string(key_pair::generate().public_half())));
  const auto mine = token(key);
  result.push_back(of(3, mine));
  result.push_back(of(3, token(key, mine)));
  const auto given
      = delegate_to(someone, 1'700'000'000'000, *signatures_of(key));
  std::string bytes(1, '\1');
  append_id(bytes, given.person);
  append_id(bytes, given.machine);
  append_little_endian(bytes, given.until_ms);
  append_id(bytes, given.proof);
  result.push_back(of(4, bytes));
  result.push_back(of(5, to_bytes(admission_claim{})));
  result.push_back(of(5, to_bytes(admission_claim{{}, given, "words", mine})));
  std::string rules;
  for (const auto& text :
       {std::string{"token"}, to_string(key.id()) + "@192.0.2.1:7000",
        std::string{"yes"}})
    append_text(rules, text);
  result.push_back(of(6, rules));
  result.push_back(of(7, to_bytes(kept_admission{mine, mine})));
  result.push_back(of(8, steps()));
  return result;
}

} // namespace potluck::grants_samples
