#include "runtime/identity/sealing.hpp"

#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

void append(std::string& out, std::string_view x) {
  append_little_endian(out, static_cast<std::uint32_t>(x.size()));
  out += x;
}

} // namespace

std::string bytes_under(const seal& x, const sealed_words& what) {
  std::string result;
  append(result, what.domain);
  append(result, what.subject);
  append(result, what.text);
  append_little_endian(result, what.type);
  append_little_endian(result, x.number);
  append_little_endian(result, x.life_ms);
  return result;
}

seal seal_of(const sealed_words& what, std::uint64_t number,
             std::uint32_t life_ms, const signatures& own) {
  seal x;
  x.signer = own.key();
  x.number = number;
  x.life_ms = life_ms;
  x.proof = own.sign(bytes_under(x, what));
  return x;
}

bool holds(const seal& x, const sealed_words& what, const signatures& how) {
  return how.fits(x.proof, x.signer, bytes_under(x, what));
}

freshness freshness_of(const seal& x, std::uint64_t now_ms,
                       std::uint64_t tolerance_ms) {
  if (x.number > now_ms && x.number - now_ms > tolerance_ms)
    return freshness::early;
  if (now_ms > x.number && now_ms - x.number > x.life_ms + tolerance_ms)
    return freshness::expired;
  return freshness::fresh;
}

} // namespace potluck
