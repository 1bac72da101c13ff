/// Tells this peer's other actors who comes and goes, what other peers report,
/// and where others reach this one: who hears of what.
///
/// A part of the roster, which decides what is news.
#pragma once

#include "actors/handles.hpp"

namespace potluck {

class crier {
public:
  void init(roster_actor::pointer self) {
    self_ = self;
  }
  /// Some may be new: they have not heard the address yet.
  void wire(const roster_handles& w) {
    wired_ = w;
    told_address_ = {};
  }

  /// Of a peer that has come, or is gone.
  template <class News>
  void tell_everybody(const News& news) {
    const auto& w = wired_;
    auto all = [&](const auto&... listeners) { (tell(listeners, news), ...); };
    all(w.router, w.address_keeper, w.charter_shelf, w.hole_maker, w.registrar,
        w.admission_keeper, w.authority, w.artifact_keeper, w.state_keeper,
        w.cell, w.conductor, w.matchmaking, w.averager, w.expert_host,
        w.expert_caller, w.amendment_keeper, w.history_keeper, w.beside);
  }
  /// Those that decide about the run, of a report.
  /// @param has_charter This peer has the run's charter.
  void tell_report(const report_heard& x, bool has_charter);
  /// Those that tell it to others, where this peer is; once.
  void tell_address(const address& where);

private:
  /// An actor that may not be there yet.
  template <class Actor, class News>
  void tell(const Actor& whom, const News& news) {
    if (whom)
      self_->send(whom, news);
  }

  roster_actor::pointer self_ = nullptr;
  roster_handles wired_;
  address told_address_;
};

} // namespace potluck
