#include "storage/object_requests.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/sha256.h"
#include "core/strings.h"
#include "storage/aws_profile.h"
#include "storage/s3_answers.h"

namespace bertpretrain {
namespace {

constexpr double first_pause_seconds = 0.1, longest_pause_seconds = 10;

bool may_pass(const HttpAnswer& answer) {
    return !answer.failure.empty() || answer.status == 408 || answer.status == 429 || answer.status >= 500;
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

/// Sleeps, unless a stop is requested.
void pause(double seconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

}  // namespace

ObjectRequests::ObjectRequests(ObjectUrl folder, const Variables& variables, StorageSettings settings)
    : folder_(std::move(folder)), settings_(std::move(settings)) {
    if (folder_.kind == ObjectUrl::Kind::http) {
        origin_ = folder_.root;
    } else {
        credentials_ = std::make_unique<AwsCredentialSource>(variables);
        region_ = aws_region(variables);
        auto endpoint = variables("AWS_ENDPOINT_URL_S3");
        if (!endpoint) endpoint = variables("AWS_ENDPOINT_URL");
        if (endpoint) {
            const ObjectUrl url = parse_object_url(*endpoint, "AWS_ENDPOINT_URL");
            origin_ = url.root;
            path_ = concat(url.key.empty() ? "" : "/", url.key, "/", folder_.root);
        } else if (folder_.root.find('.') != std::string::npos) {  // a wildcard certificate covers no further dot
            origin_ = concat("https://s3.", region_, ".amazonaws.com");
            path_ = "/" + folder_.root;
        } else {
            origin_ = concat("https://", folder_.root, ".s3.", region_, ".amazonaws.com");
        }
    }
    host_ = origin_.substr(origin_.find("://") + 3);
    if (const std::string port = origin_.starts_with("https") ? ":443" : ":80"; host_.ends_with(port))
        host_.resize(host_.size() - port.size());
}

std::string ObjectRequests::name_of(const std::string& key) const {
    ObjectUrl url = folder_;
    url.key = key;
    return url.text();
}

HttpAnswer ObjectRequests::once(const ObjectRequest& request) {
    const bool is_signed = credentials_ != nullptr;
    const std::string path = concat(path_, "/", percent_encoded(request.key, is_signed ? "/" : "/%"));
    const std::string query = query_text(request.query);
    HttpRequest http;
    http.method = request.method;
    http.url = concat(origin_, path, query.empty() ? "" : "?", query);
    http.headers = request.headers;
    http.body = request.body;
    http.sink = request.sink;
    http.stall_seconds = settings_.stall_seconds;
    http.stop = request.stop;
    if (is_signed) {
        // Contents are verified by reading them again, so they are not hashed for the signature.
        const std::string payload = request.body ? "UNSIGNED-PAYLOAD" : hexadecimal(sha256(""));
        for (std::string& line : signed_headers({request.method, host_, path, request.query, payload}, credentials_->get(),
                                                region_, unix_seconds_now()))
            http.headers.push_back(std::move(line));
    }
    return transfer(http);
}

HttpAnswer ObjectRequests::repeat(const std::string& key, const std::function<HttpAnswer(bool&)>& attempt,
                                  const std::stop_token& stop) {
    double last_progress = seconds_now();
    for (int failures = 0;; ++failures) {
        bool progress = false;
        HttpAnswer answer = attempt(progress);
        if (stop.stop_requested()) throw DistributedError(concat(name_of(key), ": the transfer was stopped"));
        const bool expired = credentials_ && is_expired(answer);
        if (expired) credentials_->forget();
        if (!may_pass(answer) && !expired) return answer;
        if (progress) {
            failures = 0;
            last_progress = seconds_now();
        }
        if (seconds_now() - last_progress >= settings_.give_up_seconds)
            throw DistributedError(concat(name_of(key), ": failed for ", duration_text(settings_.give_up_seconds),
                                          ", the last time: ", reason_of(answer), "\n  do: check that ", origin_,
                                          " can be reached from this machine, and start again"));
        constexpr int worth_a_warning = 6;  // about three seconds of failures
        const std::string warning = concat(name_of(key), ": ", reason_of(answer), "; trying again");
        if (failures == worth_a_warning) settings_.warn ? settings_.warn(warning) : log_warning(warning);
        // Many machines may have failed at the same moment; the clock's last digits spread their next attempts.
        const double jitter = 0.5 + 0.5 * std::fmod(unix_seconds_now() * 1e4, 1.0);
        pause(jitter * std::min(longest_pause_seconds, first_pause_seconds * std::pow(2, failures)), stop);
    }
}

HttpAnswer ObjectRequests::send(const ObjectRequest& request) {
    return repeat(
        request.key, [&](bool&) { return once(request); }, request.stop);
}

void ObjectRequests::refuse(const ObjectRequest& request, const HttpAnswer& answer) const {
    const std::string what = concat(name_of(request.key), ": ", request.method, " failed: ", reason_of(answer));
    if (answer.status == 404) throw DataError(concat(what, "\n  do: check the address; the object may have been deleted"));
    if (answer.status == 301 || answer.status == 307) {
        const auto region = answer.headers.find("x-amz-bucket-region");
        throw ConfigError(concat(what, "\n  do: set AWS_REGION to the bucket's region",
                                 region == answer.headers.end() ? "" : concat(", ", region->second)));
    }
    if (answer.status == 401 || answer.status == 403)
        throw ConfigError(concat(what, "\n  do: check the credentials, and that they may do this in this bucket"));
    throw DistributedError(concat(what, "\n  do: look up this answer in the store's manual"));
}

}  // namespace bertpretrain
