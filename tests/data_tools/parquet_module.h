#pragma once
// The module that reads Parquet, and why tests skip where it is missing.

#include <string>

#include "support/skip.h"

namespace bertpretrain::testing {

inline const std::string parquet_module = PROGRAM_FOLDER "/libbertpretrain_parquet.so";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr const char* why_no_module = skip::sanitizer;
#else
inline constexpr const char* why_no_module = skip::no_arrow;
#endif

}  // namespace bertpretrain::testing
