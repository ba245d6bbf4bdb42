#include "cli/application.h"

int main(int argc, char** argv) { return cli::run_application(argc, argv); }
