/* Where hook.c finds the data directory and the socket; paths.py finds the same, as a test shows.
 *
 * In: the environment and the place of this program. Out: absolute paths. A path that is too long,
 * or a directory that is gone, gives 0: then there is nothing that a hook could do.
 */
#ifndef HOOK_PATHS_H
#define HOOK_PATHS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

enum { PATH = 4096 };

/* The absolute form of a path, without ".", ".." and doubled slashes, as os.path.abspath has it. */
static int absolute(const char *path, char *out)
{
    char whole[2 * PATH];
    size_t length = 0, root = 1;
    char *piece, *rest;
    if (path[0] == '/') {
        if (snprintf(whole, sizeof whole, "%s", path) >= PATH)
            return 0;
    } else {
        char cwd[PATH];
        if (getcwd(cwd, sizeof cwd) == NULL ||
            snprintf(whole, sizeof whole, "%s/%s", cwd, path) >= PATH)
            return 0;
    }
    if (whole[1] == '/' && whole[2] != '/')
        root = 2; /* POSIX leaves the meaning of exactly two slashes open */
    memset(out, '/', root);
    length = root;
    for (piece = strtok_r(whole, "/", &rest); piece != NULL; piece = strtok_r(NULL, "/", &rest)) {
        size_t size = strlen(piece);
        if (strcmp(piece, ".") == 0)
            continue;
        if (strcmp(piece, "..") == 0) {
            while (length > root && out[--length] != '/')
                continue;
            if (length < root)
                length = root;
            continue;
        }
        if (length > root)
            out[length++] = '/';
        memcpy(out + length, piece, size);
        length += size;
    }
    out[length] = '\0';
    return 1;
}

static const char *user_home(void)
{
    const char *home = getenv("HOME");
    const struct passwd *entry;
    if (home != NULL && *home != '\0')
        return home;
    entry = getpwuid(getuid());
    return entry != NULL ? entry->pw_dir : "";
}

/* The directory in whose bin/ this program lies, if a launcher file is there; else empty. */
static void find_installed(char *out)
{
    char program[PATH], file[PATH + 16];
    struct stat status;
    char *slash;
#ifdef __APPLE__
    char raw[PATH];
    uint32_t size = sizeof raw;
    out[0] = '\0';
    if (_NSGetExecutablePath(raw, &size) != 0 || realpath(raw, program) == NULL)
        return;
#else
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    out[0] = '\0';
    if (size <= 0)
        return;
    program[size] = '\0';
#endif
    if ((slash = strrchr(program, '/')) == NULL)
        return;
    *slash = '\0';
    if ((slash = strrchr(program, '/')) == NULL || strcmp(slash, "/bin") != 0)
        return;
    *slash = '\0';
    snprintf(file, sizeof file, "%s/launcher", program);
    if (stat(file, &status) == 0)
        strcpy(out, program);
}

static int find_directory(const char *installed, char *out)
{
    char path[2 * PATH];
    const char *chosen = getenv("RECOLLECT_HOME");
    if (chosen != NULL && chosen[0] == '~' && (chosen[1] == '\0' || chosen[1] == '/')) {
        if (snprintf(path, sizeof path, "%s%s", user_home(), chosen + 1) >= PATH)
            return 0;
        return absolute(*path != '\0' ? path : "/", out);
    }
    if (chosen != NULL && *chosen != '\0')
        return strlen(chosen) < PATH && absolute(chosen, out);
    if (*installed != '\0') {
        strcpy(out, installed);
        return 1;
    }
    return snprintf(path, sizeof path, "%s/.recollect", user_home()) < PATH && absolute(path, out);
}

/* The socket of a data directory; 0 when there can be none, or not one that is ours. */
static int find_socket(const char *directory, char *out, size_t size)
{
    char folder[PATH + 64];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    uint64_t hash = 0xcbf29ce484222325u;
    struct stat status;
    int length;
    const char *slash = strcmp(directory, "/") == 0 ? "" : "/";
    if ((size_t)snprintf(out, size, "%s%shook.sock", directory, slash) < size)
        return 1;
    while (*directory != '\0')
        hash = (hash ^ (unsigned char)*directory++) * 0x100000001b3u;
    length = snprintf(folder, sizeof folder, "%s/recollect-%lu-%016llx",
                      runtime != NULL && *runtime != '\0' ? runtime : "/tmp",
                      (unsigned long)getuid(), (unsigned long long)hash);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    if ((size_t)snprintf(out, size, "%s/hook.sock", folder) >= size) {
        *out = '\0';
        return 0;
    }
    /* Anyone may make directories in /tmp. */
    return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
           (status.st_mode & 077) == 0;
}

#endif
