#include "runtime/organiser/amendment.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "messages/limits.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

constexpr std::uint8_t format_version = 1;
constexpr char signing_domain[] = "potluck amendment\n";
constexpr std::size_t seal_bytes = public_key::size + signature::size;
constexpr std::uint64_t most_steps = std::uint64_t{1} << 40;

template <class... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

std::string bytes_of(const run_change& x) {
  std::string out(1, static_cast<char>(x.index() + 1));
  std::visit(
      overloaded{
          [&](const new_steps& y) { append_little_endian(out, y.steps); },
          [&](const new_rate_tail& y) { append_little_endian(out, y.length); },
          [&](const new_bans& y) {
            out += static_cast<char>(y.lifted);
            out += static_cast<char>(y.who.size());
            for (const auto& id : y.who)
              append_id(out, id);
          },
          [&](const roll_back& y) {
            append_little_endian(out, y.step);
            append_id(out, y.state);
          },
          [&](const new_admission& y) { out += static_cast<char>(y.mode); },
          [](const auto&) {},
      },
      x);
  return out;
}

/// Nothing: this version does not know it, or it does not end.
std::optional<run_change> read_change(byte_reader& all) {
  switch (all.integer<std::uint8_t>()) {
    case 1:
      return new_steps{all.integer<std::uint64_t>()};
    case 2:
      return new_rate_tail{all.integer<std::uint64_t>()};
    case 3:
      return pause_run{};
    case 4:
      return resume_run{};
    case 5:
      return finish_run{};
    case 6: {
      new_bans x;
      const auto lifted = all.integer<std::uint8_t>();
      if (lifted > 1)
        return std::nullopt;
      x.lifted = lifted != 0;
      const std::size_t count = all.integer<std::uint8_t>();
      for (std::size_t i = 0; i < count && !all.lacks(); ++i)
        x.who.push_back(all.id<peer_id>());
      return x;
    }
    case 7: {
      roll_back x;
      x.step = all.integer<std::uint64_t>();
      x.state = all.id<digest>();
      return x;
    }
    case 8: {
      const auto mode = all.integer<std::uint8_t>();
      if (mode > static_cast<std::uint8_t>(admission_mode::list))
        return std::nullopt;
      return new_admission{static_cast<admission_mode>(mode)};
    }
    default:
      return std::nullopt;
  }
}

std::string body_of(const amendment& x) {
  std::string out(1, static_cast<char>(format_version));
  append_id(out, x.run);
  append_little_endian(out, x.number);
  append_little_endian(out, x.from);
  append_little_endian(out, x.signed_ms);
  append_text(out, x.reason);
  return out + bytes_of(x.change);
}

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c <= 0x7e; });
}

std::string problem_with(const run_change& x) {
  const auto steps = [](std::uint64_t y) {
    return y >= 1 && y <= most_steps
               ? ""
               : "a run has 1 to " + std::to_string(most_steps) + " steps";
  };
  return std::visit(
      overloaded{
          [&](const new_steps& y) -> std::string { return steps(y.steps); },
          [&](const new_rate_tail& y) -> std::string {
            return steps(y.length);
          },
          [](const new_bans& y) -> std::string {
            const std::set<peer_id> all{y.who.begin(), y.who.end()};
            if (all.empty() || all.size() != y.who.size()
                || y.who.size() > new_bans::most || all.count({}) != 0)
              return "it names 1 to " + std::to_string(new_bans::most)
                     + " peers, each once, by their ids";
            return "";
          },
          [](const roll_back& y) -> std::string {
            if (y.step == 0 || y.step > most_steps)
              return "it goes back to a step of the run, from 1 on";
            return "";
          },
          [](const auto&) -> std::string { return ""; },
      },
      x);
}

} // namespace

std::string to_string(admission_mode x) {
  switch (x) {
    case admission_mode::open:
      return "open";
    case admission_mode::token:
      return "token";
    case admission_mode::list:
      break;
  }
  return "list";
}

std::string to_sentence(const run_change& x, std::uint64_t from) {
  const auto behind
      = from > 1 ? "after step " + std::to_string(from - 1) : "now";
  return std::visit(
      overloaded{
          [](const new_steps& y) {
            return "The run ends after step " + std::to_string(y.steps) + ".";
          },
          [&](const new_rate_tail& y) {
            return "The learning rate stays what it is "
                   + (from > 1 ? "at step " + std::to_string(from - 1)
                               : std::string{"now"})
                   + " and falls to zero over the last "
                   + std::to_string(y.length) + " steps.";
          },
          [&](const pause_run&) { return "The run pauses " + behind + "."; },
          [](const resume_run&) { return std::string{"The run goes on."}; },
          [&](const finish_run&) {
            return from > 0
                       ? "The run ends with step " + std::to_string(from) + "."
                       : std::string{"The run ends now."};
          },
          [](const new_bans& y) {
            std::string who;
            for (const auto& id : y.who)
              who += (who.empty() ? "" : ", ") + short_name(id);
            return (y.lifted ? "No longer banned: " : "Banned: ") + who + ".";
          },
          [](const roll_back& y) {
            return "The run goes back to step " + std::to_string(y.step)
                   + (y.state.empty() ? ", each peer to its own state of then."
                                      : ", digest " + to_string(y.state) + ".");
          },
          [](const new_admission& y) {
            return "Admission is " + to_string(y.mode) + ".";
          },
      },
      x);
}

std::string problem_with(const amendment& x) {
  if (x.run.empty())
    return "an amendment is of a run that was created";
  if (x.number == 0)
    return "amendments are numbered from 1 on";
  if (x.from > most_steps)
    return "an amendment holds from a step of the run on";
  if (x.reason.size() > amendment::longest_reason || !is_printable(x.reason))
    return "a reason has at most " + std::to_string(amendment::longest_reason)
           + " printable ASCII characters";
  return problem_with(x.change);
}

namespace {

std::string seal_by(const key_pair& key, const std::string& body) {
  auto bytes = body;
  append_id(bytes, key.public_half());
  append_id(bytes, key.sign(signing_domain + bytes));
  return bytes.substr(body.size());
}

/// Why these `count` seals at the end are not in order; empty: they are.
const char* problem_with_seals(const organisers& who, std::string_view bytes,
                               std::size_t count) {
  if (bytes.size() <= count * seal_bytes || bytes.size() > max_amendment_bytes)
    return "is no amendment";
  const auto body = bytes.substr(0, bytes.size() - count * seal_bytes);
  byte_reader seals{bytes.substr(body.size())};
  public_key last;
  for (std::size_t i = 0; i < count; ++i) {
    const auto signer = seals.id<public_key>();
    const auto proof = seals.id<signature>();
    if (!who.has(signer))
      return "is an amendment by somebody who is no organiser of the run";
    if (i > 0 && !(last < signer))
      return "is an amendment whose signatures are in no order";
    last = signer;
    std::string covered = signing_domain + std::string{body};
    append_id(covered, signer);
    if (!has_signed(signer, covered, proof))
      return "is an amendment that was changed after it was signed";
  }
  return "";
}

} // namespace

std::string sign_amendment(const amendment& x, const key_pair& organiser) {
  const auto body = body_of(x);
  return body + seal_by(organiser, body);
}

std::size_t signatures_on(const run_id& run, const organisers& who,
                          std::string_view bytes) {
  for (auto count = who.needed; count > 0; --count)
    if (read_amendment_of(run, {who.keys, count}, bytes).is
        == read_amendment::verdict::sound)
      return count;
  return 0;
}

std::string_view unsigned_part(const organisers& who, std::string_view bytes) {
  return bytes.substr(0, bytes.size()
                             - std::min(bytes.size(), who.needed * seal_bytes));
}

expected<std::string> sign_as_well(const run_id& run, const organisers& who,
                                   const std::string& bytes,
                                   const key_pair& key) {
  const auto count = signatures_on(run, who, bytes);
  if (count == 0)
    return failure{"is no amendment of this run"};
  if (count == who.needed)
    return failure{"has all signatures already"};
  if (!who.has(key.public_half()))
    return failure{"takes signatures of the run's organisers, and this key is "
                   "none of theirs"};
  const auto body = bytes.substr(0, bytes.size() - count * seal_bytes);
  std::vector<std::string> seals{seal_by(key, body)};
  for (auto at = body.size(); at < bytes.size(); at += seal_bytes)
    seals.push_back(bytes.substr(at, seal_bytes));
  // By their keys, which come first.
  std::sort(seals.begin(), seals.end());
  auto result = body;
  for (std::size_t i = 0; i < seals.size(); ++i) {
    if (i > 0
        && seals[i].compare(0, public_key::size, seals[i - 1], 0,
                            public_key::size)
               == 0)
      return failure{"has been signed with this key"};
    result += seals[i];
  }
  return result;
}

read_amendment read_amendment_of(const run_id& run, const organisers& who,
                                 std::string_view bytes) {
  using verdict = read_amendment::verdict;
  const auto wrong = [](const std::string& how) {
    return read_amendment{verdict::wrong, {}, how};
  };
  const std::string problem = problem_with_seals(who, bytes, who.needed);
  if (!problem.empty())
    return wrong(problem);

  // What the organiser has signed is still only believed within bounds.
  read_amendment result;
  result.is = verdict::newer;
  result.sentence = "is an amendment that this version of Potluck does not "
                    "understand; install the one that the organiser has";
  byte_reader all{unsigned_part(who, bytes)};
  if (all.integer<std::uint8_t>() != format_version)
    return result;
  auto& x = result.what;
  x.run = all.id<run_id>();
  if (x.run != run)
    return wrong("is an amendment of another run");
  x.number = all.integer<std::uint64_t>();
  x.from = all.integer<std::uint64_t>();
  x.signed_ms = all.integer<std::uint64_t>();
  x.reason = all.text();
  auto change = read_change(all);
  if (!change || !all.done())
    return result;
  x.change = std::move(*change);
  if (auto why = problem_with(x); !why.empty()) {
    result.sentence = "is an amendment that cannot be: " + why;
    return result;
  }
  result.is = verdict::sound;
  result.sentence.clear();
  return result;
}

} // namespace potluck
