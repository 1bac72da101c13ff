/// The charters that a bootstrap keeps for the runs of those who are connected
/// with it, so that joiners get them who cannot reach anybody else.
///
/// Asks a peer for its charter when its hello names one, or when somebody of
/// its run asks. A charter is answered as long as one is connected who holds
/// it: a run that is over is forgotten. Where peers of one run name different
/// ones, that counts which most name, of those whose bytes a connected peer has
/// sent: so nobody has the right one withheld by a name alone. That of a run
/// that an organiser created is its manifest, of which there is one. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/answer_pauses.hpp"

namespace potluck {

class kept_charters {
public:
  /// Charters kept, and their bytes in all; the one used longest ago goes. A
  /// charter is some hundred kilobytes, nearly all of them the tokenizer, and
  /// 16 MiB at most: four strangers cannot fill more than this.
  static constexpr std::size_t most_runs = 64;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  /// One peer is not asked again within this time.
  static constexpr duration pause = std::chrono::milliseconds{900};
  /// One that does not answer for so long has no vote until it does, and may
  /// be asked again.
  static constexpr duration patience = std::chrono::seconds{10};
  /// Peers asked at once who have not said whether they hold one.
  static constexpr std::size_t asked_at_once = 4;

  using bytes = std::shared_ptr<const std::string>;
  using peers = std::vector<peer_id>; ///< To be asked.

  /// The manifest of a run, which the user has given: kept for good.
  bytes keep(const std::string& run, std::string manifest) {
    return given_[run]
           = std::make_shared<const std::string>(std::move(manifest));
  }
  /// A trainer or an auxiliary is connected. @param has As its hello says; may
  /// be empty.
  peers joined(const peer_id& who, const std::string& run, const digest& has,
               time_point now);
  void left(const peer_id& who);

  struct answer {
    bytes what; ///< Null: there is none here, by now.
    peers ask;
    bool again = false; ///< It asks too often: no answer at all, since there
                        ///< may be one.
  };
  /// `from` asks for the charter of a run; it gets that of its own.
  answer requested(const peer_id& from, const std::string& run, time_point now);
  /// One that was asked answers. @returns Why it is no good; empty otherwise.
  std::string answered(const peer_id& from, const std::string& charter,
                       time_point now);

  std::size_t size() const {
    return kept_.size();
  }
  std::size_t total_bytes() const {
    return bytes_;
  }

private:
  struct guest {
    std::string run;
    digest has;        ///< As far as is known.
    bool sent = false; ///< And these are its bytes.
    bool asked = false;
    time_point asked_at{};
    time_point ask_at{}; ///< Not before.
  };
  struct charter_held {
    bytes what;
    digest is;
    time_point used;
  };

  /// Which charter the run's peers hold; empty: nobody has shown it.
  digest favourite(const std::string& run, time_point now) const;
  static void ask(guest& x, time_point now);
  /// What there is to answer; null: nothing.
  bytes answer_for(const std::string& run, time_point now);
  peers whom_to_ask(const std::string& run, const peer_id& asker,
                    time_point now);
  void drop(std::map<std::string, charter_held>::iterator at);
  void make_room(std::size_t needed);

  std::map<peer_id, guest> guests_;
  std::map<std::string, std::map<peer_id, guest*>> runs_; ///< The same.
  std::map<std::string, charter_held> kept_;              ///< By run.
  std::map<std::string, bytes> given_;                    ///< Likewise.
  answer_pauses pauses_;
  std::size_t bytes_ = 0;
};

} // namespace potluck
