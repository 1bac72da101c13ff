#include "tools/potluck/plan_format.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "runtime/nearest_name.hpp"

namespace potluck::tools {

namespace {

using nlohmann::json;
using object = nlohmann::ordered_json;

/// Stops reading at the first thing that has the wrong shape.
struct wrong_shape {
  std::string sentence;
};

std::string in_quotes(const std::string& x) {
  return "'" + x + "'";
}

/// One JSON object whose fields are all known.
class fields {
public:
  fields(const json& x, std::string place,
         const std::vector<std::string>& known)
      : x_(x), place_(std::move(place)) {
    if (!x.is_object())
      throw wrong_shape{place_ + " must be an object, between { and }."};
    for (const auto& [name, value] : x.items()) {
      bool found = false;
      for (const auto& y : known)
        found = found || y == name;
      if (found)
        continue;
      auto near = nearest_name(name, known);
      throw wrong_shape{place_ + " has a field " + in_quotes(name)
                        + ", which there is not"
                        + (near.empty() ? "; see `potluck plan --help`."
                                        : "; did you mean '" + near + "'?")};
    }
  }

  bool has(const std::string& name) const {
    auto found = x_.find(name);
    return found != x_.end() && !found->is_null();
  }

  double number(const std::string& name) const {
    const auto& x = get(name);
    if (!x.is_number())
      throw wrong_shape{place_ + ": " + name + " must be a number."};
    return x.get<double>();
  }

  std::string text(const std::string& name) const {
    const auto& x = get(name);
    if (!x.is_string())
      throw wrong_shape{place_ + ": " + name + " must be a text in quotes."};
    return x.get<std::string>();
  }

  bool flag(const std::string& name) const {
    const auto& x = get(name);
    if (!x.is_boolean())
      throw wrong_shape{place_ + ": " + name + " must be true or false."};
    return x.get<bool>();
  }

  const json& list(const std::string& name) const {
    const auto& x = get(name);
    if (!x.is_array())
      throw wrong_shape{place_ + ": " + name
                        + " must be a list, between [ and ]."};
    return x;
  }

private:
  const json& get(const std::string& name) const {
    auto found = x_.find(name);
    if (found == x_.end() || found->is_null())
      throw wrong_shape{place_ + " has no " + name
                        + "; see `potluck plan --help` for the format."};
    return *found;
  }

  const json& x_;
  std::string place_;
};

/// Parses, and refuses a field that is there twice: one of them is a mistake.
json parsed(const std::string& text) {
  std::vector<std::set<std::string>> names;
  std::string twice;
  auto watch = [&](int depth, json::parse_event_t event, json& x) {
    using e = json::parse_event_t;
    if (depth > 8)
      throw wrong_shape{"The peers are nested too deeply to be peers; see "
                        "`potluck plan --help` for the format."};
    if (event == e::object_start)
      names.emplace_back();
    else if (event == e::object_end)
      names.pop_back();
    else if (event == e::key && !names.back().insert(x).second)
      twice = x.get<std::string>();
    return true;
  };
  json result;
  try {
    result = json::parse(text, watch);
  } catch (const json::exception& e) {
    std::string what = e.what();
    auto colon = what.find("] ");
    throw wrong_shape{
        "The peers are not JSON: "
        + (colon == std::string::npos ? what : what.substr(colon + 2)) + "."};
  }
  if (!twice.empty())
    throw wrong_shape{"The field " + in_quotes(twice)
                      + " stands twice in one object; leave one out."};
  return result;
}

strategy_peer read_peer(const json& x, std::size_t number) {
  fields f{x,
           "peer " + std::to_string(number),
           {"id", "samples_per_second", "upload", "download", "computes",
            "holds_model", "listens", "seen_samples_per_second", "seen_upload",
            "seen_download"}};
  strategy_peer result;
  result.id = f.text("id");
  result.samples_per_second = f.number("samples_per_second");
  result.upload = f.number("upload");
  result.download = f.number("download");
  if (f.has("computes"))
    result.computes = f.flag("computes");
  if (f.has("holds_model"))
    result.holds_model = f.flag("holds_model");
  if (f.has("listens"))
    result.listens = f.flag("listens");
  auto seen = [&](const std::string& name) {
    return f.has(name) ? std::optional<double>{f.number(name)} : std::nullopt;
  };
  result.seen_samples_per_second = seen("seen_samples_per_second");
  result.seen_upload = seen("seen_upload");
  result.seen_download = seen("seen_download");
  return result;
}

/// Of JSON with these fields.
strategy_problem problem_from(const json& x) {
  fields f{
      x, "The problem", {"target_batch", "gradient_bytes", "peers", "links"}};
  strategy_problem result;
  result.target_batch = f.number("target_batch");
  result.gradient_bytes = f.number("gradient_bytes");
  for (const auto& y : f.list("peers"))
    result.peers.push_back(read_peer(y, result.peers.size() + 1));
  if (f.has("links"))
    for (const auto& y : f.list("links")) {
      fields link{y,
                  "link " + std::to_string(result.links.size() + 1),
                  {"from", "to", "limit"}};
      result.links.push_back(
          {link.text("from"), link.text("to"), link.number("limit")});
    }
  return result;
}

/// The peer in a problem of the right shape.
json& peer_of(json& problem, const std::string& id) {
  std::vector<std::string> ids;
  for (auto& x : problem["peers"])
    if (ids.emplace_back(x["id"]) == id)
      return x;
  auto near = nearest_name(id, ids);
  throw wrong_shape{"there is no peer " + in_quotes(id)
                    + (near.empty() ? "." : "; did you mean '" + near + "'?")};
}

/// Drops those objects of a list for which it holds.
template <class Predicate>
void drop(json& list, Predicate holds) {
  auto& all = list.get_ref<json::array_t&>();
  all.erase(std::remove_if(all.begin(), all.end(), holds), all.end());
}

/// Sets `a.b=1` in an object: its field is `name`; what is no JSON is a text.
void set(json& x, const std::string& name, const std::string& value) {
  auto y = json::parse(value, nullptr, false);
  x[name] = y.is_discarded() ? json(value) : y;
}

void add_peer(const std::string& text, json& problem) {
  auto colon = text.find(':');
  if (colon == std::string::npos)
    throw wrong_shape{
        "name the new peer's figures: +ID:upload=...,download=..."};
  json peer{{"id", text.substr(0, colon)}, {"samples_per_second", 0}};
  for (const auto& x : problem["peers"])
    if (x["id"] == peer["id"])
      throw wrong_shape{"there is a peer " + in_quotes(peer["id"])
                        + " already."};
  std::istringstream figures{text.substr(colon + 1)};
  for (std::string part; std::getline(figures, part, ',');) {
    auto equals = part.find('=');
    if (equals == std::string::npos)
      throw wrong_shape{in_quotes(part) + " is not FIELD=VALUE."};
    set(peer, part.substr(0, equals), part.substr(equals + 1));
  }
  problem["peers"].push_back(std::move(peer));
}

void change_link(const std::string& from, const std::string& to,
                 const std::string& value, json& problem) {
  json link{{"from", peer_of(problem, from)["id"]},
            {"to", peer_of(problem, to)["id"]}};
  auto& links = problem["links"];
  if (links.is_null())
    links = json::array();
  drop(links, [&](const json& x) {
    return x["from"] == link["from"] && x["to"] == link["to"];
  });
  set(link, "limit", value);
  if (!link["limit"].is_null())
    links.push_back(std::move(link));
}

/// Changes a problem of the right shape, perhaps into another.
void change(const std::string& text, json& problem) {
  if (!text.empty() && text[0] == '+')
    return add_peer(text.substr(1), problem);
  if (!text.empty() && text[0] == '-') {
    const json id = peer_of(problem, text.substr(1))["id"];
    drop(problem["peers"], [&](const json& x) { return x["id"] == id; });
    if (problem.contains("links") && !problem["links"].is_null())
      drop(problem["links"],
           [&](const json& x) { return x["from"] == id || x["to"] == id; });
    return;
  }
  auto equals = text.rfind('=');
  if (equals == std::string::npos)
    throw wrong_shape{
        "write ID.FIELD=VALUE, FROM>TO=LIMIT, -ID or +ID:FIELD=VALUE,..."};
  auto what = text.substr(0, equals);
  auto value = text.substr(equals + 1);
  if (what == "target_batch" || what == "gradient_bytes")
    return set(problem, what, value);
  // An id may hold dots, but no figure of a peer holds an arrow.
  auto arrow = what.find('>');
  if (arrow != std::string::npos)
    return change_link(what.substr(0, arrow), what.substr(arrow + 1), value,
                       problem);
  auto dot = what.rfind('.');
  if (dot == std::string::npos)
    throw wrong_shape{in_quotes(what)
                      + " is neither ID.FIELD nor FROM>TO nor target_batch nor "
                        "gradient_bytes."};
  set(peer_of(problem, what.substr(0, dot)), what.substr(dot + 1), value);
}

object finite(double x) {
  return std::isfinite(x) ? object(x) : object(nullptr);
}

object list_of(const std::vector<planned_rate>& rates, bool listed) {
  if (!listed)
    return nullptr;
  auto result = object::array();
  for (const auto& x : rates)
    result.push_back(
        {{"from", x.from}, {"to", x.to}, {"rate", finite(x.rate)}});
  return result;
}

} // namespace

expected<strategy_problem>
read_problem(const std::string& text, const std::vector<std::string>& changes) {
  std::string what;
  try {
    auto x = parsed(text);
    auto result = problem_from(x);
    for (const auto& y : changes) {
      what = "--what-if '" + y + "': ";
      change(y, x);
      result = problem_from(x);
    }
    return result;
  } catch (const wrong_shape& e) {
    return failure{what + e.sentence};
  }
}

std::string to_json(const strategy_plan& plan,
                    const std::vector<input_finding>& findings,
                    double seconds) {
  object x;
  x["steps_per_second"] = finite(plan.steps_per_second);
  x["scheduled_steps_per_second"] = finite(plan.scheduled_steps_per_second);
  x["compute_steps_per_second"] = finite(plan.compute_steps_per_second);
  x["averaging_steps_per_second"] = finite(plan.averaging_steps_per_second);
  x["upper_bound"] = finite(plan.upper_bound);
  x["gap"] = finite(plan.gap);
  x["strategy"] = plan.strategy;
  x["compute_seconds"] = finite(plan.compute_seconds);
  x["averaging_seconds"] = finite(plan.averaging_seconds);
  object computes = object::object();
  object shares = object::object();
  object chunks = object::object();
  object binding = object::object();
  object up = object::object();
  object down = object::object();
  object samples = object::object();
  for (const auto& p : plan.peers) {
    computes[p.id] = p.computes;
    shares[p.id] = p.share;
    chunks[p.id] = p.chunks;
    binding[p.id] = p.binding;
    up[p.id] = finite(p.upload_gain);
    down[p.id] = finite(p.download_gain);
    samples[p.id] = finite(p.samples_gain);
  }
  x["computes"] = std::move(computes);
  x["shares"] = std::move(shares);
  x["chunks"] = std::move(chunks);
  x["a"] = list_of(plan.gradients, plan.listed);
  x["g"] = list_of(plan.means, plan.listed);
  x["binding"] = std::move(binding);
  x["gains"] = {{"upload", std::move(up)},
                {"download", std::move(down)},
                {"samples_per_second", std::move(samples)},
                {"auxiliary",
                 {{"upload", plan.auxiliary_line},
                  {"download", plan.auxiliary_line},
                  {"steps_per_second", finite(plan.auxiliary_gain)}}}};
  auto relays = object::array();
  for (const auto& r : plan.relays)
    relays.push_back({{"from", r.from}, {"to", r.to}, {"over", r.over}});
  x["relays"] = std::move(relays);
  auto found = object::array();
  for (const auto& f : findings)
    found.push_back({{"verdict", to_string(f.verdict)},
                     {"peer", f.peer},
                     {"field", f.field},
                     {"sentence", f.sentence}});
  x["findings"] = std::move(found);
  x["digest"] = to_string(plan.fingerprint);
  x["solver"] = plan.solver;
  x["seconds"] = seconds;
  return x.dump(-1, ' ', false, object::error_handler_t::replace);
}

} // namespace potluck::tools
