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
constexpr std::size_t tail_bytes = public_key::size + signature::size;
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
            return y.state.empty() ? "it says which state it goes back to" : "";
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
                   + ", digest " + to_string(y.state) + ".";
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

std::string sign_amendment(const amendment& x, const key_pair& organiser) {
  auto bytes = body_of(x);
  append_id(bytes, organiser.public_half());
  append_id(bytes, organiser.sign(signing_domain + bytes));
  return bytes;
}

read_amendment read_amendment_of(const run_id& run,
                                 const std::vector<public_key>& signers,
                                 std::string_view bytes) {
  using verdict = read_amendment::verdict;
  const auto wrong = [](const char* how) {
    return read_amendment{verdict::wrong, {}, how};
  };
  if (bytes.size() <= tail_bytes || bytes.size() > max_amendment_bytes)
    return wrong("is no amendment");
  const auto covered = bytes.substr(0, bytes.size() - signature::size);
  byte_reader tail{bytes.substr(bytes.size() - tail_bytes)};
  const auto signer = tail.id<public_key>();
  const auto proof = tail.id<signature>();
  if (std::find(signers.begin(), signers.end(), signer) == signers.end())
    return wrong("is an amendment by somebody who is no organiser of the run");
  if (!has_signed(signer, signing_domain + std::string{covered}, proof))
    return wrong("is an amendment that was changed after it was signed");

  // What the organiser has signed is still only believed within bounds.
  read_amendment result;
  result.is = verdict::newer;
  result.sentence = "is an amendment that this version of Potluck does not "
                    "understand; install the one that the organiser has";
  byte_reader all{bytes.substr(0, bytes.size() - tail_bytes)};
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
  if (auto problem = problem_with(x); !problem.empty()) {
    result.sentence = "is an amendment that cannot be: " + problem;
    return result;
  }
  result.is = verdict::sound;
  result.sentence.clear();
  return result;
}

} // namespace potluck
