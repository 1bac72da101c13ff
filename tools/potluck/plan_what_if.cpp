#include <algorithm>

#include "runtime/nearest_name.hpp"
#include "tools/potluck/plan_format.hpp"

namespace potluck::tools {

namespace {

const std::vector<std::string>& peer_fields() {
  static const std::vector<std::string> all{"samples_per_second", "upload",
                                            "download",           "computes",
                                            "holds_model",        "listens"};
  return all;
}

/// A number as in JSON; none for anything else.
std::optional<double> number_from(const std::string& text) {
  try {
    std::size_t used = 0;
    double x = std::stod(text, &used);
    if (used == text.size())
      return x;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

std::string set_flag(const std::string& value, const std::string& field,
                     std::optional<bool>& to, bool may_be_open) {
  if (value == "true" || value == "false")
    to = value == "true";
  else if (may_be_open && (value == "null" || value.empty()))
    to = std::nullopt;
  else
    return field + " is '" + value + "', but must be true or false"
           + (may_be_open ? ", or null for the planner to decide." : ".");
  return "";
}

std::string set_field(strategy_peer& peer, const std::string& field,
                      const std::string& value) {
  if (field == "computes")
    return set_flag(value, field, peer.computes, true);
  if (field == "holds_model" || field == "listens") {
    std::optional<bool> x;
    auto wrong = set_flag(value, field, x, false);
    if (x)
      (field == "listens" ? peer.listens : peer.holds_model) = *x;
    return wrong;
  }
  auto x = number_from(value);
  double* to = field == "samples_per_second" ? &peer.samples_per_second
               : field == "upload"           ? &peer.upload
               : field == "download"         ? &peer.download
                                             : nullptr;
  if (!to) {
    auto near = nearest_name(field, peer_fields());
    return "a peer has no field '" + field + "'"
           + (near.empty() ? "." : "; did you mean '" + near + "'?");
  }
  if (!x)
    return field + " is '" + value + "', but must be a number.";
  *to = *x;
  return "";
}

strategy_peer* find(strategy_problem& problem, const std::string& id) {
  for (auto& x : problem.peers)
    if (x.id == id)
      return &x;
  return nullptr;
}

std::string no_such_peer(const strategy_problem& problem,
                         const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& x : problem.peers)
    ids.push_back(x.id);
  auto near = nearest_name(id, ids);
  return "there is no peer '" + id + "'"
         + (near.empty() ? "." : "; did you mean '" + near + "'?");
}

std::string remove(const std::string& id, strategy_problem& problem) {
  if (!find(problem, id))
    return no_such_peer(problem, id);
  auto& peers = problem.peers;
  peers.erase(std::remove_if(peers.begin(), peers.end(),
                             [&](const auto& x) { return x.id == id; }),
              peers.end());
  auto& links = problem.links;
  links.erase(
      std::remove_if(links.begin(), links.end(),
                     [&](const auto& x) { return x.from == id || x.to == id; }),
      links.end());
  return "";
}

std::string add(const std::string& text, strategy_problem& problem) {
  auto colon = text.find(':');
  if (colon == std::string::npos)
    return "name the new peer's figures: +ID:upload=...,download=...";
  strategy_peer peer;
  peer.id = text.substr(0, colon);
  bool upload = false;
  bool download = false;
  std::size_t at = colon + 1;
  while (at <= text.size()) {
    auto end = std::min(text.find(',', at), text.size());
    auto part = text.substr(at, end - at);
    at = end + 1;
    auto equals = part.find('=');
    if (equals == std::string::npos)
      return "'" + part + "' is not FIELD=VALUE.";
    auto field = part.substr(0, equals);
    auto wrong = set_field(peer, field, part.substr(equals + 1));
    if (!wrong.empty())
      return wrong;
    upload = upload || field == "upload";
    download = download || field == "download";
  }
  if (!upload || !download)
    return "a new peer needs its upload and its download.";
  if (find(problem, peer.id))
    return "there is a peer '" + peer.id + "' already.";
  problem.peers.push_back(std::move(peer));
  return "";
}

std::string change_link(const std::string& ends, const std::string& value,
                        strategy_problem& problem) {
  auto arrow = ends.find('>');
  auto from = ends.substr(0, arrow);
  auto to = ends.substr(arrow + 1);
  for (const auto& id : {from, to})
    if (!find(problem, id))
      return no_such_peer(problem, id);
  auto& links = problem.links;
  links.erase(std::remove_if(
                  links.begin(), links.end(),
                  [&](const auto& x) { return x.from == from && x.to == to; }),
              links.end());
  if (value == "null")
    return "";
  auto x = number_from(value);
  if (!x)
    return "a link's limit is '" + value
           + "', but must be a number, or null for none.";
  links.push_back({from, to, *x});
  return "";
}

std::string change(const std::string& text, strategy_problem& problem) {
  auto equals = text.rfind('=');
  if (equals == std::string::npos)
    return "write ID.FIELD=VALUE, FROM>TO=LIMIT, -ID or +ID:FIELD=VALUE,...";
  auto what = text.substr(0, equals);
  auto value = text.substr(equals + 1);
  if (what == "target_batch" || what == "gradient_bytes") {
    auto x = number_from(value);
    if (!x)
      return what + " is '" + value + "', but must be a number.";
    (what == "target_batch" ? problem.target_batch : problem.gradient_bytes)
        = *x;
    return "";
  }
  auto dot = what.rfind('.');
  if (dot == std::string::npos) {
    if (what.find('>') != std::string::npos)
      return change_link(what, value, problem);
    return "'" + what
           + "' is neither ID.FIELD nor FROM>TO nor target_batch nor "
             "gradient_bytes.";
  }
  // An id may hold dots: a link's ends are tried first when they both exist.
  if (auto arrow = what.find('>'); arrow != std::string::npos
                                   && find(problem, what.substr(0, arrow))
                                   && find(problem, what.substr(arrow + 1)))
    return change_link(what, value, problem);
  auto* peer = find(problem, what.substr(0, dot));
  if (!peer)
    return no_such_peer(problem, what.substr(0, dot));
  return set_field(*peer, what.substr(dot + 1), value);
}

} // namespace

std::string apply_what_if(const std::string& text, strategy_problem& problem) {
  std::string wrong;
  if (!text.empty() && text[0] == '-')
    wrong = remove(text.substr(1), problem);
  else if (!text.empty() && text[0] == '+')
    wrong = add(text.substr(1), problem);
  else
    wrong = change(text, problem);
  return wrong.empty() ? "" : "--what-if '" + text + "': " + wrong;
}

} // namespace potluck::tools
