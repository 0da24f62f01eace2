// Decides what the image `host` shows and who its program is.
#include "plan/host_image.hpp"

#include <array>

namespace coracle::plan {

namespace {

constexpr std::array paths{
    // Programs and libraries; on hosts with a merged /usr all but the first are links into it.
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    // The dynamic linker.
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    // Which of several programs a name means.
    "/etc/alternatives",
    // Whom TLS trusts: certificates only, never /etc/ssl/private.
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies",
    // Names and numbers that everybody may know.
    "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/nsswitch.conf", "/etc/protocols", "/etc/services",
    "/etc/mime.types", "/etc/locale.conf", "/etc/locale.alias", "/etc/terminfo"};

constexpr const char* passwd =
    "root:x:0:0:root:/root:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr const char* group = "root:x:0:\nnogroup:x:65534:\n";

}  // namespace

std::span<const char* const> host_image_paths() { return paths; }

ImageFacts host_image_facts(const host::HostFacts& host, std::vector<HostPlace> places) {
    ImageFacts facts{.config = {}, .passwd = passwd, .group = group, .host_places = std::move(places)};
    facts.config.os = "linux";
    facts.config.cmd = {"/bin/sh"};
    if (host.privileged) facts.config.user = "65534:65534";
    return facts;
}

}  // namespace coracle::plan
