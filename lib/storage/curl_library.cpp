#include "storage/curl_library.h"

#include <cstring>

#include <dlfcn.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

template <class Function>
void find_symbol(void* library, const char* name, Function& function) {
    void* const found = ::dlsym(library, name);
    if (found == nullptr) throw ConfigError(concat("libcurl has no function ", name, "\n  do: install libcurl 7.75 or newer"));
    std::memcpy(&function, &found, sizeof function);
}

CurlLibrary open_library() {
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
        if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        throw ConfigError(
            "s3:// and http:// need the library libcurl.so.4, which was not found on this machine"
            "\n  do: install it (Debian and Ubuntu: apt-get install libcurl4; Red Hat and Amazon Linux: dnf install libcurl)");
    decltype(&::curl_global_init) global_init = nullptr;
    find_symbol(library, "curl_global_init", global_init);
    CurlLibrary curl{};
    find_symbol(library, "curl_easy_init", curl.easy_init);
    find_symbol(library, "curl_easy_setopt", curl.easy_setopt);
    find_symbol(library, "curl_easy_perform", curl.easy_perform);
    find_symbol(library, "curl_easy_reset", curl.easy_reset);
    find_symbol(library, "curl_easy_cleanup", curl.easy_cleanup);
    find_symbol(library, "curl_easy_strerror", curl.easy_strerror);
    find_symbol(library, "curl_slist_append", curl.slist_append);
    find_symbol(library, "curl_slist_free_all", curl.slist_free_all);
    check(global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "libcurl could not be initialized");
    return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
    static const CurlLibrary library = open_library();
    return library;
}

}  // namespace bertpretrain
