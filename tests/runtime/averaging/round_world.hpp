/// A group in one round without network or time: members, FIFO channels, and
/// every step that can happen next. Copyable, so that a search can branch.
#pragma once

#include <deque>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "runtime/averaging/round_agreement.hpp"

namespace potluck::testing {

struct means_request {};
struct means_reply {
  digest mean;
};
using parcel = std::variant<round_message, means_request, means_reply>;

inline peer_id peer(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

inline digest mean_number(std::size_t i) {
  digest x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

struct round_setting {
  std::size_t trainers = 2;
  std::size_t auxiliaries = 0;
  /// Digest number of each trainer's own mean vector; missing ones are 0.
  std::vector<std::size_t> means;

  std::size_t size() const {
    return trainers + auxiliaries;
  }
  digest mean_of(std::size_t i) const {
    return mean_number(i < means.size() ? means[i] : 0);
  }
};

inline group_contract contract_of(const round_setting& x) {
  group_contract result;
  result.group.bytes[0] = 7;
  for (std::size_t i = 0; i < x.size(); ++i) {
    group_member member;
    member.who.id = peer(i);
    member.role = i < x.trainers ? role::trainer : role::auxiliary;
    member.samples = 1;
    result.members.push_back(member);
  }
  return result;
}

struct step {
  enum kind { deliver, means, crash, hang, notice, expire } what;
  std::size_t a = 0; ///< Sender, or the member that it happens to (but expire).
  std::size_t b = 0; ///< Receiver, or the member that is noticed to be lost.
};

class round_world {
public:
  explicit round_world(const round_setting& setting)
      : setting_{&setting}, n_{setting.size()}, channels_(n_ * n_) {
    auto contract = contract_of(setting);
    for (std::size_t i = 0; i < n_; ++i) {
      members_.push_back({round_agreement{contract, peer(i)},
                          false,
                          false,
                          {},
                          {},
                          i < setting.trainers,
                          0,
                          {}});
      members_.back().noticed.assign(n_, false);
    }
  }

  bool alive(std::size_t i) const {
    return !members_[i].crashed && !members_[i].hung;
  }
  const round_agreement& of(std::size_t i) const {
    return members_[i].agreement;
  }
  bool decided(std::size_t i) const {
    return members_[i].decisions == 1;
  }
  std::size_t losses() const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < n_; ++i)
      result += !alive(i);
    return result;
  }

  /// Deliveries and notices: what happens by itself, without deadlines.
  std::vector<step> inevitable() const {
    std::vector<step> result;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        if (i == j || !alive(j))
          continue;
        if (!channels_[i * n_ + j].empty())
          result.push_back({step::deliver, i, j});
        if (members_[i].crashed && !members_[j].noticed[i])
          result.push_back({step::notice, j, i});
      }
    return result;
  }

  /// Means that may arrive; after a loss they may as well never do.
  std::vector<step> possible_means() const {
    std::vector<step> result;
    for (std::size_t i = 0; i < n_; ++i)
      if (alive(i) && members_[i].means_pending
          && !members_[i].agreement.frozen())
        result.push_back({step::means, i, i});
    return result;
  }

  void take(const step& x) {
    auto& m = members_[x.a];
    switch (x.what) {
      case step::deliver: {
        auto& channel = channels_[x.a * n_ + x.b];
        auto what = std::move(channel.front());
        channel.pop_front();
        arrive(x.a, x.b, what);
        break;
      }
      case step::means:
        m.means_pending = false;
        m.held = setting_->mean_of(x.a);
        act(x.a, m.agreement.all_means_here(m.held));
        break;
      case step::crash:
      case step::hang:
        (x.what == step::crash ? m.crashed : m.hung) = true;
        for (std::size_t i = 0; i < n_; ++i)
          channels_[i * n_ + x.a].clear();
        break;
      case step::notice:
        // What had not arrived by then never will.
        m.noticed[x.b] = true;
        channels_[x.b * n_ + x.a].clear();
        act(x.a, m.agreement.member_lost(peer(x.b)));
        break;
      case step::expire:
        // The patience of everybody who lives ends, before anything they do
        // about it arrives: nobody's deadline is much longer than another's.
        ++expiries_;
        for (std::size_t i = 0; i < n_; ++i)
          if (alive(i) && members_[i].agreement.waiting())
            act(i, members_[i].agreement.expired());
        break;
    }
  }

  /// One member's deadline alone, as on a machine that runs late.
  void expire_only(std::size_t i) {
    act(i, members_[i].agreement.expired());
  }

  std::size_t expiries() const {
    return expiries_;
  }

  /// Parcels sent so far to members that were not known to be lost.
  std::size_t posted() const {
    return posted_;
  }

  /// A sentence when two members that live have decided differently.
  std::string disagreement() const {
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j)
        if (i != j && alive(i) && alive(j) && decided(i) && decided(j)
            && i < setting_->trainers) {
          if (members_[i].outcome.commit != members_[j].outcome.commit)
            return "members " + std::to_string(i) + " and " + std::to_string(j)
                   + " decided differently";
          if (members_[i].outcome.mean != members_[j].outcome.mean)
            return "members committed different means";
        }
    return {};
  }

  std::string key() const {
    std::string result(1, static_cast<char>(expiries_));
    for (std::size_t i = 0; i < n_; ++i) {
      const auto& m = members_[i];
      result.push_back(static_cast<char>(
          m.crashed | m.hung << 1 | m.means_pending << 2 | m.decisions << 3));
      if (!alive(i))
        continue;
      result += m.agreement.fingerprint();
      for (bool x : m.noticed)
        result.push_back(x);
      result.push_back(static_cast<char>(m.held.bytes[0]));
    }
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      result.push_back(static_cast<char>(channels_[c].size()));
      if (alive(c % n_))
        for (const auto& x : channels_[c])
          describe(x, result);
    }
    return result;
  }

private:
  struct member {
    round_agreement agreement;
    bool crashed;
    bool hung;
    std::vector<bool> noticed;
    digest held; ///< Of the vector at hand; empty when incomplete.
    bool means_pending;
    int decisions;
    round_decision outcome;
  };

  static void describe(const parcel& x, std::string& out) {
    out.push_back(static_cast<char>(x.index()));
    if (auto* reply = std::get_if<means_reply>(&x))
      out.push_back(static_cast<char>(reply->mean.bytes[0]));
    if (auto* what = std::get_if<round_message>(&x)) {
      out.push_back(static_cast<char>(what->index()));
      if (auto* p = std::get_if<round_prepared>(what))
        out.push_back(static_cast<char>(p->mean.bytes[0]));
      if (auto* p = std::get_if<round_settle>(what))
        out.push_back(static_cast<char>(p->epoch));
      if (auto* p = std::get_if<round_standing>(what)) {
        out.push_back(static_cast<char>(p->epoch));
        out.push_back(static_cast<char>(p->standing));
        out.push_back(static_cast<char>(p->mean.bytes[0]));
      }
      if (auto* p = std::get_if<round_verdict>(what)) {
        out.push_back(static_cast<char>(p->epoch));
        out.push_back(static_cast<char>(p->commit));
        out.push_back(static_cast<char>(p->mean.bytes[0]));
        out.push_back(static_cast<char>(p->holder.bytes[0]));
      }
    }
  }

  void arrive(std::size_t from, std::size_t to, const parcel& what) {
    auto& m = members_[to];
    if (auto* x = std::get_if<round_message>(&what)) {
      act(to, m.agreement.receive(peer(from), *x));
    } else if (std::get_if<means_request>(&what)) {
      if (!m.agreement.holds_means())
        throw std::logic_error{"a member without means is asked for them"};
      post(to, from, means_reply{m.held});
    } else {
      const auto& reply = std::get<means_reply>(what);
      if (m.agreement.fetching())
        m.held = reply.mean;
      act(to, m.agreement.means_fetched(reply.mean));
    }
  }

  void act(std::size_t self, const round_agreement::actions& actions) {
    for (const auto& x : actions) {
      if (auto* send = std::get_if<send_to_member>(&x)) {
        post(self, send->to.bytes[0] - 1u, send->what);
      } else if (auto* fetch = std::get_if<fetch_means>(&x)) {
        post(self, fetch->holder.bytes[0] - 1u, means_request{});
      } else {
        auto& m = members_[self];
        m.outcome = std::get<round_decision>(x);
        if (++m.decisions > 1)
          throw std::logic_error{"a member decided twice"};
        if (m.outcome.commit && m.outcome.mean.empty())
          throw std::logic_error{"a commit names no mean"};
        if (m.outcome.commit && self < setting_->trainers
            && m.held != m.outcome.mean)
          throw std::logic_error{"a trainer committed what it does not hold"};
      }
    }
  }

  void post(std::size_t from, std::size_t to, parcel what) {
    ++posted_;
    if (alive(to) && !members_[to].noticed[from])
      channels_[from * n_ + to].push_back(std::move(what));
  }

  const round_setting* setting_;
  std::size_t n_;
  std::vector<member> members_;
  std::vector<std::deque<parcel>> channels_;
  std::size_t expiries_ = 0;
  std::size_t posted_ = 0;
};

inline std::string to_string(const std::vector<step>& path) {
  static const char* names[]
      = {"deliver", "means", "crash", "hang", "notice", "expire"};
  std::ostringstream out;
  for (const auto& x : path) {
    out << names[x.what] << ' ' << x.a;
    if (x.what == step::deliver || x.what == step::notice)
      out << '>' << x.b;
    out << "; ";
  }
  return out.str();
}

} // namespace potluck::testing
