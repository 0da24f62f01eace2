// Implements the grammar of image references.
#include "oci/reference.hpp"

#include <algorithm>

namespace coracle::oci {

namespace {

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

// Lower-case letters and digits, joined by '.', '_', '__' or dashes.
bool is_component(std::string_view text) {
    if (text.empty() || !is_lower_alnum(text.front()) || !is_lower_alnum(text.back())) return false;
    for (std::size_t at = 0; at < text.size();) {
        if (is_lower_alnum(text[at])) {
            ++at;
            continue;
        }
        const std::size_t end = static_cast<std::size_t>(
            std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_lower_alnum) - text.begin());
        const std::string_view joint = text.substr(at, end - at);
        const bool dashes = joint.find_first_not_of('-') == std::string_view::npos;
        if (!dashes && joint != "." && joint != "_" && joint != "__") return false;
        at = end;
    }
    return true;
}

// A host has a dot, a port or is "localhost"; otherwise the first component is an ordinary one.
bool is_host(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view host = text.substr(0, colon);
    const std::string_view port = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
    if (host.empty() || !is_alnum(host.front()) || !is_alnum(host.back()) || port.empty() ||
        port.find_first_not_of("0123456789") != std::string_view::npos)
        return false;
    if (host.find('.') == std::string_view::npos && colon == std::string_view::npos && host != "localhost")
        return false;
    return std::all_of(host.begin(), host.end(), [](char c) { return is_alnum(c) || c == '.' || c == '-'; });
}

bool is_name(std::string_view text) {
    if (text.size() > 255) return false;
    for (bool first = true;; first = false) {
        const std::size_t slash = text.find('/');
        const std::string_view part = text.substr(0, slash);
        const bool last = slash == std::string_view::npos;
        if (!is_component(part) && !(first && !last && is_host(part))) return false;
        if (last) return true;
        text.remove_prefix(slash + 1);
    }
}

bool is_tag(std::string_view text) {
    const auto fits = [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; };
    return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
           std::all_of(text.begin(), text.end(), fits);
}

Error refused(std::string_view text) {
    return make_error(ErrorCode::invalid_request, "'" + std::string(text.substr(0, 300)) + "' is not an image name",
                      "write it as NAME, NAME:TAG or NAME@sha256:DIGEST in lower case");
}

}  // namespace

std::string Reference::str() const {
    if (digest) return name.empty() ? digest->str() : name + "@" + digest->str();
    return name + ":" + tag;
}

std::string Reference::familiar() const { return !digest && tag == "latest" ? name : str(); }

bool Reference::names_registry() const {
    const std::size_t slash = name.find('/');
    return slash != std::string::npos && is_host(std::string_view(name).substr(0, slash));
}

Result<Reference> parse_reference(std::string_view text) {
    if (auto bare = Digest::parse(text)) return Reference{"", "", std::move(bare).value()};
    Reference reference;
    std::string_view rest = text;
    if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
        auto digest = Digest::parse(rest.substr(at + 1));
        if (!digest) return refused(text);
        reference.digest = std::move(digest).value();
        rest = rest.substr(0, at);
    }
    const std::size_t colon = rest.rfind(':');
    if (colon != std::string_view::npos && rest.find('/', colon) == std::string_view::npos) {
        if (!is_tag(rest.substr(colon + 1))) return refused(text);
        reference.tag = rest.substr(colon + 1);
        rest = rest.substr(0, colon);
    }
    if (!is_name(rest)) return refused(text);
    reference.name = rest;
    // A digest says exactly which one; the tag beside it is for people.
    if (reference.digest) reference.tag.clear();
    if (!reference.digest && reference.tag.empty()) reference.tag = "latest";
    return reference;
}

Reference reference_from(std::string_view text) {
    std::string name;
    for (char c : text.substr(0, 128)) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (is_lower_alnum(c)) {
            name += c;
        } else if (!name.empty() && is_lower_alnum(name.back())) {
            name += c == '.' || c == '_' ? c : '-';
        }
    }
    while (!name.empty() && !is_lower_alnum(name.back())) name.pop_back();
    return Reference{name.empty() ? "image" : name, "latest", std::nullopt};
}

bool is_registry(std::string_view text) {
    return is_host(text.substr(0, text.find('/'))) && is_name(std::string(text) + "/x");
}

bool covers(std::string_view prefix, std::string_view name) {
    return !prefix.empty() && name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '/');
}

}  // namespace coracle::oci
