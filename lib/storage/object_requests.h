#pragma once
// Requests to a store, signed and repeated where that may help.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "storage/aws_credentials.h"
#include "storage/http_transfer.h"
#include "storage/object_url.h"

namespace bertpretrain {

struct StorageSettings {
    double stall_seconds = 30;                               ///< a transfer without a byte for so long is started again
    double give_up_seconds = 600;                            ///< without any progress, an error
    std::function<void(const std::string& warning)> warn{};  ///< empty: log_warning
    double first_pause_seconds = 0.1;                        ///< after a failure; each further pause is twice as long, up to 10 s
};

/// One request of a key.
struct ObjectRequest {
    std::string method = "GET";
    std::string key{};
    std::map<std::string, std::string> query{};
    std::vector<std::string> headers{};
    std::optional<std::string_view> body{};
    const HttpSource* source = nullptr;
    std::function<void(std::string_view part, long status)> sink{};
    std::stop_token stop{};
    std::string if_refused{};  ///< what to do where access is refused, for the message; empty: check the credentials
};

/// Where an object lies, and what a request for it needs.
struct RemoteAddress {
    std::string text;                    ///< as the user gave it
    ObjectUrl store;                     ///< the bucket or the server; its key is empty
    std::string key{};                   ///< the object's, with every slash that the user wrote; of http, percent-encoded
    std::vector<std::string> headers{};  ///< of each request: the hub's token. Never printed
    std::string if_refused{};            ///< what to do where access is refused; empty: what ObjectRequests says

    /// Whether it names a folder of objects: it has no key, or ends with a slash.
    bool is_folder() const { return key.empty() || key.ends_with('/'); }
};

/// Sends requests to one bucket or HTTP server. Thread-safe.
///
/// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names a store other than AWS's own. Such a store, and a bucket whose name has a dot,
/// are addressed as HOST/BUCKET/KEY, others as BUCKET.HOST/KEY. Redirections are followed, up to three per request, but not from
/// https to http: to the bucket's region on AWS, else to the address that the answer names. Another server never gets the header
/// Authorization that a caller gave.
class ObjectRequests {
public:
    /// @param credentials for s3:// folders; their variables name the endpoint and the region, too
    ObjectRequests(ObjectUrl folder, std::shared_ptr<AwsCredentialSource> credentials, StorageSettings settings);

    /// Sends one request. An answer without a status, but with a `failure`, is a failure that may pass, also one of the service
    /// that gives the credentials. @throws ConfigError without credentials or libcurl
    HttpAnswer once(const ObjectRequest& request);
    /// Repeats a request that `attempt` sends, with growing pauses, while the answer is a failure that may pass: no or an
    /// incomplete response, 408, 429, 5xx, an error of the store whose code says so, and expired credentials that are not in
    /// variables. The time starts again after an attempt that made progress.
    /// @param attempt @returns its answer; sets `progress`
    /// @returns the first other answer  @throws DistributedError after give_up_seconds, or when `stop` is requested
    HttpAnswer repeat(const std::string& key, const std::function<HttpAnswer(bool& progress)>& attempt,
                      const std::stop_token& stop = {});
    /// once(), repeated.
    HttpAnswer send(const ObjectRequest& request);

    /// The error for an answer that is neither a success nor worth repeating.
    /// @throws ConfigError for a refused access, DataError for a missing object, else DistributedError
    [[noreturn]] void refuse(const ObjectRequest& request, const HttpAnswer& answer) const;
    /// "s3://bucket/key"
    std::string name_of(const std::string& key) const;

private:
    /// Where requests go.
    struct Place {
        std::string origin, path;  ///< "https://host:port", "/bucket" or ""
        std::string region;
        std::string url{};  ///< of a redirected request that is not signed, instead of the others
    };
    Place place_on_aws(const std::string& region) const;
    Place place();
    HttpRequest http_request(const ObjectRequest& request, const Place& place);
    /// Returns where an answer redirects the request to; nullopt if it does not.
    std::optional<Place> redirection(const ObjectRequest& request, const HttpAnswer& answer, const Place& from);

    ObjectUrl folder_;
    StorageSettings settings_;
    bool is_on_aws_ = false;  ///< no other store is named
    std::mutex mutex_;        ///< protects place_
    Place place_;
    std::shared_ptr<AwsCredentialSource> credentials_;  ///< null: requests are not signed
};

}  // namespace bertpretrain
