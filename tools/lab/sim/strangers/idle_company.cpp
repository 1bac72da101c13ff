// Manners of strangers that take places: of connections, and in groups.

#include "messages/limits.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// As the fastest line that peers believe in.
constexpr double great_line = 1e10;

class idle : public manner {
  bool greets() const override {
    return false;
  }
};

/// Joins and never gets further.
class identities : public manner {
  void opened(stranger& me, line& on) override {
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.phase = phase::joining;
    x.step = 0;
    x.history_samples = 0;
    x.samples = 0;
    x.state = {};
    me.say(on, x);
  }
};

/// Accepts every invitation, and is silent in the round; now and then it leaves
/// when one begins.
class bad_company : public manner {
public:
  void opened(stranger& me, line& on) override {
    tell(me, on);
  }

  void tries(stranger& me) override {
    if (++tries_ % tries_a_report == 0)
      for (auto* on : me.open_lines())
        tell(me, *on);
  }

  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto invited = std::get_if<group_invite>(&what))
      accept(me, on, *invited);
    else if (std::holds_alternative<group_start>(what)
             && me.chance().below(4) == 0)
      me.hang_up(on);
  }

protected:
  virtual void colour(progress_report&) const = 0;
  virtual std::uint64_t samples() const = 0;

private:
  void tell(stranger& me, const line& on) {
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.upload_bytes_per_second = great_line;
    x.download_bytes_per_second = great_line;
    colour(x);
    me.say(on, x);
  }

  void accept(stranger& me, const line& on, const group_invite& to) {
    group_answer yes;
    yes.group = to.group;
    yes.accepted = true;
    yes.samples = samples();
    yes.loss_sum = 0;
    yes.upload_bytes_per_second = great_line;
    yes.download_bytes_per_second = great_line;
    me.say(on, yes);
  }

  unsigned tries_ = 0;
};

class auxiliaries : public bad_company {
  potluck::role role() const override {
    return role::auxiliary;
  }
  bool is_hub() const override {
    return true;
  }
  void colour(progress_report& x) const override {
    x.phase = phase::waiting;
    x.samples = 0;
    x.samples_per_second = 0;
  }
  std::uint64_t samples() const override {
    return 0;
  }
};

class big_claim : public bad_company {
  void colour(progress_report& x) const override {
    x.phase = phase::accumulating;
    x.samples = max_samples;
    x.samples_per_second = 1e9;
  }
  std::uint64_t samples() const override {
    return max_samples;
  }
};

} // namespace

manner_makers idle_company() {
  return {{"idle", make<idle>},
          {"identities", make<identities>},
          {"auxiliaries", make<auxiliaries>},
          {"big_claim", make<big_claim>}};
}

} // namespace potluck::simulation
