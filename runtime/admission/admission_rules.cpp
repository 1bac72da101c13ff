#include "runtime/admission/admission_rules.hpp"

#include "runtime/dialable.hpp"

namespace potluck {

namespace {

expected<contact> read_authority(const std::string& text) {
  const auto at = text.find('@');
  const auto id = parse_id<peer_id>(text.substr(0, at));
  if (!id || id->empty())
    return failure{"authority must be a peer's id, 64 hex digits, with "
                   "@HOST:PORT behind it where it can be dialled; or none"};
  contact result{*id, {}};
  if (at == std::string::npos)
    return result;
  auto where = parse_address(text.substr(at + 1));
  if (!where)
    return failure{"authority: " + where.error()};
  result.where = std::move(*where);
  if (!dialable(result.where))
    return failure{"authority has an address that nobody can dial"};
  return result;
}

} // namespace

std::string authority_text(const contact& x) {
  if (x.id.empty())
    return "none";
  return to_string(x.id)
         + (x.where.host.empty() ? "" : "@" + to_string(x.where));
}

expected<admission_rules> read_admission_rules(const std::string& how,
                                               const std::string& authority,
                                               const std::string& vouchers) {
  using mode = admission_rules::mode;
  admission_rules result;
  result.how = how == "token"  ? mode::token
               : how == "list" ? mode::list
                               : mode::open;
  result.vouchers = vouchers != "no";
  if (authority != "none") {
    auto named = read_authority(authority);
    if (!named)
      return failure{named.error()};
    // One charter has one form.
    if (authority_text(*named) != authority)
      return failure{"authority must be written as " + authority_text(*named)};
    result.authority = std::move(*named);
  }
  if (result.closed() && result.authority.id.empty())
    return failure{"admission " + how
                   + " needs an authority, whose tokens count"};
  if (!result.closed() && !result.authority.id.empty())
    return failure{"an authority needs admission token or list: a run that is "
                   "open asks nobody"};
  return result;
}

} // namespace potluck
