/// A TorchScript file as what it is, a ZIP archive of Python-like code, pickles
/// and tensors, read without running anything of it. Torch-free.
///
/// LibTorch runs code of a file while it loads it. So a file is looked at here
/// first, and what LibTorch gets is not the file but an archive that is written
/// anew from the records which were looked at: two readers that take one file
/// apart in two ways see the same.
#pragma once

#include <string>
#include <string_view>

#include "messages/expected.hpp"
#include "models/script/script_limits.hpp"

namespace potluck {

/// The records that loading needs, each once and not compressed, as an archive.
/// Fails with half a sentence ("is no TorchScript file: ...") when the bytes
/// are no such archive, when a limit is met, and when anything in it would run
/// while it is loaded, or is not TorchScript's own: a `__setstate__`, classes
/// of C++, pickled values of other kinds than tensors, numbers and texts.
expected<std::string> checked_archive(std::string_view file,
                                      const script_limits& most = {});

} // namespace potluck
