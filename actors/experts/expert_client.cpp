#include "actors/experts/expert_client.hpp"

namespace potluck {

expert_client::expert_client(worker_mode mode)
    : voice_(std::make_shared<worker>(mode, 0, worker_end::runs_them)) {
}

void expert_client::look_up(
    const std::string& prefix,
    std::function<void(expected<std::vector<std::uint32_t>>)> done) {
  auto x = std::make_shared<prefix_errand>(
      prefix, promised<std::vector<std::uint32_t>>{std::move(done), voice_});
  if (auto caller = line_->current())
    caf::anon_send(caller, ask_prefix{x});
}

void expert_client::call(expert_call what,
                         std::function<void(expected<expert_reply>)> done) {
  auto x = std::make_shared<call_errand>(
      std::move(what), promised<expert_reply>{std::move(done), voice_});
  if (auto caller = line_->current())
    caf::anon_send(caller, place_call{x});
}

} // namespace potluck
