// Copies a box of elements: `n` of them, of `bytes` bytes each. The first one is element `from_first`, and comes to element
// `to_first`. Per dimension, the fastest first: how many points there are, and how many elements lie between two of them
// on each side; a dimension that there is not has one point.
extern "C" __global__ void __launch_bounds__(256) copy_box(
    const unsigned char *__restrict__ from, unsigned char *__restrict__ to, unsigned long long n,
    unsigned long long bytes, long long from_first, long long to_first, unsigned long long points_0, long long from_0,
    long long to_0, unsigned long long points_1, long long from_1, long long to_1, unsigned long long points_2,
    long long from_2, long long to_2, long long from_3, long long to_3)
{
    const unsigned long long at = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
    if (at < n) {
        const unsigned long long in_2 = at / points_0 / points_1;
        const long long i = (long long)(at % points_0), j = (long long)(at / points_0 % points_1);
        const long long k = (long long)(in_2 % points_2), l = (long long)(in_2 / points_2);
        const long long source = from_first + i * from_0 + j * from_1 + k * from_2 + l * from_3;
        const long long target = to_first + i * to_0 + j * to_1 + k * to_2 + l * to_3;
        if (bytes == 8) {
            ((unsigned long long *)to)[target] = ((const unsigned long long *)from)[source];
        } else if (bytes == 4) {
            ((unsigned *)to)[target] = ((const unsigned *)from)[source];
        } else if (bytes == 2) {
            ((unsigned short *)to)[target] = ((const unsigned short *)from)[source];
        } else {
            to[target] = from[source];
        }
    }
}
