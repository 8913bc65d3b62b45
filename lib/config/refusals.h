#pragma once
// Several things may be wrong with a request: they are told together.

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// Keeps what was refused until it is told.
class Refusals {
public:
    /// Calls something that may throw a ConfigError, and keeps what that says.
    template <class Something>
    void attempt(const Something& something) {
        try {
            something();
        } catch (const ConfigError& error) { keep(error.what()); }
    }

    /// @throws ConfigError with what was refused: as it was said, or a line each where there is more than one
    void throw_if_any() const;

private:
    void keep(std::string message);

    std::vector<std::string> first_;  ///< as many as people read
    std::size_t count_ = 0;
};

}  // namespace bertpretrain
