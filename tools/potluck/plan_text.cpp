
#include "runtime/numbers.hpp"
#include "tools/lab/display/table.hpp"
#include "tools/potluck/plan_format.hpp"

namespace potluck::tools {

namespace {

/// Rows of the table for people; the rest is in the JSON.
constexpr std::size_t most_rows = 200;

std::string bandwidth(double bytes_per_second) {
  return readable(bytes_per_second * 8e-6, 4);
}

std::string percent(double part) {
  return readable(part * 100, 4) + "%";
}

/// What one tenth more of a figure would add, in percent of the steps.
double of_a_tenth(double gain, double figure, double steps) {
  return steps > 0 ? gain * figure * 0.1 / steps : 0;
}

std::string best_gain(const strategy_problem& problem,
                      const strategy_plan& plan) {
  double most = 0;
  std::string text;
  for (std::size_t i = 0; i < plan.peers.size(); ++i) {
    const auto& part = plan.peers[i];
    const auto& peer = problem.peers[i];
    auto consider = [&](double gain, double figure, const std::string& name) {
      double x = of_a_tenth(gain, figure, plan.steps_per_second);
      if (x <= most)
        return;
      most = x;
      text = "A tenth more " + name + " of " + harmless(part.id) + " gives "
             + readable(x * 100, 3) + "% more steps";
    };
    consider(part.upload_gain, peer.upload, "upload");
    consider(part.download_gain, peer.download, "download");
    consider(part.samples_gain, peer.samples_per_second, "computing");
  }
  if (text.empty())
    text = "No single line's or peer's figure alone gives more steps";
  if (plan.auxiliary_gain > 0)
    text += "; one more auxiliary peer with " + bandwidth(plan.auxiliary_line)
            + " Mbit/s each way, "
            + readable(plan.auxiliary_gain / plan.steps_per_second * 100, 3)
            + "%";
  return text + ".";
}

} // namespace

std::string to_text(const strategy_problem& problem, const strategy_plan& plan,
                    const std::vector<input_finding>& findings) {
  std::string out;
  for (const auto& x : findings)
    out += to_string(x.verdict) + ": " + harmless(x.sentence) + "\n";
  if (plan.scheduled_steps_per_second == 0) {
    out += "No plan gives any steps";
    if (plan.steps_per_second > 0)
      out += " that chunks averaged in one place could reach";
    out += ".\n";
  } else {
    out += "strategy: " + plan.strategy + "\n";
    out += "a step takes " + readable(1 / plan.scheduled_steps_per_second, 4)
           + " s: " + readable(plan.compute_seconds, 4) + " s to compute, and "
           + "meanwhile " + readable(plan.averaging_seconds, 4)
           + " s to average\n";
  }
  out += "steps per second: " + readable(plan.steps_per_second, 6)
         + " by the published problem, "
         + readable(plan.scheduled_steps_per_second, 6) + " with "
         + std::to_string(plan.chunks) + " chunks; at most "
         + readable(plan.upper_bound, 6) + " (gap " + percent(plan.gap)
         + ")\n\n";
  std::vector<std::vector<std::string>> rows{{"peer", "computes", "samples/s",
                                              "up Mbit/s", "down Mbit/s",
                                              "averages", "limited by"}};
  for (std::size_t i = 0; i < plan.peers.size() && i < most_rows; ++i) {
    const auto& part = plan.peers[i];
    const auto& peer = problem.peers[i];
    rows.push_back({harmless(part.id), part.computes ? "yes" : "no",
                    readable(peer.samples_per_second), bandwidth(peer.upload),
                    bandwidth(peer.download), percent(part.share),
                    harmless(part.binding)});
  }
  out += table(rows);
  if (plan.peers.size() > most_rows)
    out += "... and " + std::to_string(plan.peers.size() - most_rows)
           + " more; --json has all\n";
  out += "\n" + best_gain(problem, plan) + "\n";
  std::size_t shown = 0;
  for (const auto& x : plan.relays) {
    if (++shown > 20) {
      out += "... and " + std::to_string(plan.relays.size() - 20)
             + " more relays\n";
      break;
    }
    out += harmless(x.over) + " forwards from " + harmless(x.from) + " to "
           + harmless(x.to) + "\n";
  }
  out += "solver: " + plan.solver + "\n";
  return out;
}

std::string plan_format_help() {
  return R"(Input (bytes per second throughout):
  {"target_batch": B, "gradient_bytes": P,
   "peers": [{"id": "a", "samples_per_second": s, "upload": u, "download": d,
              "computes": true, "holds_model": true}],
   "links": [{"from": "a", "to": "b", "limit": t}]}
  computes     true, false, or left out: the planner decides
  holds_model  false: an auxiliary peer, which needs no mean (default true)
  links        one that is not named has no limit; 0: cannot talk
  Optional for a peer: "listens": false (a client, averages for nobody), and
  "seen_upload", "seen_download", "seen_samples_per_second": the most that was
  observed of it, above which nothing is believed.

Output of --json, one object:
  steps_per_second            the published objective
  scheduled_steps_per_second  what the chunk schedule reaches: each chunk is
                              averaged in one place
  compute_steps_per_second    of computing alone
  averaging_steps_per_second  of averaging alone, as a and g give it; where
                              nothing has to travel, as fast as computing
  upper_bound, gap            no plan has more steps per second; the part that
                              is missing
  strategy                    all-reduce, parameter server, byteps,
                              decentralised, mixed, relayed, alone, none
  compute_seconds, averaging_seconds   of one step of the schedule
  computes                    id to boolean
  shares, chunks              id to the fraction, and number of chunks, that it
                              averages
  a, g                        gradients and means: lists of {from, to, rate},
                              local ones included; null above 256 peers
  binding                     id to what limits it: "upload", "download",
                              "link to ID", "link from ID", "compute", or "-"
  gains                       steps per second that one more unit would add:
                              upload, download, samples_per_second (id to gain),
                              and auxiliary: one more auxiliary peer with a
                              median line {upload, download, steps_per_second}
  relays                      {from, to, over}: who forwards what cannot go
                              directly
  findings                    {verdict, peer, field, sentence}: what was
                              excluded, clamped or noted of the input
  digest                      equal for equal input and plan
  solver, seconds             how, and how long it took

Changes for --what-if: 'a.upload=2e6' (null: left out), 'a>b=1e6' (a link; null: no
limit), 'target_batch=512', '-b' (remove), '+x:upload=1e7,download=1e7,
computes=false,holds_model=false' (add; no spaces).

Examples: tools/plans/*.json. An impossible network is a plan with strategy none;
the exit status is 2 when there is nothing that can be planned.
)";
}

} // namespace potluck::tools
