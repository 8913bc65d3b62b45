#pragma once
// The torch wheel ships c10d's ProcessGroupGloo.hpp and its library, but not Gloo's own headers, which that file includes.
// These headers declare only the types that it names. Only the library creates objects of these types.

#include <chrono>
#include <memory>

namespace gloo {

namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport

class Context {
public:
    void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
