#include "actors/supervisor.hpp"

#include <algorithm>

namespace potluck {

supervisor::supervisor(caf::scheduled_actor* self, witness started)
    : self_(self), started_(std::move(started)),
      budget_(limits::restarts, limits::restart_window) {
}

void supervisor::add(child_spec spec) {
  children_.push_back({std::move(spec), {}});
  start(children_.back());
}

void supervisor::start(child& c) {
  c.handle = c.spec.start();
  self_->monitor(c.handle);
  if (started_)
    started_(c.spec.name, c.handle);
}

supervisor::verdict supervisor::on_down(const caf::down_msg& x, time_point now,
                                        std::string& ended) {
  auto i = std::find_if(children_.begin(), children_.end(), [&](auto& c) {
    return c.handle && c.handle.address() == x.source;
  });
  if (i == children_.end())
    return verdict::unrelated;
  ended = i->spec.name;
  if (!budget_.allow(now)) {
    children_.erase(i);
    return verdict::exhausted;
  }
  if (i->spec.policy == child_spec::policy::one_for_one) {
    start(*i);
    return verdict::restarted;
  }
  for (auto junior = children_.end(); junior != i + 1;) {
    --junior;
    self_->demonitor(junior->handle);
    self_->send_exit(junior->handle, caf::exit_reason::kill);
  }
  for (; i != children_.end(); ++i)
    start(*i);
  return verdict::restarted;
}

void supervisor::forget(const caf::down_msg& x) {
  children_.erase(std::remove_if(children_.begin(), children_.end(),
                                 [&](const child& c) {
                                   return c.handle.address() == x.source;
                                 }),
                  children_.end());
}

void supervisor::stop() {
  for (auto i = children_.rbegin(); i != children_.rend(); ++i)
    self_->send_exit(i->handle, caf::exit_reason::user_shutdown);
}

void supervisor::kill() {
  for (auto i = children_.rbegin(); i != children_.rend(); ++i)
    self_->send_exit(i->handle, caf::exit_reason::kill);
  children_.clear();
}

} // namespace potluck
