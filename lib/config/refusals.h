#pragma once
// Collects several errors into one message.

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// The ConfigErrors of one request.
class Refusals {
public:
    /// Calls something(). Keeps the message of a ConfigError that it throws.
    template <class Something>
    void attempt(const Something& something) {
        try {
            something();
        } catch (const ConfigError& error) { keep(error.what()); }
    }

    /// @throws ConfigError if there are errors: the only message as it is, or a line for each of several (at most 30)
    void throw_if_any() const;

private:
    void keep(std::string message);

    std::vector<std::string> first_;  ///< at most 30
    std::size_t count_ = 0;
};

}  // namespace bertpretrain
