/// Letters of every kind whose fields are others': what a program says that
/// speaks the language and means harm.
///
/// Begins with the sound ones of tests/messages/samples.hpp, and puts numbers
/// and ids from what it has heard, or such as nobody expects, into their
/// fields.
#pragma once

#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "messages/codec_fields.hpp"
#include "runtime/random.hpp"
#include "tests/messages/samples.hpp"

namespace potluck {

/// @tparam Chance What it does is drawn from that: `below` and `next`, as
///     `random_stream` has them.
template <class Chance>
class basic_scribbler {
public:
  explicit basic_scribbler(Chance chance) : chance_(std::move(chance)) {
  }

  /// Remembers what stands in it.
  void learn(message x) {
    learns_ = true;
    walk_message(x);
    learns_ = false;
  }

  /// One of any kind but what begins and ends a connection.
  message next() {
    auto x = all_[chance_.below(all_.size())];
    while (std::holds_alternative<hello>(x)
           || std::holds_alternative<goodbye>(x)
           || std::holds_alternative<refusal>(x))
      x = all_[chance_.below(all_.size())];
    walk_message(x);
    return x;
  }

  Chance& chance() {
    return chance_;
  }

private:
  static constexpr std::size_t most_known = 256;

  void walk_message(message& x) {
    std::visit([this](auto& y) { this->walk_fields(y); }, x);
  }
  template <class T>
  void walk_fields(T& x) {
    std::apply([this](auto&&... fs) { (this->walk(fs), ...); }, fields(x));
  }

  template <class T>
  static constexpr bool is_row
      = std::is_same_v<
            T,
            address> || std::is_same_v<T, contact> || std::is_same_v<T, slow_pair> || std::is_same_v<T, dht_record> || std::is_same_v<T, group_member> || std::is_same_v<T, group_contract>;

  template <class T>
  void walk(T& x) {
    if constexpr (is_row<T>)
      walk_fields(x);
    else if constexpr (std::is_same_v<T, bool>)
      x = learns_ ? x : x != (chance_.below(8) == 0);
    else if constexpr (std::is_integral_v<T>)
      number(x);
    else if constexpr (std::is_floating_point_v<T>)
      real(x);
    // All else stays: texts, enumerations, columns.
  }
  template <class Field>
  void walk(maybe_field<Field>& x) {
    walk(x.value);
  }
  template <class T>
  void walk(std::vector<T>& x) {
    if (!learns_ && !x.empty() && chance_.below(8) == 0)
      x.resize(chance_.below(2 * x.size()), x.front());
    for (auto& y : x)
      walk(y);
  }
  void walk(std::vector<bool>&) {
  }
  template <class Tag, std::size_t Size>
  void walk(identifier<Tag, Size>& x) {
    auto& known = ids_[Size];
    std::string bytes(x.bytes.begin(), x.bytes.end());
    if (learns_ && known.size() < most_known)
      known.push_back(bytes);
    else if (!learns_ && !known.empty() && chance_.below(4) != 0)
      bytes = known[chance_.below(known.size())];
    std::copy(bytes.begin(), bytes.end(), x.bytes.begin());
  }

  template <class T>
  void number(T& x) {
    if (learns_) {
      if (numbers_.size() < most_known)
        numbers_.push_back(static_cast<std::uint64_t>(x));
      return;
    }
    switch (chance_.below(6)) {
      case 0:
        x = static_cast<T>(chance_.below(4));
        break;
      case 1:
        x = std::numeric_limits<T>::max();
        break;
      case 2:
        if (!numbers_.empty())
          x = static_cast<T>(numbers_[chance_.below(numbers_.size())]
                             + chance_.below(3));
        break;
      default:
        break;
    }
  }
  template <class T>
  void real(T& x) {
    if (learns_)
      return;
    const T all[]{0, -1, std::numeric_limits<T>::max(),
                  std::numeric_limits<T>::infinity(),
                  std::numeric_limits<T>::quiet_NaN()};
    if (chance_.below(4) == 0)
      x = all[chance_.below(5)];
  }

  Chance chance_;
  bool learns_ = false;
  const std::vector<message> all_ = samples::all();
  std::vector<std::uint64_t> numbers_;
  std::map<std::size_t, std::vector<std::string>> ids_; ///< By their sizes.
};

using scribbler = basic_scribbler<random_stream>;

} // namespace potluck
