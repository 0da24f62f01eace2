// Finds seccomp profiles by name or path, tells their forms apart, and prints them canonically.
#include "policy/seccomp.hpp"

#include <algorithm>

#include "base/did_you_mean.hpp"
#include "base/files.hpp"
#include "base/try.hpp"
#include "policy/seccomp_forms.hpp"
#include "policy/seccomp_words.hpp"

namespace coracle::policy {

namespace {

constexpr std::string_view unconfined = "unconfined";

Error unknown_profile(const std::string& name) {
    std::vector<std::string_view> names = embedded_seccomp_names();
    names.push_back(unconfined);
    std::string known;
    for (const std::string_view candidate : names) known += (known.empty() ? "" : ", ") + std::string(candidate);
    return make_error(ErrorCode::not_found, "seccomp profile '" + name.substr(0, 256) + "': no such profile",
                      base::did_you_mean(
                          name, names, "there are " + known + "; write a file with a slash: ./" + name.substr(0, 256)));
}

Result<SeccompProfile> read_profile_file(const std::string& path, const std::vector<std::string>& capabilities) {
    TRY(const std::string text, base::read_file(path, 1_MiB));
    return parse_seccomp(text, capabilities);
}

std::string action_text(const SeccompAction& action) {
    std::string text(word_of(verdict_words, action.verdict));
    if (action.verdict == SeccompVerdict::fail) text += "(" + std::to_string(action.error) + ")";
    return text;
}

std::string test_text(const ArgumentTest& test) {
    return " arg" + std::to_string(test.index) + " " + std::string(word_of(comparison_words, test.comparison)) + " " +
           std::to_string(test.value) + " " + std::to_string(test.value_two);
}

std::string rule_text(const SeccompRule& rule) {
    std::string text = action_text(rule.action);
    for (const ArgumentTest& test : rule.tests) text += test_text(test);
    text += ":";
    for (const std::string& name : rule.names) text += " " + name;
    return text + "\n";
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

Result<SeccompProfile> find_seccomp(const std::string& name_or_path, const std::vector<std::string>& capabilities) {
    if (name_or_path == unconfined) return SeccompProfile{};
    const std::string context = "seccomp profile '" + name_or_path.substr(0, 256) + "'";
    if (const auto text = embedded_seccomp(name_or_path)) return parse_seccomp(*text, capabilities).within(context);
    if (name_or_path.find('/') == std::string::npos) return unknown_profile(name_or_path);
    return read_profile_file(name_or_path, capabilities).within(context);
}

std::string canonical_text(const SeccompProfile& profile) {
    std::string text = "otherwise " + action_text(profile.default_action) + "\n";
    for (const SeccompRule& rule : profile.rules) text += rule_text(rule);
    return text;
}

}  // namespace coracle::policy
