// Manners of trainers that are level with the others by what they say, with ids
// that come before theirs, and hold steps up.

#include <algorithm>
#include <map>
#include <vector>

#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

class level_company : public manner {
public:
  std::size_t keys_drawn() const override {
    return 64;
  }

  void opened(stranger& me, line& on) override {
    tell(me, on);
  }

  void tries(stranger& me) override {
    if (++tries_ % tries_a_report == 0)
      tell_all(me);
  }

  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto theirs = std::get_if<progress_report>(&what);
        theirs && theirs->role == role::trainer && theirs->step > step_) {
      step_ = theirs->step;
      tell_all(me);
      begins(me, *theirs);
    } else if (auto invited = std::get_if<group_invite>(&what)) {
      answer(me, on, *invited);
    } else if (auto start = std::get_if<group_start>(&what)) {
      started(me, on, start->contract.group);
    } else if (auto cancel = std::get_if<group_cancel>(&what)) {
      cancelled(on, cancel->group);
    }
  }

protected:
  /// Whether this one of its keys says that it is level.
  virtual bool shows(const stranger&, std::size_t) const {
    return true;
  }
  virtual void begins(stranger&, const progress_report&) {
  }
  virtual void answer(stranger&, line&, const group_invite&) {
  }
  virtual void started(stranger&, line&, const group_id&) {
  }
  virtual void cancelled(line&, const group_id&) {
  }

  static void accept(stranger& me, const line& on, const group_id& group,
                     std::uint64_t samples) {
    group_answer yes;
    yes.group = group;
    yes.accepted = true;
    yes.samples = samples;
    me.say(on, yes);
  }

private:
  void tell(stranger& me, const line& on) {
    if (!shows(me, on.self) || me.heard().reports().empty())
      return;
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.phase = phase::accumulating;
    x.samples = 1;
    me.say(on, x);
  }
  void tell_all(stranger& me) {
    for (auto* on : me.open_lines())
      tell(me, *on);
  }

  unsigned tries_ = 0;
  std::uint64_t step_ = 0;
};

/// Neither leads nor answers.
class never_leads : public level_company {};

/// Accepts with no samples, or one, and is silent in the round.
class empty_handed : public level_company {
  void answer(stranger& me, line& on, const group_invite& to) override {
    accept(me, on, to.group, on.self % 2);
  }
};

/// The same with one key after the other.
class fresh_keys : public level_company {
  static constexpr duration turn = std::chrono::seconds{10};

  bool shows(const stranger& me, std::size_t self) const override {
    const auto turns = static_cast<std::size_t>(me.now() / turn);
    return turns % me.config().identities == self;
  }
  void answer(stranger& me, line& on, const group_invite& to) override {
    if (shows(me, on.self))
      accept(me, on, to.group, 0);
  }
};

/// Invites all as soon as a step begins, and writes no contract.
class false_leaders : public level_company {
  void begins(stranger& me, const progress_report& at) override {
    std::map<std::size_t, group_id> groups;
    for (auto* on : me.open_lines()) {
      auto& group = groups[on->self];
      if (group.empty())
        for (auto& byte : group.bytes)
          byte = static_cast<std::uint8_t>(me.chance().below(256));
      me.say(*on, group_invite{group, at.step + 1, at.state});
    }
  }
};

/// Accepts, and steps back when the round begins.
class turncoats : public level_company {
protected:
  void answer(stranger& me, line& on, const group_invite& to) override {
    accept(me, on, to.group, 1);
  }
  void started(stranger& me, line& on, const group_id& group) override {
    group_answer no;
    no.group = group;
    no.reason = "stepping back";
    me.say(on, no);
  }
};

/// Answers as late as it can, and steps back then.
class last_moment : public turncoats {
  void answer(stranger& me, line& on, const group_invite& to) override {
    owed_.push_back({me.now() + delay_, on.self, on.id, to.group});
  }
  void tries(stranger& me) override {
    turncoats::tries(me);
    for (auto* on : me.open_lines())
      for (const auto& x : owed_)
        if (x.at <= me.now() && x.self == on->self && x.line == on->id)
          accept(me, *on, x.group, 1);
    owed_.erase(std::remove_if(owed_.begin(), owed_.end(),
                               [&](auto& x) { return x.at <= me.now(); }),
                owed_.end());
  }
  void started(stranger& me, line& on, const group_id& group) override {
    delay_ = std::min<duration>(delay_ + delay_ / 4, std::chrono::seconds{25});
    turncoats::started(me, on, group);
  }
  void cancelled(line&, const group_id&) override {
    delay_ -= delay_ / 4;
  }

  struct debt {
    duration at;
    std::size_t self;
    connection_id line;
    group_id group;
  };
  duration delay_ = std::chrono::milliseconds{900};
  std::vector<debt> owed_;
};

} // namespace

manner_makers level_company() {
  return {{"never_leads", make<never_leads>},
          {"empty_handed", make<empty_handed>},
          {"fresh_keys", make<fresh_keys>},
          {"false_leaders", make<false_leaders>},
          {"turncoats", make<turncoats>},
          {"last_moment", make<last_moment>}};
}

} // namespace potluck::simulation
