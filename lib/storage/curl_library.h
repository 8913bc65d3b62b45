#pragma once
// The system's libcurl, opened when a store is used. Programs do not link it: it brings about twenty libraries, and the system's
// own one knows where the system keeps the certificates of authorities.

#include <curl/curl.h>

namespace bertpretrain {

struct CurlLibrary {
    decltype(&::curl_easy_init) easy_init;
    decltype(&::curl_easy_setopt) easy_setopt;
    decltype(&::curl_easy_perform) easy_perform;
    decltype(&::curl_easy_reset) easy_reset;
    decltype(&::curl_easy_cleanup) easy_cleanup;
    decltype(&::curl_easy_strerror) easy_strerror;
    decltype(&::curl_slist_append) slist_append;
    decltype(&::curl_slist_free_all) slist_free_all;
};

/// Returns the library; opens it at the first call. Thread-safe. @throws ConfigError when this machine has none
const CurlLibrary& curl_library();

}  // namespace bertpretrain
