#include "text/wiki/entities.h"

#include <algorithm>
#include <unordered_map>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

using Names = std::unordered_map<std::string_view, char32_t>;

// The names of U+00A0 to U+00FF, in order.
constexpr std::string_view latin_names[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",   "laquo",
    "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",  "para",   "middot",
    "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave", "Iacute", "Icirc",  "Iuml",
    "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute",
    "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

// Greek small letters from U+03B1 and capitals from U+0391, where the final sigma's position is unassigned.
constexpr std::string_view greek_names[] = {
    "alpha", "beta",    "gamma", "delta", "epsilon", "zeta",  "eta", "theta",   "iota", "kappa", "lambda", "mu",   "nu",
    "xi",    "omicron", "pi",    "rho",   "sigmaf",  "sigma", "tau", "upsilon", "phi",  "chi",   "psi",    "omega"};
constexpr std::string_view greek_capitals[] = {
    "Alpha", "Beta",    "Gamma", "Delta", "Epsilon", "Zeta",  "Eta", "Theta",   "Iota", "Kappa", "Lambda", "Mu",   "Nu",
    "Xi",    "Omicron", "Pi",    "Rho",   "",        "Sigma", "Tau", "Upsilon", "Phi",  "Chi",   "Psi",    "Omega"};

struct Named {
    std::string_view name;
    char32_t character;
};
constexpr Named others[] = {
    {"amp", U'&'},       {"lt", U'<'},       {"gt", U'>'},        {"quot", U'"'},     {"apos", U'\''},    {"ndash", 0x2013},
    {"mdash", 0x2014},   {"horbar", 0x2015}, {"lsquo", 0x2018},   {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"ldquo", 0x201C},
    {"rdquo", 0x201D},   {"bdquo", 0x201E},  {"lsaquo", 0x2039},  {"rsaquo", 0x203A}, {"dagger", 0x2020}, {"Dagger", 0x2021},
    {"bull", 0x2022},    {"hellip", 0x2026}, {"permil", 0x2030},  {"prime", 0x2032},  {"Prime", 0x2033},  {"oline", 0x203E},
    {"frasl", 0x2044},   {"euro", 0x20AC},   {"trade", 0x2122},   {"image", 0x2111},  {"real", 0x211C},   {"weierp", 0x2118},
    {"alefsym", 0x2135}, {"larr", 0x2190},   {"uarr", 0x2191},    {"rarr", 0x2192},   {"darr", 0x2193},   {"harr", 0x2194},
    {"rArr", 0x21D2},    {"lArr", 0x21D0},   {"hArr", 0x21D4},    {"forall", 0x2200}, {"part", 0x2202},   {"exist", 0x2203},
    {"empty", 0x2205},   {"nabla", 0x2207},  {"isin", 0x2208},    {"notin", 0x2209},  {"ni", 0x220B},     {"prod", 0x220F},
    {"sum", 0x2211},     {"minus", 0x2212},  {"lowast", 0x2217},  {"radic", 0x221A},  {"prop", 0x221D},   {"infin", 0x221E},
    {"ang", 0x2220},     {"and", 0x2227},    {"or", 0x2228},      {"cap", 0x2229},    {"cup", 0x222A},    {"int", 0x222B},
    {"there4", 0x2234},  {"sim", 0x223C},    {"cong", 0x2245},    {"asymp", 0x2248},  {"ne", 0x2260},     {"equiv", 0x2261},
    {"le", 0x2264},      {"ge", 0x2265},     {"sub", 0x2282},     {"sup", 0x2283},    {"nsub", 0x2284},   {"sube", 0x2286},
    {"supe", 0x2287},    {"oplus", 0x2295},  {"otimes", 0x2297},  {"perp", 0x22A5},   {"sdot", 0x22C5},   {"lang", 0x27E8},
    {"rang", 0x27E9},    {"loz", 0x25CA},    {"spades", 0x2660},  {"clubs", 0x2663},  {"hearts", 0x2665}, {"diams", 0x2666},
    {"OElig", 0x152},    {"oelig", 0x153},   {"Scaron", 0x160},   {"scaron", 0x161},  {"Yuml", 0x178},    {"fnof", 0x192},
    {"circ", 0x2C6},     {"tilde", 0x2DC},   {"thetasym", 0x3D1}, {"upsih", 0x3D2},   {"piv", 0x3D6},     {"ensp", 0x2002},
    {"emsp", 0x2003},    {"thinsp", 0x2009}, {"hairsp", 0x200A},  {"zwnj", 0x200C},   {"zwj", 0x200D},    {"lrm", 0x200E},
    {"rlm", 0x200F},     {"lceil", 0x2308},  {"rceil", 0x2309},   {"lfloor", 0x230A}, {"rfloor", 0x230B}, {"lbrack", U'['},
    {"rbrack", U']'},    {"lbrace", U'{'},   {"rbrace", U'}'},    {"vert", U'|'},     {"num", U'#'},      {"ast", U'*'},
    {"equals", U'='}};

constexpr char32_t windows_1252[32] = {0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                       0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                       0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

Names make_names() {
    Names names;
    char32_t next = 0xA0;
    for (const std::string_view name : latin_names) names[name] = next++;
    for (std::size_t i = 0; i < std::size(greek_names); ++i) {
        names[greek_names[i]] = static_cast<char32_t>(0x3B1 + i);
        if (!greek_capitals[i].empty()) names[greek_capitals[i]] = static_cast<char32_t>(0x391 + i);
    }
    for (const Named& named : others) names[named.name] = named.character;
    return names;
}

/// Returns the character of "#8211" or "#x2013"; 0 when `digits` is not a number.
char32_t numbered_character(std::string_view digits) {
    const bool hexadecimal = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
    digits.remove_prefix(hexadecimal ? 2 : 1);
    if (digits.empty()) return 0;
    char32_t value = 0;
    for (const char c : digits) {
        const char lower = ascii_lower(c);
        if (is_ascii_digit(c)) value = value * (hexadecimal ? 16 : 10) + static_cast<char32_t>(c - '0');
        else if (hexadecimal && lower >= 'a' && lower <= 'f') value = value * 16 + static_cast<char32_t>(lower - 'a' + 10);
        else return 0;
        value = std::min<char32_t>(value, 0x110000);
    }
    if (value >= 0x80 && value < 0xA0) return windows_1252[value - 0x80];
    const bool is_character = value != 0 && value < 0x110000 && (value < 0xD800 || value > 0xDFFF);
    return is_character ? value : U'\uFFFD';
}

}  // namespace

std::string decode_entities(std::string_view text) {
    static const Names names = make_names();
    constexpr std::size_t longest_reference = 12;  // bounds the lookahead, so that "&&&&..." takes linear time
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t ampersand = std::min(text.find('&', i), text.size());
        decoded.append(text, i, ampersand - i);
        i = ampersand;
        if (i == text.size()) break;
        const std::string_view ahead = text.substr(i + 1, longest_reference);
        const std::size_t end = ahead.find(';');
        const std::string_view name = end == std::string_view::npos ? std::string_view() : ahead.substr(0, end);
        char32_t character = 0;
        if (name.starts_with('#')) character = numbered_character(name);
        else if (const auto known = names.find(name); known != names.end()) character = known->second;
        if (character == 0) {
            decoded += text[i++];
        } else {
            append_code_point(decoded, character);
            i += end + 2;
        }
    }
    return decoded;
}

std::string protect_markup(std::string_view text) {
    constexpr std::string_view meaningful = "[]{}|'<>*#:;=_!-";
    std::string safe;
    for (const char c : text) {
        if (meaningful.find(c) == std::string_view::npos) safe += c;
        else safe += "&#" + std::to_string(static_cast<int>(c)) + ";";
    }
    return safe;
}

}  // namespace bertpretrain
