#include "runtime/manifest/invitation.hpp"

#include <algorithm>

#include "runtime/dialable.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/checked_text.hpp"

namespace potluck {

namespace {

const std::string prefix = "potluck";
/// Of those to runs that admit everybody, and of the others.
constexpr std::uint8_t open_version = 1;
constexpr std::uint8_t admitting_version = 2;
constexpr const char* parts[]
    = {"the run's id", "the organiser's key", "the run's name", "the addresses",
       "the admission"};

bool admits(const invitation& x) {
  return !x.authority.id.empty() || !x.code.empty();
}

void append(std::string& out, const contact& who) {
  append_id(out, who.id);
  append_little_endian(out, who.where.port);
  append_text(out, who.where.host);
}

contact read_contact(byte_reader& in) {
  contact who;
  who.id = in.id<peer_id>();
  who.where.port = in.integer<std::uint16_t>();
  who.where.host = in.text();
  return who;
}

/// Why this is no first contact; empty: it is one.
std::string problem_with(const contact& x) {
  const auto& host = x.where.host;
  // A host is a name or a number, which has neither blanks nor commas.
  const bool sound = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != ',';
  });
  if (!dialable(x.where) || !sound)
    return "an address of an invitation is a host and a port that others dial";
  return x.id.empty() ? "an address of an invitation needs the id of the peer "
                        "that answers there, as in ID@HOST:PORT"
                      : "";
}

std::string problem_with(const invitation& x) {
  if (x.contacts.empty() || x.contacts.size() > invitation::most_contacts)
    return "an invitation has one to "
           + std::to_string(invitation::most_contacts) + " addresses";
  for (const auto& who : x.contacts)
    if (auto problem = problem_with(who); !problem.empty())
      return problem;
  if (admits(x))
    if (auto problem = problem_with(x.authority); !problem.empty())
      return problem;
  return problem_with_run_name(x.name);
}

struct reading {
  invitation what;
  std::size_t stated = 0; ///< Bytes, as it says itself.
  bool whole = false;     ///< All was there, and nothing more.
};

reading read_bytes(std::string_view bytes) {
  reading result;
  byte_reader all{bytes};
  auto& x = result.what;
  const auto version = all.integer<std::uint8_t>();
  result.stated = all.integer<std::uint16_t>();
  x.id = all.id<run_id>();
  x.organiser = all.id<public_key>();
  x.name = all.text();
  const std::size_t count = all.integer<std::uint8_t>();
  for (std::size_t i = 0; i < count && !all.lacks(); ++i)
    x.contacts.push_back(read_contact(all));
  if (version == admitting_version) {
    x.authority = read_contact(all);
    x.code = all.id<invite_code>();
  }
  result.whole = all.done();
  return result;
}

/// The part that has this byte.
const char* part_at(std::size_t at, const reading& all) {
  constexpr std::size_t id = 3;
  constexpr std::size_t key = id + run_id::size;
  constexpr std::size_t name = key + public_key::size;
  const auto& x = all.what;
  const std::size_t admission = admits(x) ? peer_id::size + 3
                                                + x.authority.where.host.size()
                                                + invite_code::size
                                          : 0;
  if (at >= all.stated)
    return "the check sum";
  if (all.whole && at >= all.stated - admission)
    return parts[4];
  return at < id                                ? "its beginning"
         : at < key                             ? parts[0]
         : at < name                            ? parts[1]
         : at < name + 1 + all.what.name.size() ? parts[2]
                                                : parts[3];
}

failure wrong(const std::string& how) {
  return {"This is no sound invitation: " + how
          + ". Copy it again, as a whole."};
}

} // namespace

expected<std::string> to_text(const invitation& x) {
  if (auto problem = problem_with(x); !problem.empty())
    return failure{problem};
  std::string rest;
  append_id(rest, x.id);
  append_id(rest, x.organiser);
  append_text(rest, x.name);
  rest += static_cast<char>(x.contacts.size());
  for (const auto& who : x.contacts)
    append(rest, who);
  if (admits(x)) {
    append(rest, x.authority);
    append_id(rest, x.code);
  }
  std::string bytes(
      1, static_cast<char>(admits(x) ? admitting_version : open_version));
  append_little_endian(bytes, static_cast<std::uint16_t>(rest.size() + 3));
  auto text = to_checked_text(prefix, bytes + rest);
  if (text.size() > most_checked_characters)
    return failure{"the addresses are too long for an invitation; leave some "
                   "out, or name shorter ones"};
  return text;
}

expected<invitation> read_invitation(std::string_view text) {
  const auto checked = read_checked_text(prefix, text);
  auto all = read_bytes(checked.bytes);
  if (checked.at)
    return wrong(checked.problem + ", in " + part_at(*checked.at, all));
  if (!checked.problem.empty()) {
    const auto has = checked.bytes.size();
    const bool short_of = has > 0 && all.stated > has && !all.whole;
    return wrong(checked.problem
                 + (short_of ? std::string{"; it seems to be cut short in "}
                                   + part_at(has, all)
                             : ""));
  }
  const auto version = checked.bytes.empty()
                           ? std::uint8_t{0}
                           : static_cast<std::uint8_t>(checked.bytes.front());
  if (version != open_version && version != admitting_version)
    return failure{"This invitation was made by a newer version of Potluck; "
                   "install that one."};
  if (!all.whole || all.stated != checked.bytes.size())
    return wrong("its parts do not fit");
  if (auto problem = problem_with(all.what); !problem.empty())
    return wrong(problem);
  return std::move(all.what);
}

bool is_invitation(std::string_view text) {
  std::string front{text.substr(0, prefix.size() + 1)};
  for (char& c : front)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return front == prefix + ":";
}

} // namespace potluck
