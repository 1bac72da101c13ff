#include "runtime/planning/strategy_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runtime/numbers.hpp"
#include "runtime/planning/peer_network.hpp"
#include "runtime/planning/planning_limits.hpp"

namespace potluck {

namespace {

class reviewer {
public:
  explicit reviewer(const strategy_problem& input) : input_(input) {
  }

  reviewed_problem run() {
    result_.problem.target_batch = input_.target_batch;
    result_.problem.gradient_bytes = input_.gradient_bytes;
    whole();
    links_fit();
    for (const auto& peer : input_.peers)
      one(peer);
    for (const auto& link : input_.links)
      one(link);
    if (result_.problem.peers.empty() && !input_.peers.empty())
      refuse("peers", "No peer has figures that can be planned with; correct "
                      "at least one.");
    if (!result_.refusal())
      note_what_is_odd();
    return std::move(result_);
  }

private:
  void find(input_verdict verdict, const std::string& peer,
            const std::string& field, const std::string& sentence) {
    result_.findings.push_back({verdict, peer, field, sentence});
  }

  void refuse(const std::string& field, const std::string& sentence) {
    find(input_verdict::refused, "", field, sentence);
  }

  void whole() {
    auto positive = [&](const std::string& field, double x) {
      if (!(x >= 1 / limits::planned_scale && x <= limits::planned_scale))
        refuse(field, field + " is " + readable(x, 17)
                          + ", but must be a number above zero, at most "
                          + readable(limits::planned_scale) + ".");
    };
    positive("target_batch", input_.target_batch);
    positive("gradient_bytes", input_.gradient_bytes);
    if (input_.peers.empty())
      refuse("peers", "There are no peers to plan for; name at least one.");
    if (input_.peers.size() > limits::planned_peers)
      refuse("peers", "There are " + std::to_string(input_.peers.size())
                          + " peers, but at most "
                          + std::to_string(limits::planned_peers)
                          + " can be planned at once.");
  }

  void links_fit() {
    if (input_.links.empty())
      return;
    if (input_.peers.size() > limits::planned_linked_peers)
      refuse("links", "Links can be planned for at most "
                          + std::to_string(limits::planned_linked_peers)
                          + " peers; leave the links out.");
    if (input_.links.size() > limits::planned_links)
      refuse("links", "There are more than "
                          + std::to_string(limits::planned_links)
                          + " links; leave out those that limit nothing.");
  }

  /// The figure to plan with, or none when there is none.
  std::optional<double> figure(const std::string& id, const std::string& field,
                               double claimed, std::optional<double> seen) {
    if (seen && !(std::isfinite(*seen) && *seen >= 0))
      seen = std::nullopt;
    double most = std::min(seen.value_or(limits::planned_figure),
                           limits::planned_figure);
    auto clamp = [&](double to, const std::string& why) {
      find(input_verdict::clamped, id, field,
           id + ": " + field + " " + why + "; planned with " + readable(to, 6)
               + ".");
      return to;
    };
    if (!(std::isfinite(claimed) && claimed >= 0)) {
      if (seen)
        return clamp(most, "is no possible figure");
      find(input_verdict::excluded, id, field,
           id + " is left out: its " + field + " is "
               + (std::isnan(claimed) ? "not a number"
                  : claimed < 0       ? "negative"
                                      : "infinite")
               + "; correct it to a number that is not negative.");
      return std::nullopt;
    }
    if (claimed > most)
      return clamp(most, seen && *seen <= limits::planned_figure
                             ? "is more than was ever seen of it"
                             : "is beyond belief");
    if (claimed > 0 && claimed < limits::least_planned_figure)
      return clamp(0, "is as good as nothing");
    return claimed;
  }

  void one(const strategy_peer& x) {
    if (x.id.empty()) {
      refuse("id", "A peer has no id; give every peer one.");
      return;
    }
    if (!named_.insert(x.id).second) {
      refuse("id", "There are two peers called '" + x.id
                       + "'; give every peer an id of its own.");
      return;
    }
    auto s = figure(x.id, "samples_per_second", x.samples_per_second,
                    x.seen_samples_per_second);
    auto u = figure(x.id, "upload", x.upload, x.seen_upload);
    auto d = figure(x.id, "download", x.download, x.seen_download);
    if (!s || !u || !d)
      return;
    auto peer = x;
    peer.samples_per_second = *s;
    peer.upload = *u;
    peer.download = *d;
    kept_.insert(x.id);
    result_.problem.peers.push_back(peer);
  }

  void one(const strategy_link& x) {
    auto name = "the link from '" + x.from + "' to '" + x.to + "'";
    for (const auto& end : {x.from, x.to})
      if (named_.count(end) == 0) {
        refuse("links", name + " names '" + end
                            + "', which is no peer; name peers of the list.");
        return;
      }
    if (x.from == x.to)
      refuse("links", name
                          + " is not a link; what stays at a peer has no "
                            "limit. Leave it out.");
    else if (!linked_.insert({x.from, x.to}).second)
      refuse("links", name + " is there twice; leave one out.");
    else if (std::isnan(x.limit) || x.limit < 0)
      refuse("links", name
                          + " has a limit that is negative or no number; "
                            "write bytes per second, or 0 for none at all.");
    else if (x.limit <= limits::planned_figure && kept_.count(x.from) != 0
             && kept_.count(x.to) != 0)
      result_.problem.links.push_back(
          {x.from, x.to, x.limit < limits::least_planned_figure ? 0 : x.limit});
  }

  void note_what_is_odd() {
    const auto& peers = result_.problem.peers;
    if (peers.size() == 1)
      find(input_verdict::noted, peers[0].id, "",
           "A single peer has nothing to average.");
    bool computing = false;
    bool holding = false;
    for (const auto& x : peers) {
      computing
          = computing || (x.computes != false && x.samples_per_second > 0);
      holding = holding || x.holds_model;
      if (peers.size() == 1)
        continue;
      if (x.upload == 0)
        find(input_verdict::noted, x.id, "upload",
             x.id + " uploads nothing, so nobody else gets its gradient.");
      if (x.download == 0 && x.holds_model)
        find(input_verdict::noted, x.id, "download",
             x.id
                 + " downloads nothing, so it gets no mean of others; no "
                   "others can compute unless it is removed.");
    }
    if (!computing)
      find(input_verdict::noted, "", "samples_per_second",
           "Nobody can compute, so there are no steps; add a peer that "
           "computes samples.");
    if (!holding)
      find(input_verdict::noted, "", "holds_model",
           "Nobody holds the model, so no mean has to travel.");
    note_islands();
  }

  /// Peers that cannot reach each other, even over others.
  void note_islands() {
    peer_network net{result_.problem};
    auto island = net.islands();
    std::map<std::size_t, std::vector<std::string>> members;
    for (std::size_t i = 0; i < net.size(); ++i)
      members[island[i]].push_back(net.id(i));
    if (members.size() < 2)
      return;
    std::string text;
    std::size_t shown = 0;
    for (const auto& [number, ids] : members) {
      if (++shown > 4) {
        text += " and others";
        break;
      }
      text += std::string{text.empty() ? "" : " | "} + ids[0];
      for (std::size_t k = 1; k < ids.size() && k < 4; ++k)
        text += ", " + ids[k];
      if (ids.size() > 4)
        text += ", ...";
    }
    find(input_verdict::noted, "", "links",
         "There are " + std::to_string(members.size())
             + " islands, which cannot reach each other both ways, even over "
               "others ("
             + text + "); mend a link, or plan each island by itself.");
  }

  const strategy_problem& input_;
  reviewed_problem result_;
  std::set<std::string> named_;
  std::set<std::string> kept_;
  std::set<std::pair<std::string, std::string>> linked_;
};

} // namespace

std::string to_string(input_verdict x) {
  switch (x) {
    case input_verdict::refused:
      return "refused";
    case input_verdict::excluded:
      return "excluded";
    case input_verdict::clamped:
      return "clamped";
    case input_verdict::noted:
      return "noted";
  }
  return "noted";
}

const input_finding* reviewed_problem::refusal() const {
  for (const auto& x : findings)
    if (x.verdict == input_verdict::refused)
      return &x;
  return nullptr;
}

reviewed_problem review(const strategy_problem& problem) {
  return reviewer{problem}.run();
}

} // namespace potluck
