#include "runtime/admission/admission_claim.hpp"

#include "messages/limits.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/checked_text.hpp"

namespace potluck {

namespace {

constexpr std::uint8_t claim_format = 1;
constexpr char delegation_domain[] = "potluck delegate\n";
const std::string prefix = "potluck-delegate";

void append(std::string& out, const delegation& x) {
  append_id(out, x.person);
  append_id(out, x.machine);
  append_little_endian(out, x.until_ms);
  append_id(out, x.proof);
}

delegation read_one(byte_reader& in) {
  delegation x;
  x.person = in.id<public_key>();
  x.machine = in.id<peer_id>();
  x.until_ms = in.integer<std::uint64_t>();
  x.proof = in.id<signature>();
  return x;
}

std::string signed_bytes(const delegation& x) {
  std::string bytes = delegation_domain;
  append_id(bytes, x.machine);
  append_little_endian(bytes, x.until_ms);
  return bytes;
}

/// With their length, two bytes, in front.
void append_long(std::string& out, const std::string& x) {
  append_little_endian(out, static_cast<std::uint16_t>(x.size()));
  out += x;
}

} // namespace

delegation delegate_to(const peer_id& machine, std::uint64_t until_ms,
                       const signatures& person) {
  delegation x{person.key(), machine, until_ms};
  x.proof = person.sign(signed_bytes(x));
  return x;
}

std::string problem_with(const delegation& x, const peer_id& machine,
                         std::uint64_t now_ms, const signatures& how) {
  if (x.machine != machine)
    return "is for another machine";
  if (now_ms > x.until_ms)
    return "has expired";
  if (!how.fits(x.proof, x.person, signed_bytes(x)))
    return "is not signed by the person that it names";
  return "";
}

std::string to_text(const delegation& x) {
  std::string bytes(1, static_cast<char>(claim_format));
  append(bytes, x);
  return to_checked_text(prefix, bytes);
}

expected<delegation> read_delegation(std::string_view text) {
  const auto checked = read_checked_text(prefix, text);
  if (!checked.problem.empty())
    return failure{"This is no sound delegation: " + checked.problem
                   + ". Copy it again, as a whole."};
  byte_reader all{checked.bytes};
  const auto version = all.integer<std::uint8_t>();
  auto x = read_one(all);
  if (version != claim_format || !all.done())
    return failure{"This is no delegation that this version of Potluck knows; "
                   "make it with the same version."};
  return x;
}

std::string to_bytes(const admission_claim& x) {
  std::string bytes(1, static_cast<char>(claim_format));
  append_id(bytes, x.code);
  bytes += static_cast<char>(x.of ? 1 : 0);
  if (x.of)
    append(bytes, *x.of);
  append_long(bytes, x.words);
  append_long(bytes, x.last);
  return bytes;
}

expected<admission_claim> read_claim(std::string_view bytes) {
  byte_reader all{bytes};
  admission_claim x;
  const auto version = all.integer<std::uint8_t>();
  x.code = all.id<invite_code>();
  const auto delegated = all.integer<std::uint8_t>();
  if (delegated == 1)
    x.of = read_one(all);
  x.words = all.bytes(all.integer<std::uint16_t>());
  x.last = all.bytes(all.integer<std::uint16_t>());
  if (version != claim_format || delegated > 1 || !all.done()
      || x.words.size() > max_claim_words
      || x.last.size() > max_admission_bytes)
    return failure{"is none that this version of Potluck knows"};
  return x;
}

} // namespace potluck
