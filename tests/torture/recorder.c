/* Preloaded into a process: writes down, in order, what it does to files below a directory.
 *
 * RECORDER_ROOT names the directory and RECORDER_LOG the file that takes the steps. A step is a
 * letter, three lengths (path, second path, data) and an offset, then their bytes. Reading stays
 * as it is. tests/torture/disk.py reads the steps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

struct step {
    char what;
    uint32_t path, second, data;
    int64_t offset;
} __attribute__((packed));

/* The path below the root, without its slash, or NULL for one that is elsewhere. */
static const char *below(const char *path) {
    const char *root = getenv("RECORDER_ROOT");
    size_t size = root ? strlen(root) : 0;
    if (!size || strncmp(path, root, size) || (path[size] && path[size] != '/'))
        return NULL;
    return path + size + (path[size] == '/');
}

static const char *absolute(int at, const char *path, char out[PATH_MAX]) {
    char base[PATH_MAX], link[64];
    ssize_t size;
    if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
        return below(out);
    }
    if (at == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    size = readlink(link, base, sizeof base - 1);
    if (size < 0)
        return NULL;
    base[size] = 0;
    if ((size_t)snprintf(out, PATH_MAX, "%s/%s", base, path) >= PATH_MAX)
        return NULL;
    return below(out);
}

static const char *of(int fd, char out[PATH_MAX]) {
    char link[64];
    ssize_t size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, out, PATH_MAX - 1);
    if (size < 0)
        return NULL;
    out[size] = 0;
    return below(out);
}

static void note(char what, const char *path, const char *second, int64_t offset, const void *data,
                 size_t size) {
    struct step step = {what, (uint32_t)strlen(path), (uint32_t)strlen(second), (uint32_t)size,
                        offset};
    struct iovec parts[] = {{&step, sizeof step},
                            {(void *)path, step.path},
                            {(void *)second, step.second},
                            {(void *)data, size}};
    const char *log = getenv("RECORDER_LOG");
    int saved = errno;
    int fd = log ? REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        REAL(writev)(fd, parts, 4); /* one call, so that steps of several processes do not mix */
        REAL(close)(fd);
    }
    errno = saved;
}

static void opened(const char *path, int flags, int was_there) {
    if (!path)
        return;
    if (!was_there && (flags & O_CREAT))
        note('c', path, "", 0, "", 0);
    else if (flags & O_TRUNC)
        note('t', path, "", 0, "", 0);
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    const char *name = flags & (O_CREAT | O_TRUNC) ? absolute(at, path, whole) : NULL;
    int fd, there;
    if (!name)
        return REAL(openat)(at, path, flags, mode);
    pthread_mutex_lock(&order);
    there = faccessat(at, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    fd = REAL(openat)(at, path, flags, mode);
    if (fd >= 0)
        opened(name, flags, there);
    pthread_mutex_unlock(&order);
    return fd;
}

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if (flags & O_CREAT) {                                                                         \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return open_at(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return open_at(at, path, flags, mode); }

/* Do something to a file under the lock, and note it when it succeeded. */
#define RECORDED(type, call, path, step)                                                           \
    type result;                                                                                   \
    if (!(path))                                                                                   \
        return call;                                                                               \
    pthread_mutex_lock(&order);                                                                    \
    result = call;                                                                                 \
    if (result >= 0) {                                                                             \
        step;                                                                                      \
    }                                                                                              \
    pthread_mutex_unlock(&order);                                                                  \
    return result;

ssize_t write(int fd, const void *data, size_t size) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    off_t at = path ? lseek(fd, 0, SEEK_CUR) : 0;
    int flags = path ? fcntl(fd, F_GETFL) : 0;
    struct stat status;
    if (path && (flags & O_APPEND) && fstat(fd, &status) == 0)
        at = status.st_size;
    RECORDED(ssize_t, REAL(write)(fd, data, size), path, note('w', path, "", at, data, (size_t)result))
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(ssize_t, REAL(pwrite)(fd, data, size, at), path, note('w', path, "", at, data, (size_t)result))
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(ssize_t, REAL(pwrite64)(fd, data, size, at), path, note('w', path, "", at, data, (size_t)result))
}

int ftruncate(int fd, off_t size) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(int, REAL(ftruncate)(fd, size), path, note('t', path, "", size, "", 0))
}

int ftruncate64(int fd, off64_t size) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(int, REAL(ftruncate64)(fd, size), path, note('t', path, "", size, "", 0))
}

int fsync(int fd) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(int, REAL(fsync)(fd), path, note('s', path, "", 0, "", 0))
}

int fdatasync(int fd) {
    char whole[PATH_MAX];
    const char *path = of(fd, whole);
    RECORDED(int, REAL(fdatasync)(fd), path, note('s', path, "", 0, "", 0))
}

int rename(const char *from, const char *to) {
    char one[PATH_MAX], two[PATH_MAX];
    const char *path = absolute(AT_FDCWD, from, one), *second = absolute(AT_FDCWD, to, two);
    RECORDED(int, REAL(rename)(from, to), path && second ? path : NULL, note('r', path, second, 0, "", 0))
}

int renameat(int at, const char *from, int other, const char *to) {
    char one[PATH_MAX], two[PATH_MAX];
    const char *path = absolute(at, from, one), *second = absolute(other, to, two);
    RECORDED(int, REAL(renameat)(at, from, other, to), path && second ? path : NULL,
             note('r', path, second, 0, "", 0))
}

int link(const char *from, const char *to) {
    char one[PATH_MAX], two[PATH_MAX];
    const char *path = absolute(AT_FDCWD, from, one), *second = absolute(AT_FDCWD, to, two);
    RECORDED(int, REAL(link)(from, to), path && second ? path : NULL, note('l', path, second, 0, "", 0))
}

int unlink(const char *name) {
    char whole[PATH_MAX];
    const char *path = absolute(AT_FDCWD, name, whole);
    RECORDED(int, REAL(unlink)(name), path, note('u', path, "", 0, "", 0))
}

int unlinkat(int at, const char *name, int flags) {
    char whole[PATH_MAX];
    const char *path = absolute(at, name, whole);
    RECORDED(int, REAL(unlinkat)(at, name, flags), path,
             note(flags & AT_REMOVEDIR ? 'd' : 'u', path, "", 0, "", 0))
}

int mkdir(const char *name, mode_t mode) {
    char whole[PATH_MAX];
    const char *path = absolute(AT_FDCWD, name, whole);
    RECORDED(int, REAL(mkdir)(name, mode), path, note('m', path, "", 0, "", 0))
}

int mkdirat(int at, const char *name, mode_t mode) {
    char whole[PATH_MAX];
    const char *path = absolute(at, name, whole);
    RECORDED(int, REAL(mkdirat)(at, name, mode), path, note('m', path, "", 0, "", 0))
}

int rmdir(const char *name) {
    char whole[PATH_MAX];
    const char *path = absolute(AT_FDCWD, name, whole);
    RECORDED(int, REAL(rmdir)(name), path, note('d', path, "", 0, "", 0))
}
