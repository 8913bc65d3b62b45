#pragma once
// The exception by which the unpickler rejects a pickle.

#include <stdexcept>
#include <string>

namespace bertpretrain {

/// The reason why a pickle is rejected, without the file's name.
struct PickleRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// @throws PickleRefusal
[[noreturn]] inline void refuse_pickle(const std::string& what) { throw PickleRefusal(what); }

}  // namespace bertpretrain
