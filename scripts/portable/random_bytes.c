/* What libexpat needs besides the functions of glibc 2.34: arc4random_buf came with glibc 2.36. Expat seeds its hash tables with it. */
#include <stdlib.h>
#include <sys/random.h>

void arc4random_buf(void* bytes, size_t size);

__attribute__((visibility("hidden"))) void arc4random_buf(void* bytes, size_t size) {
    for (char* at = bytes; size > 0;) {
        const ssize_t got = getrandom(at, size, 0);
        if (got < 0) continue; /* interrupted by a signal */
        at += got;
        size -= (size_t)got;
    }
}
