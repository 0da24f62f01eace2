// Implements the reading of auth files.
#include "credentials/auth_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/base64.hpp"
#include "base/files.hpp"
#include "base/try.hpp"
#include "oci/reference.hpp"

namespace coracle::credentials {

namespace {

using oci::Fields;
using oci::Json;

constexpr Bytes most_auth_text = 1_MiB;

bool strip_front(std::string_view& text, std::string_view front) {
    if (!text.starts_with(front)) return false;
    text.remove_prefix(front.size());
    return true;
}

bool strip_back(std::string_view& text, std::string_view back) {
    if (!text.ends_with(back)) return false;
    text.remove_suffix(back.size());
    return true;
}

// The member of `object` whose key covers `name` best: the longest, and of equals the one that is written like it.
template <class Accept>
std::optional<std::string> best_key(const Json* object, std::string_view name, Accept accept) {
    std::optional<std::string> best;
    std::size_t best_rank = 0;
    if (object == nullptr) return best;
    for (const auto& [key, value] : object->items()) {
        const std::string normal = normal_registry(key);
        const std::size_t rank = 2 * normal.size() + (normal == key ? 1 : 0);
        if (!oci::covers(normal, name) || rank <= best_rank || !accept(value)) continue;
        best = key;
        best_rank = rank;
    }
    return best;
}

Result<const Json*> object_in(const Json& document, const char* key, const std::string& file) {
    const auto found = document.find(key);
    if (found == document.end() || found->is_null()) return static_cast<const Json*>(nullptr);
    if (!found->is_object()) return make_error(ErrorCode::corrupt, file + ": '" + key + "' is not a JSON object");
    return &*found;
}

// "dXNlcjpwYXNz": up to the first colon it is the user, a password may have more of them.
Result<> take_auth(std::string_view auth, const Fields& fields, Credentials& credentials) {
    const auto pair = base::from_base64(auth);
    const std::size_t colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos) return fields.wrong("auth", "base64 of USER:PASSWORD");
    credentials.username = pair->substr(0, colon);
    credentials.password = pair->substr(colon + 1);
    return {};
}

Result<Credentials> credentials_in(const Json& value, std::string what) {
    TRY(const Fields fields, Fields::of(value, std::move(what)));
    Credentials credentials;
    TRY(credentials.username, fields.string_or_empty("username"));
    TRY(credentials.password, fields.string_or_empty("password"));
    TRY(credentials.identity_token, fields.string_or_empty("identitytoken"));
    TRY(const std::string auth, fields.string_or_empty("auth"));
    if (!auth.empty()) TRY_OK(take_auth(auth, fields, credentials));
    return credentials;
}

}  // namespace

std::string normal_registry(std::string_view written) {
    std::string_view name = written;
    const bool url = strip_front(name, "https://") || strip_front(name, "http://");
    if (url) {
        name = name.substr(0, name.find('/'));
    } else {
        while (strip_back(name, "/")) {
        }
        if (!strip_back(name, "/v1")) strip_back(name, "/v2");
    }
    for (const std::string_view hub : {"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}) {
        if (oci::covers(hub, name)) return "docker.io" + std::string(name.substr(hub.size()));
    }
    return std::string(name);
}

Result<std::optional<AuthFile>> AuthFile::read(const std::filesystem::path& path) {
    auto fd = base::open_regular_at(AT_FDCWD, path.string());
    if (!fd && (fd.error().os_errno == ENOENT || fd.error().os_errno == ENOTDIR)) return std::optional<AuthFile>();
    if (!fd) return std::move(fd).error();
    TRY(const std::string text, base::read_all(fd.value().get(), most_auth_text, path.string()));
    TRY(AuthFile file, parse(text, path));
    struct stat status {};
    file.others_may_read_ = ::fstat(fd.value().get(), &status) == 0 && (status.st_mode & 077U) != 0;
    return std::optional(std::move(file));
}

Result<AuthFile> AuthFile::parse(std::string_view text, const std::filesystem::path& path) {
    const std::string name = "'" + path.string() + "'";
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return AuthFile(Json::object(), name);
    // The parser's own words quote the text, and the text holds passwords.
    auto document = oci::parse_json(text, name);
    if (!document || !document.value().is_object()) {
        return make_error(ErrorCode::corrupt, name + ": not a JSON object",
                          "repair the file, or remove it and log in again");
    }
    return AuthFile(std::move(document).value(), name);
}

Result<std::optional<Credentials>> AuthFile::entry(std::string_view name) const {
    TRY(const Json* auths, object_in(document_, "auths", name_));
    // An empty entry says that a credsStore has them; it may not hide a shorter key.
    const auto key = best_key(auths, name, [](const Json& value) { return !value.is_object() || !value.empty(); });
    if (!key) return std::optional<Credentials>();
    TRY(Credentials found, credentials_in(auths->at(*key), name_ + ": auths '" + *key + "'"));
    const bool empty = found.username.empty() && found.password.empty() && found.identity_token.empty();
    return empty ? std::optional<Credentials>() : std::optional(std::move(found));
}

Result<std::optional<std::string>> AuthFile::helper(std::string_view name) const {
    TRY(const Json* helpers, object_in(document_, "credHelpers", name_));
    const auto key = best_key(helpers, name, [](const Json&) { return true; });
    if (!key) return std::optional<std::string>();
    TRY(const Fields fields, Fields::of(*helpers, name_ + ": credHelpers"));
    TRY(std::string helper, fields.required_string(key->c_str()));
    return std::optional(std::move(helper));
}

Result<std::string> AuthFile::store() const {
    TRY(const Fields fields, Fields::of(document_, name_));
    return fields.string_or_empty("credsStore");
}

Result<Json*> AuthFile::auths() {
    TRY_OK(object_in(document_, "auths", name_));
    Json& auths = document_["auths"];
    if (auths.is_null()) auths = Json::object();
    return &auths;
}

Result<> AuthFile::put(const std::string& registry, const Credentials& added) {
    TRY(Json* const entries, auths());
    Json entry = Json::object();
    if (!added.username.empty()) entry["auth"] = base::base64(added.username + ":" + added.password);
    if (!added.identity_token.empty()) entry["identitytoken"] = added.identity_token;
    std::string kept = registry;
    for (const auto& [key, value] : entries->items()) {
        if (normal_registry(key) == registry) kept = key;
    }
    TRY_OK(remove(registry));
    (*entries)[kept] = std::move(entry);
    return {};
}

Result<bool> AuthFile::remove(const std::string& registry) {
    TRY(Json* const entries, auths());
    const std::size_t before = entries->size();
    for (auto entry = entries->begin(); entry != entries->end();) {
        entry = normal_registry(entry.key()) == registry ? entries->erase(entry) : std::next(entry);
    }
    return entries->size() < before;
}

Result<bool> AuthFile::remove_all() {
    TRY(Json* const entries, auths());
    const bool any = !entries->empty();
    entries->clear();
    return any;
}

std::string AuthFile::text() const { return document_.dump(4, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace coracle::credentials
