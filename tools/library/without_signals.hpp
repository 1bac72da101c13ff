/// Keeps the process's signals from the threads of the library.
#pragma once

#include <csignal>

namespace potluck::library {

/// Threads that start while it lives take no signals.
class without_signals {
public:
  without_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

private:
  sigset_t before_;
};

} // namespace potluck::library
