// Catch2 3 brings a main of its own; Catch2 2 makes one here.
#define CATCH_CONFIG_MAIN
#include "support/catch.h"
