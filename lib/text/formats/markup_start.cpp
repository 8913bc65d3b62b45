#include "text/formats/markup_start.h"

#include <algorithm>

#include "text/white_space.h"

namespace bertpretrain {
namespace {

bool starts_with_any_case(std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
               return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
           });
}

std::string_view after(std::string_view text, std::string_view end) {
    const std::size_t found = text.find(end);
    return found == std::string_view::npos ? std::string_view() : text.substr(found + end.size());
}

/// What precedes the first element.
struct Prologue {
    std::string_view element;  ///< the text from the first element on; empty: there is none
    bool is_xml = false, is_html = false;
};

Prologue read_prologue(std::string_view text) {
    Prologue prologue;
    for (text = trimmed_start(text); text.starts_with('<'); text = trimmed_start(text)) {
        if (text.starts_with("<!--")) {
            text = after(text, "-->");
        } else if (text.starts_with("<?")) {
            prologue.is_xml = prologue.is_xml || text.starts_with("<?xml");
            text = after(text, "?>");
        } else if (starts_with_any_case(text, "<!doctype")) {
            prologue.is_html = starts_with_any_case(text, "<!doctype html");
            prologue.is_xml = prologue.is_xml || !prologue.is_html;
            const std::size_t end = text.find_first_of("[>");
            text = end != std::string_view::npos && text[end] == '[' ? after(after(text, "]"), ">") : after(text, ">");
        } else {
            prologue.element = text;
            return prologue;
        }
    }
    return prologue;
}

/// Whether the text begins with this element, with attributes or without.
bool begins_element(std::string_view text, std::string_view name) {
    return text.starts_with('<') && text.substr(1).starts_with(name) && text.size() > name.size() + 1 &&
           std::string_view("> \t\r\n/").find(text[name.size() + 1]) != std::string_view::npos;
}

bool is_page(std::string_view text) {
    return begins_element(text, "page") && begins_element(trimmed_start(after(text, ">")), "title");
}

bool begins_inside_page(std::string_view head) {
    std::size_t borders = 0;
    for (std::string_view rest = after(head, "</page>"); !rest.empty(); rest = after(rest, "</page>"))
        if (is_page(trimmed_start(rest)) && ++borders == 2) return true;
    return borders > 0 && head.find("</revision>") < head.find("</page>");
}

bool begins_inside_doc(std::string_view head) { return trimmed_start(after(head, "\n</doc>\n")).starts_with("<doc id=\""); }

}  // namespace

Markup markup_of(std::string_view head) {
    const Prologue prologue = read_prologue(head);
    const std::string_view element = prologue.element;
    const bool is_site = begins_element(element, "siteinfo");
    if (element.starts_with("<mediawiki") || is_page(element) || is_site) return Markup::dump;
    if (element.starts_with("<doc id=") || element.starts_with("<doc url=")) return Markup::doc_elements;
    if (begins_element(element, "feed") && begins_element(trimmed_start(after(element, ">")), "doc")) return Markup::abstracts;
    if (begins_element(element, "Error") && begins_element(trimmed_start(after(element, ">")), "Code"))
        return Markup::store_error;
    if (prologue.is_html || starts_with_any_case(element, "<html")) return Markup::html;
    if (prologue.is_xml) return Markup::xml;
    return begins_inside_page(head) ? Markup::cut_dump : begins_inside_doc(head) ? Markup::cut_docs : Markup::none;
}

}  // namespace bertpretrain
