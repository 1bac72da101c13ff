/// What the program that sandboxed_program_test.cpp starts can be asked, and
/// how it can be started.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck::test {

constexpr char fake_greeting[] = "here I am";

enum class fake_request : std::uint8_t {
  echo,       ///< The body.
  refuse,     ///< A refusal, with the body as its reason.
  try_all,    ///< What it could do that it should not, one a line.
  allocate,   ///< As much memory as the body says, in MiB, filled.
  fill_stack, ///< Beyond its end.
  spin,       ///< For ever.
  wait,       ///< For ever, at no cost.
  die,        ///< By a null pointer.
  leave,      ///< With status 0.
  babble,     ///< A kind of answer that there is not.
  boast,      ///< An answer with more bytes than anybody allows.
  half,       ///< Half an answer, and the end.
  swap,       ///< What is in the lent memory; the body is put there.
  try_thread, ///< As `try_all`, on a thread that was there before.
};

constexpr std::size_t fake_lent_bytes = 4096;

// Its arguments: MiB of memory, seconds of processor time, and one of these.
constexpr char fake_usual[] = "usual";
constexpr char fake_of_another_build[] = "another-build";
/// It may turn memory into code, and has a second thread.
constexpr char fake_with_code[] = "with-code";
/// The kernel refuses what `confine` wants.
constexpr char fake_on_old_kernel[] = "old-kernel";

} // namespace potluck::test
