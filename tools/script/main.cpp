/// `potluck-script`: LibTorch for `models/script`, which starts it and speaks
/// to it through a socket; nobody types it.
///
/// A program of its own, since a run's file of TorchScript is a stranger's: it
/// is confined before it reads one (runtime/sandbox).
#include "tools/script/script_service.hpp"

int main(int argc, char** argv) {
  return potluck::serve_script(argc, argv);
}
