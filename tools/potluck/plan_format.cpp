#include "tools/potluck/plan_format.hpp"

#include <cmath>
#include <set>

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

expected<strategy_problem> read_problem(const std::string& text) {
  try {
    auto x = parsed(text);
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
  } catch (const wrong_shape& e) {
    return failure{e.sentence};
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
