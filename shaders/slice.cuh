// A plane of an array, close together, so that only that is read back: `n` elements of `bytes` bytes, of which the first
// one is element `first`. Per dimension, the fastest first: how many points there are, and how many elements lie between
// two of them; a dimension that there is not has one point.
extern "C" __global__ void __launch_bounds__(256) slice(
    const unsigned char *__restrict__ whole, unsigned char *__restrict__ cut, unsigned long long n,
    unsigned long long bytes, unsigned long long first, unsigned long long points_0, unsigned long long between_0,
    unsigned long long points_1, unsigned long long between_1, unsigned long long points_2,
    unsigned long long between_2, unsigned long long between_3)
{
    const unsigned long long at = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
    if (at < n) {
        const unsigned long long in_2 = at / points_0 / points_1;
        const unsigned long long from = first + at % points_0 * between_0 + at / points_0 % points_1 * between_1
            + in_2 % points_2 * between_2 + in_2 / points_2 * between_3;
        if (bytes == 8) {
            ((unsigned long long *)cut)[at] = ((const unsigned long long *)whole)[from];
        } else if (bytes == 4) {
            ((unsigned *)cut)[at] = ((const unsigned *)whole)[from];
        } else if (bytes == 2) {
            ((unsigned short *)cut)[at] = ((const unsigned short *)whole)[from];
        } else {
            cut[at] = whole[from];
        }
    }
}
