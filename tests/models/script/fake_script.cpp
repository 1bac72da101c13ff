/// `potluck-script` without its first two layers: the sandbox alone.
#include "tools/script/script_service.hpp"

int main(int argc, char** argv) {
  potluck::script_checks none;
  none.archive = false;
  none.operators = false;
  return potluck::serve_script(argc, argv, none);
}
