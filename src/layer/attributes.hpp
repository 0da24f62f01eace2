// Gives files and directories the owner, mode, extended attributes and time that their entry names.
#pragma once

#include <map>
#include <string>

#include "layer/lower_layers.hpp"
#include "layer/parents.hpp"
#include "layer/tar_reader.hpp"

namespace coracle::layer {

// What of an entry's metadata can be given here.
enum class Owners {
    exact,   // root: every owner as it stands
    mapped,  // root of a user namespace: owners outside its map become its root
    caller,  // everything is the caller's; the xattr user.coracle.owner tells another owner ("33:33")
};

// Names of what could not be given, for the report; the first few of each kind suffice.
class Warnings {
public:
    void add(std::string text);
    const std::vector<std::string>& texts() const { return texts_; }

private:
    std::vector<std::string> texts_;
};

class Attributes {
public:
    Attributes(Owners owners, Warnings& warnings) : owners_(owners), warnings_(warnings) {}

    // On an open file or directory.
    Result<> apply(int fd, const Entry& entry) const;
    // On the name itself, which is a symlink or a FIFO: neither is opened.
    Result<> apply_to_name(int parent_fd, const std::string& name, const Entry& entry) const;

private:
    Result<> own(int fd, const char* name, const Entry& entry) const;
    Result<> record_owner(int fd, const Entry& entry) const;
    Result<> set_xattrs(int fd, const Entry& entry) const;
    bool may_keep(const std::string& xattr) const;

    Owners owners_;
    Warnings& warnings_;
};

// Directories get their attributes when everything is in them: writing changes their time, and their mode may forbid
// it. By path, so that a directory that replaces another of the same path takes its place here as well.
class PendingDirectories {
public:
    // A directory without an entry of its own looks as it does in the layers below, else it is root's, 0755.
    void made(const std::string& path, ino_t inode);
    // But the root: whoever stacks the layers gives it its looks.
    bool any_implied() const { return implied_ > 0; }
    // `fd` is the directory that stands under `path` now.
    Result<> described(const std::string& path, int fd, const Entry& entry);
    Result<> apply(int root_fd, const Attributes& attributes, const LowerLayers* lower) &&;

private:
    struct Pending {
        Entry entry;
        bool implied = false;
        ino_t inode = 0;  // to tell it from a later directory behind a link of the same path; 0: the root
    };
    void put(const std::string& path, Pending pending);

    std::map<std::string, Pending> pending_;
    std::size_t implied_ = 0;
};

}  // namespace coracle::layer
