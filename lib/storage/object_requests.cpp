#include "storage/object_requests.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/sha256.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "storage/aws_metadata.h"
#include "storage/aws_profile.h"
#include "storage/aws_regions.h"
#include "storage/s3_answers.h"

namespace bertpretrain {
namespace {

constexpr double longest_pause_seconds = 10;

/// A region becomes a part of a host's name.
constexpr std::string_view letters_of_regions = "abcdefghijklmnopqrstuvwxyz0123456789-";

bool may_pass(const HttpAnswer& answer) {
    if (!answer.failure.empty() || answer.status == 408 || answer.status == 429 || answer.status >= 500) return true;
    return (answer.status == 400 || answer.status == 409) && is_passing_error(xml_element(answer.text, "Code"));
}

bool is_expired(const HttpAnswer& answer) {
    return (answer.status == 400 || answer.status == 403) && answer.text.find("ExpiredToken") != std::string::npos;
}

/// "404, NoSuchKey: The specified key does not exist."
std::string reason_of(const HttpAnswer& answer) {
    if (!answer.failure.empty()) return answer.failure;
    const std::string code = xml_element(answer.text, "Code");
    return concat("status ", answer.status, code.empty() ? "" : concat(", ", code, ": ", xml_element(answer.text, "Message")));
}

/// "host:port", without the scheme's own port
std::string host_of(const std::string& origin) {
    std::string host = origin.substr(origin.find("://") + 3);
    if (const std::string port = origin.starts_with("https") ? ":443" : ":80"; host.ends_with(port))
        host.resize(host.size() - port.size());
    return host;
}

/// Sleeps, unless a stop is requested.
void pause(double seconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

}  // namespace

ObjectRequests::ObjectRequests(ObjectUrl folder, std::shared_ptr<AwsCredentialSource> credentials, StorageSettings settings)
    : folder_(std::move(folder)), settings_(std::move(settings)) {
    if (folder_.kind == ObjectUrl::Kind::http) {
        place_.origin = folder_.root;
        return;
    }
    credentials_ = std::move(credentials);
    const Variables& variables = credentials_->variables();
    auto endpoint = variables("AWS_ENDPOINT_URL_S3");
    if (!endpoint) endpoint = variables("AWS_ENDPOINT_URL");
    is_on_aws_ = !endpoint;
    if (is_on_aws_) {
        place_ = place_on_aws(aws_region(variables));
    } else {
        const ObjectUrl url = parse_object_url(*endpoint, "AWS_ENDPOINT_URL");
        place_ = {url.root, concat(url.key.empty() ? "" : "/", url.key, "/", folder_.root), aws_region(variables)};
    }
}

ObjectRequests::Place ObjectRequests::place_on_aws(const std::string& region) const {
    if (folder_.root.find('.') != std::string::npos)  // a wildcard certificate covers no further dot
        return {s3_origin("", region), "/" + folder_.root, region};
    return {s3_origin(folder_.root, region), "", region};
}

ObjectRequests::Place ObjectRequests::place() {
    const std::lock_guard lock(mutex_);
    return place_;
}

std::string ObjectRequests::name_of(const std::string& key) const {
    ObjectUrl url = folder_;
    url.key = key;
    return url.text();
}

HttpRequest ObjectRequests::http_request(const ObjectRequest& request, const Place& place) {
    const std::string path = concat(place.path, "/", percent_encoded(request.key, credentials_ ? "/" : "/%"));
    const std::string query = query_text(request.query);
    HttpRequest http;
    http.method = request.method;
    http.url = place.url.empty() ? concat(place.origin, path, query.empty() ? "" : "?", query) : place.url;
    http.headers = request.headers;
    if (!credentials_ && place.origin != folder_.root)  // a redirection to another server, which may not see a token
        std::erase_if(http.headers, [](const std::string& line) { return line.starts_with("Authorization:"); });
    http.body = request.body;
    http.source = request.source;
    http.sink = request.sink;
    http.stall_seconds = settings_.stall_seconds;
    http.stop = request.stop;
    if (!credentials_) return http;
    // Contents are verified by reading them again, so they are not hashed for the signature.
    const std::string payload = request.body ? "UNSIGNED-PAYLOAD" : hexadecimal(sha256(""));
    for (std::string& line : signed_headers({request.method, host_of(place.origin), path, request.query, payload},
                                            credentials_->get(), place.region, unix_seconds_now()))
        http.headers.push_back(std::move(line));
    return http;
}

std::optional<ObjectRequests::Place> ObjectRequests::redirection(const ObjectRequest& request, const HttpAnswer& answer,
                                                                 const Place& from) {
    const auto header = [&](const char* name) {
        const auto found = answer.headers.find(name);
        return found == answer.headers.end() ? std::string() : found->second;
    };
    const bool is_redirected = answer.status == 301 || answer.status == 302 || answer.status == 307 || answer.status == 308;
    if (is_on_aws_ && (is_redirected || answer.status == 400)) {
        std::string region = header("x-amz-bucket-region");
        if (region.empty()) region = xml_element(answer.text, "Region");
        if (!region.empty() && region != from.region && region.find_first_not_of(letters_of_regions) == region.npos) {
            const std::lock_guard lock(mutex_);
            return place_ = place_on_aws(region);  // of all later requests too
        }
    }
    std::string to = header("location");
    if (to.starts_with('/') && !to.starts_with("//")) to = from.origin + to;
    const bool is_weaker = from.origin.starts_with("https://") && !to.starts_with("https://");
    if (!is_redirected || !is_object_url(to) || to.starts_with("s3://") || is_weaker) return std::nullopt;
    if (!credentials_)
        return Place{.origin = to.substr(0, to.find('/', to.find("://") + 3)), .path = {}, .region = {}, .url = to};
    // The signature covers host and path: both must be known.
    const std::size_t slash = to.find('/', to.find("://") + 3);
    const std::string path = slash == to.npos ? "" : to.substr(slash, to.find('?') - slash);
    const std::string key = "/" + percent_encoded(request.key, "/");
    if (!path.ends_with(key)) return std::nullopt;
    return Place{
        .origin = to.substr(0, slash), .path = path.substr(0, path.size() - key.size()), .region = from.region, .url = {}};
}

HttpAnswer ObjectRequests::once(const ObjectRequest& request) {
    constexpr int most_redirections = 3;
    Place to = place();
    for (int redirections = 0;; ++redirections) {
        HttpAnswer answer;
        try {
            answer = transfer(http_request(request, to));
        } catch (const PassingFailure& failure) {
            answer.failure = failure.reason;
            return answer;
        }
        if (redirections == most_redirections) return answer;
        auto next = redirection(request, answer, to);
        if (!next) return answer;
        to = std::move(*next);
    }
}

HttpAnswer ObjectRequests::repeat(const std::string& key, const std::function<HttpAnswer(bool&)>& attempt,
                                  const std::stop_token& stop) {
    double last_progress = seconds_now();
    for (int failures = 0;; ++failures) {
        bool progress = false;
        HttpAnswer answer = attempt(progress);
        if (stop.stop_requested()) throw DistributedError(concat(name_of(key), ": the transfer was stopped"));
        const bool may_be_renewed = credentials_ && is_expired(answer) && credentials_->forget();
        if (!may_pass(answer) && !may_be_renewed) return answer;
        if (progress) {
            failures = 0;
            last_progress = seconds_now();
        }
        if (seconds_now() - last_progress >= settings_.give_up_seconds)
            throw DistributedError(concat(name_of(key), ": failed for ", duration_text(settings_.give_up_seconds),
                                          ", the last time: ", reason_of(answer), "\n  do: check that ", place().origin,
                                          credentials_ ? " and the service that gives the credentials" : "",
                                          " can be reached from this machine, and start again"));
        constexpr int worth_a_warning = 6;  // about three seconds of failures
        const std::string warning = concat(name_of(key), ": ", reason_of(answer), "; trying again");
        if (failures == worth_a_warning) settings_.warn ? settings_.warn(warning) : log_warning(warning);
        // Many machines may have failed at the same moment; the clock's last digits spread their next attempts.
        const double jitter = 0.5 + 0.5 * std::fmod(unix_seconds_now() * 1e4, 1.0);
        pause(jitter * std::min(longest_pause_seconds, settings_.first_pause_seconds * std::pow(2, failures)), stop);
    }
}

HttpAnswer ObjectRequests::send(const ObjectRequest& request) {
    return repeat(
        request.key, [&](bool&) { return once(request); }, request.stop);
}

void ObjectRequests::refuse(const ObjectRequest& request, const HttpAnswer& answer) const {
    const std::string what = concat(name_of(request.key), ": ", request.method, " failed: ", reason_of(answer));
    if (answer.status == 404) throw DataError(concat(what, "\n  do: check the address; the object may have been deleted"));
    if (answer.status >= 300 && answer.status < 400)
        throw ConfigError(
            concat(what, "\n  do: set AWS_REGION to the bucket's region, or name the address to which the store redirects"));
    if (xml_element(answer.text, "Code") == "RequestTimeTooSkewed") {
        const std::string ours = xml_element(answer.text, "RequestTime"), theirs = xml_element(answer.text, "ServerTime");
        throw ConfigError(
            concat(what, ours.empty() || theirs.empty() ? "" : concat(" (here it is ", ours, ", there ", theirs, ")"),
                   "\n  do: set this machine's clock, for example by chrony; the store accepts a difference of 15 minutes"));
    }
    if (credentials_ && is_expired(answer))
        throw ConfigError(concat(what,
                                 "\n  do: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN to credentials ",
                                 "that are valid, or leave them out where the machine has a role"));
    if (answer.status == 401 || answer.status == 403)
        throw ConfigError(concat(
            what, "\n  do: ",
            request.if_refused.empty() ? "check the credentials, and that they may do this in this bucket" : request.if_refused));
    throw DistributedError(concat(what, "\n  do: look up this answer in the store's manual"));
}

}  // namespace bertpretrain
