/// What a run's organisers, authority and members grant and sign: amendments,
/// admissions and what is claimed for them, delegations, and chains of steps.
///
/// The first byte says which. Seals fit what they are put behind, so that what
/// is below them is looked at. tools/fuzz runs it with libFuzzer,
/// grants_fuzz_test.cpp without.
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/admission/admission.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/admission/kept_admission.hpp"
#include "runtime/history/signed_steps.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/checked_text.hpp"
#include "runtime/organiser/amendment_book.hpp"
#include "tests/fuzz/grants_samples.hpp"
#include "tests/fuzz/input_script.hpp"
#include "tests/fuzz/insist.hpp"
#include "tests/fuzz/trusting_signatures.hpp"

using namespace potluck;
using grants_samples::run;

namespace {

// ---- the organisers'

const std::array<key_pair, 2>& keys() {
  static const std::array<key_pair, 2> made{key_pair::generate(),
                                            key_pair::generate()};
  return made;
}

std::string seal_by(const key_pair& key, const std::string& body) {
  auto bytes = body;
  append_id(bytes, key.public_half());
  append_id(bytes, key.sign("potluck amendment\n" + bytes));
  return bytes;
}

bool try_amendment(const std::string& body) {
  const organisers one{keys()[0].public_half()};
  const organisers both{{keys()[0].public_half(), keys()[1].public_half()}, 2};
  using verdict = read_amendment::verdict;
  insist(read_amendment_of(run(), one, body).is == verdict::wrong);
  const auto bytes = seal_by(keys()[0], body);
  const auto x = read_amendment_of(run(), one, bytes);
  insist(x.sentence.empty() == (x.is == verdict::sound));
  if (x.is != verdict::sound)
    return false;
  insist(sign_amendment(x.what, keys()[0]) == bytes);
  insist(!to_sentence(x.what.change, x.what.from).empty());
  // Of two organisers one is too few, and both are enough.
  insist(read_amendment_of(run(), both, bytes).is == verdict::wrong);
  insist(!sign_as_well(run(), both, bytes, keys()[0]));
  const auto twice = sign_as_well(run(), both, bytes, keys()[1]);
  insist(twice && read_amendment_of(run(), both, *twice).is == verdict::sound);
  return true;
}

/// Of bodies, each with its length of one byte.
bool try_book(const std::string& bytes) {
  const organisers signers{keys()[0].public_half()};
  amendment_book book{run(), signers};
  book.read(bytes);
  insist(book.latest() == 0);
  byte_reader from{bytes};
  while (!from.done() && !from.lacks())
    book.take(seal_by(keys()[0], from.text()));
  amendment_book again{run(), signers};
  insist(again.read(book.to_bytes()).empty());
  insist(again.latest() == book.latest()
         && again.to_bytes() == book.to_bytes());
  return book.latest() > 0;
}

bool try_organisers(const std::string& text) {
  const auto x = read_organisers(keys()[0].public_half(), text);
  if (!x)
    return false;
  insist(x->needed >= 1 && x->needed <= x->keys.size());
  insist(x->keys.size() <= 1 + organisers::most_others);
  return true;
}

// ---- admissions

bool try_admission(const std::string& bytes) {
  const auto x = read_admission(bytes);
  if (!x)
    return false;
  insist(to_bytes(*x) == bytes);
  // By the authority, and by a stranger, at a time within its life.
  const trusting_signatures how;
  admission_scene at;
  at.run = x->run;
  at.rules.authority.id = how.owner_of(x->issuer);
  at.now_ms = x->not_before_ms + x->life_ms() / 2;
  const auto problem = problem_with(*x, x->holder, at, how);
  problem_with_backing(*x, x->holder, at, how);
  at.rules.authority.id.bytes[0] ^= 1;
  insist(x->is_voucher() || !problem_with(*x, x->holder, at, how).empty());
  return problem.empty();
}

bool try_delegation(const std::string& bytes) {
  read_delegation(bytes); // As it stands, it is hardly ever one.
  const auto text = to_checked_text("potluck-delegate", bytes.substr(0, 500));
  const auto x = read_delegation(text);
  if (!x)
    return false;
  insist(to_text(*x) == text);
  return true;
}

bool try_claim(const std::string& bytes) {
  const auto x = read_claim(bytes);
  if (!x)
    return false;
  insist(to_bytes(*x) == bytes);
  return true;
}

/// Texts, each with its length: how, authority, vouchers.
bool try_rules(const std::string& bytes) {
  byte_reader from{bytes};
  const auto how = from.text();
  const auto authority = from.text();
  const auto vouchers = from.text();
  const auto x = read_admission_rules(how, authority, vouchers);
  if (!x)
    return false;
  insist(authority_text(x->authority) == authority);
  insist(x->closed() != x->authority.id.empty());
  return true;
}

bool try_kept(const std::string& bytes) {
  const auto x = read_kept_admission(bytes);
  if (x.token.empty() && x.voucher.empty())
    return false;
  insist(to_bytes(x) == bytes);
  return true;
}

// ---- steps

/// As what was decoded holds them: makers and steps in order.
std::vector<signed_step> steps_of(input_script& from) {
  std::vector<signed_step> result;
  std::uint64_t step = 0;
  for (auto n = from.byte() % (2 * max_shown_steps); n > 0 && !from.over();
       --n) {
    signed_step x;
    x.charter.bytes[0] = static_cast<std::uint8_t>(1 + from.byte() % 2);
    x.step = step += 1 + from.byte() % 3;
    x.before.bytes[0] = x.after.bytes[0] = 1;
    const auto all = from.number(), signers = from.number();
    for (std::uint8_t i = 0; i < 16; ++i)
      if (all >> i & 1) {
        step_maker maker;
        maker.id.bytes[0] = i + 1;
        maker.samples = 1 + from.number();
        if (signers >> i & 1) {
          maker.by.signer = {maker.id.bytes};
          maker.by.proof.bytes[0] = 1;
        }
        x.makers.push_back(maker);
      }
    if (!x.makers.empty())
      result.push_back(std::move(x));
  }
  return result;
}

void check_chain(const signed_history& x) {
  const auto& all = x.steps();
  insist(all.size() <= signed_history::most);
  for (std::size_t i = 1; i < all.size(); ++i)
    insist(all[i - 1].step < all[i].step && all[i - 1].charter == all[i].charter
           && most_have_signed(all[i], weights_of(all[i - 1])));
}

bool try_steps(const std::string& bytes) {
  input_script from{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                    bytes.size()};
  const trusting_signatures how;
  signed_history mine{steps_of(from), how};
  check_chain(mine);
  const signed_history other{steps_of(from), how};
  check_chain(other);
  const auto before = mine.empty() ? 0 : mine.newest().step;
  if (mine.extend_with(other))
    insist(mine.newest().step > before);
  check_chain(mine);
  return mine.steps().size() > 1;
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_grants(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 9) {
    case 0:
      return try_amendment(bytes);
    case 1:
      return try_book(bytes);
    case 2:
      return try_organisers(bytes);
    case 3:
      return try_admission(bytes);
    case 4:
      return try_delegation(bytes);
    case 5:
      return try_claim(bytes);
    case 6:
      return try_rules(bytes);
    case 7:
      return try_kept(bytes);
    default:
      return try_steps(bytes);
  }
}
