/// The peers that share a transport (faces.hpp), as its loop's thread knows
/// them.
#pragma once

#include <map>
#include <memory>

#include "runtime/ports/transport.hpp"
#include "runtime/uv/tls_context.hpp"

namespace potluck {

/// One of them: its certificate, and who is told of its connections.
struct transport_face {
  peer_id id;                       ///< Empty when insecure.
  std::shared_ptr<tls_context> tls; ///< Null when insecure.
  std::shared_ptr<transport_listener> listener;
  bool quiet = true; ///< Nothing passed at the last look.
};

using shared_face = std::shared_ptr<transport_face>;

class face_list {
public:
  /// Who is shown to diallers that ask for nobody else.
  explicit face_list(shared_face main) : main_(std::move(main)) {
  }

  const shared_face& main() const {
    return main_;
  }
  bool is_main(const shared_face& who) const {
    return who->id == main_->id;
  }
  void add(const shared_face& who) {
    all_[who->id] = who;
    if (!is_main(who))
      main_->tls->add_face(who->id, *who->tls);
  }
  void remove(const shared_face& who) {
    all_.erase(who->id);
    if (!is_main(who))
      main_->tls->remove_face(who->id);
  }
  bool has(const shared_face& who) const {
    return named(who->id) == who;
  }
  /// Null when it is not here.
  shared_face named(const peer_id& id) const {
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : found->second;
  }
  /// Who has shown this certificate; null when it is not here any more.
  shared_face that_shows(const ssl_ctx_st* what) const {
    if (!main_->tls || what == main_->tls->native())
      return named(main_->id);
    for (const auto& [id, face] : all_)
      if (face->tls->native() == what)
        return face;
    return nullptr;
  }
  const std::map<peer_id, shared_face>& all() const {
    return all_;
  }

private:
  const shared_face main_; ///< Its listener may be another's of its id.
  std::map<peer_id, shared_face> all_;
};

} // namespace potluck
