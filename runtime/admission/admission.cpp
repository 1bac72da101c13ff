#include "runtime/admission/admission.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

constexpr std::uint8_t format_version = 1;
// What is signed says what it is, so that it can pass for nothing else.
constexpr char signing_domain[] = "potluck admission\n";

std::uint64_t in_ms(std::chrono::milliseconds x) {
  return static_cast<std::uint64_t>(x.count());
}

std::string unsigned_bytes(const admission& x) {
  std::string bytes(1, static_cast<char>(format_version));
  append_id(bytes, x.run);
  append_id(bytes, x.holder);
  append_little_endian(bytes, x.not_before_ms);
  append_little_endian(bytes, x.expiry_ms);
  append_id(bytes, x.issuer);
  const auto add = [&](const std::string& token) {
    append_little_endian(bytes, static_cast<std::uint16_t>(token.size()));
    bytes += token;
  };
  add(x.backing);
  if (x.is_voucher())
    add(x.last);
  return bytes;
}

/// Whose it is, and of which run; nothing of its times.
std::string problem_with_names(const admission& x, const peer_id& holder,
                               const admission_scene& at,
                               const signatures& how) {
  if (x.run != at.run)
    return "is for another run";
  if (x.holder != holder)
    return "is for another peer's key";
  if (!how.fits(x.proof, x.issuer, signing_domain + unsigned_bytes(x)))
    return "is not signed by whom it names";
  return "";
}

std::string problem_with_times(const admission& x, std::uint64_t now_ms) {
  const auto tolerance = clock_tolerance_ms(x);
  if (now_ms + tolerance < x.not_before_ms)
    return "begins in the future, by the clocks here";
  if (now_ms > x.expiry_ms + tolerance)
    return "has expired";
  return "";
}

bool may_issue(const public_key& issuer, const admission_scene& at,
               const signatures& how) {
  const auto& all = at.organisers;
  return how.owner_of(issuer) == at.rules.authority.id
         || std::find(all.begin(), all.end(), issuer) != all.end();
}

/// Whether it is a token, at any time.
std::string problem_with_token(const admission& x, const peer_id& holder,
                               const admission_scene& at,
                               const signatures& how) {
  if (x.is_voucher() || !may_issue(x.issuer, at, how))
    return "is not of the run's authority";
  if (x.life_ms() > in_ms(limits::longest_token_life))
    return "lives longer than any token";
  return problem_with_names(x, holder, at, how);
}

} // namespace

std::uint64_t clock_tolerance_ms(const admission& x) {
  return std::min(in_ms(limits::most_clock_tolerance), x.life_ms() / 20);
}

admission issue(admission draft, const signatures& own) {
  draft.issuer = own.key();
  draft.proof = own.sign(signing_domain + unsigned_bytes(draft));
  return draft;
}

std::string to_bytes(const admission& x) {
  auto bytes = unsigned_bytes(x);
  append_id(bytes, x.proof);
  return bytes;
}

expected<admission> read_admission(std::string_view bytes) {
  byte_reader all{bytes};
  if (bytes.size() > max_admission_bytes
      || all.integer<std::uint8_t>() != format_version)
    return failure{"is none that this version of Potluck knows"};
  admission x;
  x.run = all.id<run_id>();
  x.holder = all.id<peer_id>();
  x.not_before_ms = all.integer<std::uint64_t>();
  x.expiry_ms = all.integer<std::uint64_t>();
  x.issuer = all.id<public_key>();
  x.backing = all.bytes(all.integer<std::uint16_t>());
  if (x.is_voucher())
    x.last = all.bytes(all.integer<std::uint16_t>());
  x.proof = all.id<signature>();
  // Half of what 64 bits hold: sums of two never overflow.
  constexpr auto latest = std::uint64_t{1} << 62;
  if (!all.done() || x.expiry_ms <= x.not_before_ms || x.expiry_ms > latest)
    return failure{"is cut short, or its times are none"};
  return x;
}

std::string problem_with_backing(const admission& x, const peer_id& holder,
                                 const admission_scene& at,
                                 const signatures& how) {
  if (auto problem = problem_with_token(x, holder, at, how); !problem.empty())
    return problem;
  if (at.now_ms + clock_tolerance_ms(x) < x.not_before_ms)
    return "begins in the future, by the clocks here";
  if (at.now_ms > x.expiry_ms + in_ms(limits::vouching_grace))
    return "has expired more than a day ago";
  return "";
}

std::string problem_with(const admission& x, const peer_id& holder,
                         const admission_scene& at, const signatures& how) {
  if (auto problem = problem_with_times(x, at.now_ms); !problem.empty())
    return problem;
  if (!x.is_voucher())
    return problem_with_token(x, holder, at, how);
  if (!at.rules.vouchers)
    return "is a voucher, and this run takes none";
  if (x.life_ms() > in_ms(limits::longest_voucher_life))
    return "lives longer than any voucher";
  if (auto problem = problem_with_names(x, holder, at, how); !problem.empty())
    return problem;
  // A chain of one: what backs a voucher, for either, is the authority's own
  // word.
  const auto problem = [&](const std::string& token, const peer_id& whose) {
    const auto backing = read_admission(token);
    return backing ? problem_with_backing(*backing, whose, at, how)
                   : backing.error();
  };
  if (auto of_its = problem(x.backing, how.owner_of(x.issuer)); !of_its.empty())
    return "is a voucher whose issuer's own token " + of_its;
  if (auto of_its = problem(x.last, holder); !of_its.empty())
    return "is a voucher whose holder's own last token " + of_its;
  return "";
}

} // namespace potluck
