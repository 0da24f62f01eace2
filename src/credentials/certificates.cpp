// Implements the look into the certs.d folders.
#include "credentials/certificates.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/user_dirs.hpp"

namespace coracle::credentials {

namespace {

namespace fs = std::filesystem;

bool has_suffix(const std::string& name, std::string_view suffix) {
    return name.size() > suffix.size() && name.ends_with(suffix) && name.front() != '.';
}

// A key alone is nobody's business here: people keep an authority's ca.key beside its ca.crt.
Result<Certificates> sort_out(const fs::path& folder, std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    const std::set<std::string> all(names.begin(), names.end());
    Certificates found;
    for (const std::string& name : names) {
        if (has_suffix(name, ".crt")) found.authorities.push_back(folder / name);
        if (!has_suffix(name, ".cert")) continue;
        const std::string key = name.substr(0, name.size() - 4) + "key";
        if (!all.contains(key)) {
            return make_error(ErrorCode::invalid_request,
                              "'" + (folder / name).string() + "': the client certificate has no key beside it",
                              "put the key into '" + key + "', or call an authority's certificate NAME.crt");
        }
        if (!found.client) found.client = ClientCertificate{.certificate = folder / name, .key = folder / key};
    }
    return found;
}

}  // namespace

std::vector<fs::path> find_certificate_folders(const std::optional<fs::path>& configured) {
    std::vector<fs::path> folders;
    if (configured) folders.push_back(*configured);
    if (const auto home = base::config_home()) {
        folders.push_back(*home / "coracle/certs.d");
        folders.push_back(*home / "containers/certs.d");
    }
    for (const char* owner : {"coracle", "containers", "docker"})
        folders.push_back(fs::path("/etc") / owner / "certs.d");
    return folders;
}

Result<Certificates> find_certificates(const std::vector<fs::path>& folders, std::string_view host) {
    // The host becomes a file's name.
    if (host.empty() || host.front() == '.' || host.find('/') != std::string_view::npos) return Certificates{};
    for (const fs::path& parent : folders) {
        const fs::path folder = parent / host;
        auto opened = base::open_dir(folder);
        if (!opened && (opened.error().os_errno == ENOENT || opened.error().os_errno == ENOTDIR)) continue;
        if (!opened) return std::move(opened).error().within("certificates of " + std::string(host));
        TRY(auto names, base::list_dir(opened.value().get()).within("'" + folder.string() + "'"));
        return sort_out(folder, std::move(names));
    }
    return Certificates{};
}

}  // namespace coracle::credentials
