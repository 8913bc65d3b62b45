#pragma once
// Catch2 is 2.13 on Debian 12 and 3.x on newer systems; tests use only what both provide.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
