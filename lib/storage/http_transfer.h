#pragma once
// One HTTP request through libcurl, without retries.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A body that is read in parts while it is sent.
struct HttpSource {
    std::uint64_t bytes = 0;
    std::function<void(std::uint64_t first, std::span<unsigned char> to)> read_at;
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    std::vector<std::string> headers;      ///< "Name: value"
    std::optional<std::string_view> body;  ///< must outlive the transfer
    const HttpSource* source = nullptr;    ///< of a PUT, instead of `body`; must outlive the transfer
    /// Gets the body of a response with status 200 or 206 (a range), in parts. If empty, the body goes to HttpAnswer::text.
    std::function<void(std::string_view part, long status)> sink;
    double connect_seconds = 10;
    double stall_seconds = 30;  ///< a transfer without a byte for so long has failed
    std::stop_token stop;       ///< ends the transfer within about a second
};

struct HttpAnswer {
    long status = 0;                             ///< 0: there was no response
    std::string failure;                         ///< why no complete response arrived; empty: it did
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string text;                            ///< the body where no sink got it; of an error, at most 64 KiB

    bool ok() const { return failure.empty() && status >= 200 && status < 300; }
};

/// Blocks until the response is complete or has failed. Rethrows an exception of the sink or source. Thread-safe. Keeps
/// connections open for the calling thread's next request. @throws ConfigError when there is no libcurl
HttpAnswer transfer(const HttpRequest& request);

}  // namespace bertpretrain
