// Finds seccomp profiles by name or path and tells their forms apart.
#include "policy/seccomp.hpp"

#include <algorithm>

#include "base/did_you_mean.hpp"
#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/seccomp_forms.hpp"

namespace coracle::policy {

namespace {

Error unknown_profile(const std::string& name) {
    std::vector<std::string_view> names = embedded_seccomp_names();
    names.push_back(unconfined_seccomp);
    std::string known;
    for (const std::string_view candidate : names) known += (known.empty() ? "" : ", ") + std::string(candidate);
    return make_error(ErrorCode::not_found, seccomp_context(name) + ": no such profile",
                      base::did_you_mean(
                          name, names, "there are " + known + "; write a file with a slash: ./" + name.substr(0, 256)));
}

}  // namespace

Result<> check_call_names(const Place& where, const std::vector<std::string>& names) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    for (const std::string& name : names) {
        const bool good = !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_letter);
        if (!good) return where.wrong("'" + name.substr(0, 64) + "' cannot be the name of a system call");
    }
    return {};
}

Result<SeccompProfile> parse_seccomp(std::string_view text, const std::vector<std::string>& capabilities) {
    TRY(const Json object, parse_object(text));
    if (object.contains("format")) return read_grouped_form(object, capabilities);
    if (object.contains("defaultAction")) return read_oci_form(object, capabilities);
    return make_error(ErrorCode::invalid_request,
                      "has neither 'format' (coracle's form) nor 'defaultAction' (Docker's)");
}

std::string seccomp_context(const std::string& name_or_path) {
    return "seccomp profile '" + name_or_path.substr(0, 256) + "'";
}

Result<std::string> seccomp_text(const std::string& name_or_path) {
    if (const auto text = embedded_seccomp(name_or_path)) return std::string(*text);
    if (name_or_path.find('/') == std::string::npos) return unknown_profile(name_or_path);
    return base::read_file(name_or_path, 1_MiB).within("seccomp profile");
}

Result<SeccompProfile> find_seccomp(const std::string& name_or_path, const std::vector<std::string>& capabilities) {
    if (name_or_path == unconfined_seccomp) return SeccompProfile{};
    TRY(const std::string text, seccomp_text(name_or_path));
    return parse_seccomp(text, capabilities).within(seccomp_context(name_or_path));
}

}  // namespace coracle::policy
