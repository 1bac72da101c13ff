/// One peer of the demonstration: its process, what it logs, and how that
/// looks.
#pragma once

#include <string>
#include <vector>

#include "tools/lab/child_process.hpp"
#include "tools/lab/demo/demo_screen.hpp"
#include "tools/lab/judge/run_record.hpp"

namespace potluck::tools {

/// Samples of all peers a second, averaging included, in a `step` event.
double speed_of(const logged_event& step);

class demo_peer {
public:
  /// Starts `words`, which say who it is and where it listens, with its log
  /// below `directory`.
  static expected<demo_peer> start(const child_group& family,
                                   const std::string& directory,
                                   const std::string& name,
                                   const std::string& role,
                                   std::vector<std::string> words);

  const std::string& name() const {
    return view_.name;
  }
  /// Where it saves the training state, if it does.
  std::string checkpoint_path() const {
    return base_ + ".checkpoint";
  }

  /// Reads on in its log; returns what is new.
  std::vector<logged_event> news();

  /// Whether it still runs; if not, how it ended is noted.
  bool running();

  /// Ends it at once, as a power cut would.
  void kill();
  /// Asks it to leave.
  void stop();
  /// The process itself: for what else can befall one.
  child_process& process() {
    return process_;
  }
  /// Notes that it was late.
  void mark_late();
  /// Notes what is wrong with it, unless something is already.
  void blame(const std::string& trouble);
  /// Reads its checkpoint, if there is one.
  void read_checkpoint();

  const peer_view& view() const {
    return view_;
  }
  const life_record& record() const {
    return record_;
  }

private:
  demo_peer(child_process process, std::string base);

  void look_at(const logged_event& x);
  std::string last_words() const;

  child_process process_;
  std::string base_; ///< Its files' path, without their endings.
  log_tail tail_;
  peer_view view_;
  life_record record_;
};

} // namespace potluck::tools
