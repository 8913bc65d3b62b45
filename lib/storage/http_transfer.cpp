#include "storage/http_transfer.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <memory>

#include "core/error.h"
#include "core/strings.h"
#include "storage/curl_library.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_error_text = 65'536;

struct Transfer {
    const HttpRequest& request;
    HttpAnswer answer;
    std::exception_ptr failure;  ///< of the sink or source
    std::uint64_t sent = 0;      ///< of the source
};

std::string trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
    return std::string(text);
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* user) {
    HttpAnswer& answer = static_cast<Transfer*>(user)->answer;
    const std::string_view line(bytes, size * count);
    if (line.starts_with("HTTP/")) {  // also after "100 Continue"
        answer.headers.clear();
        const std::size_t space = line.find(' ');
        answer.status = space == line.npos ? 0 : std::strtol(line.data() + space, nullptr, 10);
    } else if (const std::size_t colon = line.find(':'); colon != line.npos) {
        std::string name(line.substr(0, colon));
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        answer.headers[name] = trimmed(line.substr(colon + 1));
    }
    return size * count;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view part(bytes, size * count);
    const bool is_content = transfer.answer.status == 200 || transfer.answer.status == 206;
    try {
        if (is_content && transfer.request.sink) transfer.request.sink(part, transfer.answer.status);
        else if (is_content || transfer.answer.text.size() < most_error_text) transfer.answer.text += part;
    } catch (...) {
        transfer.failure = std::current_exception();
        return 0;
    }
    return part.size();
}

std::size_t give_body(char* to, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const HttpSource& source = *transfer.request.source;
    const std::size_t bytes = std::min<std::uint64_t>(size * count, source.bytes - transfer.sent);
    try {
        source.read_at(transfer.sent, {reinterpret_cast<unsigned char*>(to), bytes});
    } catch (...) {
        transfer.failure = std::current_exception();
        return CURL_READFUNC_ABORT;
    }
    transfer.sent += bytes;
    return bytes;
}

/// libcurl begins again where a connection that it kept open was closed by the server.
int seek_in_body(void* user, curl_off_t position, int origin) {
    if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
    static_cast<Transfer*>(user)->sent = static_cast<std::uint64_t>(position);
    return CURL_SEEKFUNC_OK;
}

int look_at_stop(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(user)->request.stop.stop_requested() ? 1 : 0;
}

/// The calling thread's handle, with its open connections.
CURL* handle_of_thread() {
    struct Cleanup {
        void operator()(CURL* handle) const { curl_library().easy_cleanup(handle); }
    };
    thread_local std::unique_ptr<CURL, Cleanup> handle;
    if (!handle) handle.reset(curl_library().easy_init());
    check(handle != nullptr, "libcurl gives no handle");
    curl_library().easy_reset(handle.get());
    return handle.get();
}

struct HeaderList {
    curl_slist* list = nullptr;
    HeaderList() = default;
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;
    ~HeaderList() { curl_library().slist_free_all(list); }
    void add(const std::string& line) { list = curl_library().slist_append(list, line.c_str()); }
};

}  // namespace

HttpAnswer transfer(const HttpRequest& request) {
    const CurlLibrary& curl = curl_library();
    CURL* const handle = handle_of_thread();
    const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(handle, option, value); };
    Transfer running{request, {}, nullptr, 0};
    HeaderList headers;
    for (const std::string& line : request.headers) headers.add(line);
    headers.add("Expect:");  // costs a round trip, and some servers do not know it
    const auto is_type = [](const std::string& line) { return line.starts_with("Content-Type:"); };
    if (request.body && std::ranges::none_of(request.headers, is_type)) headers.add("Content-Type:");

    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PATH_AS_IS, 1L);  // the signature covers the path as it is
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_seconds * 1000));
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(request.stall_seconds)));
    set(CURLOPT_BUFFERSIZE, 262'144L);
    if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
    if (request.body) {
        set(CURLOPT_POSTFIELDS, request.body->empty() ? "" : request.body->data());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    }
    if (request.source != nullptr) {
        set(CURLOPT_UPLOAD, 1L);
        set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.source->bytes));
        set(CURLOPT_READFUNCTION, &give_body);
        set(CURLOPT_READDATA, static_cast<void*>(&running));
        set(CURLOPT_SEEKFUNCTION, &seek_in_body);
        set(CURLOPT_SEEKDATA, static_cast<void*>(&running));
    }
    if (request.method != "GET" && request.method != "HEAD") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_HTTPHEADER, headers.list);
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&running));
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&running));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &look_at_stop);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(&running));
    const CURLcode code = curl.easy_perform(handle);
    if (running.failure) std::rethrow_exception(running.failure);
    if (code != CURLE_OK) running.answer.failure = curl.easy_strerror(code);
    return std::move(running.answer);
}

}  // namespace bertpretrain
