"""Writes `math_reference.txt`: exact values of the transcendental functions, to 60 digits before rounding.

A line holds function, precision, argument bits (two for `pow`), the bits of the correctly rounded
result, and what the exact value has beyond that result, in units in the last place. So the error
of any other result is the distance in representable numbers less that remainder.

The points are drawn with a fixed seed over the whole range of each function; `HARD` adds those
where our functions were found to err most, in searches over some 10^6 points of every range against 113 bits.

Needs Python 3 and mpmath; run it in this folder as `python3 make_math_reference.py`.
"""

import math
import random
import struct

import mpmath as mp

# The remainder of the largest numbers by pi/2 takes 1100 bits beside those of the result.
mp.mp.dps = 400

HARD = {
    "exp": [
        "-0x1.71f0247812c96p+6",
        "-0x1.1a6e62501c8p+4",
        "0x1.8434d9a0f23cp+3",
        "-0x1.182f5618b03fep+9",
        "0x1.40438eece8b94p+6",
        "0x1.4f81376f7f1ep+5",
        "-0x1.a2a4bc2f9840bp+5",
        "-0x1.fb076ed34a9c8p+8",
    ],
    "log": [
        "0x1.6a5a47e31d562p+0",
        "0x1.6a86689fda39fp+0",
        "0x1.65d051819c52dp+0",
        "0x1.3d16a79fc7d57p-1",
        "0x1.6586559b052b8p-1",
        "0x1.9ddad52eb9a0cp+0",
        "0x1.445815216faf6p-1",
        "0x1.406d56bb7f1e3p-1",
    ],
    "log10": [
        "0x1.32a74133d572ep+961",
        "0x1.60136e323dfe9p+0",
        "0x1.01fea4a51c5a1p+0",
        "0x1.e8f3a844bc8c6p-1",
        "0x1.076d22ee8359ep+0",
        "0x1.fab3ede58df2p-1",
        "0x1.64ae7a8a4c433p-41",
        "0x1.009a2a53550f6p+5",
    ],
    "sin": [
        "-0x1.f286008c8853p+1",
        "0x1.d8f1a5ad5926cp+18",
        "0x1.606c04fe0c56ep+2",
        "-0x1.d5af95c71ae29p+45",
        "0x1.614860690f87cp+2",
        "0x1.002f230b9fdbp+16",
        "0x1.82e3712e28f2ep-1",
        "0x1.8e30970fe19e1p-1",
    ],
    "cos": [
        "0x1.9e51121855f8p-1",
        "0x1.97b25396010c4p-1",
        "0x1.92e42ad2b83f6p-1",
        "-0x1.98ce987ec0f4p-1",
        "0x1.96d7f44ceed78p-1",
        "0x1.a057550696fd2p-1",
        "0x1.9d8daac289dc2p-1",
        "0x1.9716a3fa1f7a6p-1",
    ],
    "tan": [
        "0x1.8d45fbd749158p-1",
        "0x1.9c4be4a368788p+18",
        "0x1.8550b4296557dp-1",
        "-0x1.c71d7b9b86c11p+17",
        "-0x1.6abf07cfaa758p+19",
        "-0x1.f527cd84b8aa4p+1",
        "-0x1.1e9520015101cp+95",
        "0x1.8d58629911d0fp-1",
    ],
    "asin": [
        "0x1.dc2387d6e6d9p-2",
        "0x1.1dafb8013524ep-1",
        "0x1.012f51a0467c8p-1",
        "0x1.02d1f5d23a3d2p-1",
        "0x1.13118fb3d62c2p-1",
        "0x1.027fd3cce06d6p-1",
        "0x1.1a0f292f3698ap-1",
        "0x1.e049b1cf7cb56p-2",
    ],
    "acos": [
        "0x1.23f23c147a012p-1",
        "0x1.1a4139ef88bfcp-1",
        "0x1.14ed30e6e115ap-1",
        "0x1.1e5c93ad0c54p-1",
        "0x1.176443e4ebdbcp-1",
        "0x1.1a5c53e6f98d6p-1",
        "0x1.1b3b5bf4ac844p-1",
        "0x1.189df11010989p-1",
    ],
    "atan": [
        "0x1.a84939d56d39dp-2",
        "0x1.a832e9b71baa9p-2",
        "0x1.bd860e68fab1bp-2",
        "0x1.aac4b69f69c35p-2",
        "0x1.bec219a91262dp-2",
        "0x1.a8a5831a85983p-2",
        "0x1.b35540d0890bbp-2",
        "0x1.ac181699e2c17p-2",
    ],
    "sinh": [
        "0x1.6799beda739abp-2",
        "0x1.6f7265c676272p-2",
        "0x1.713ba41801f24p-2",
        "0x1.72a312ed24ad3p-2",
        "0x1.753f79c65aec7p-2",
        "0x1.72c50d1f2f854p-2",
        "0x1.65bc4b4329048p-2",
        "0x1.6766ef427650ap-2",
    ],
    "cosh": [
        "0x1.642778fb150c2p-2",
        "0x1.010ad892acp+3",
        "-0x1.0d249e7b0d7cfp+0",
        "0x1.c029632307b68p+0",
        "0x1.766a45bd03db9p-2",
        "-0x1.3d30ad9a6384p+1",
        "0x1.b178d0f09798p+3",
        "0x1.7723c0d3ee8p-2",
    ],
    "tanh": [
        "0x1.6b6e3adc1a278p-2",
        "0x1.74d41ba72e2fbp-2",
        "0x1.63f81b98e869p-2",
        "0x1.3e4ef7ada916p+1",
        "0x1.7836612312535p-2",
        "0x1.04d566bdedd2p+4",
        "0x1.6d9fb784cd1ebp-2",
        "0x1.814f247cb143bp-2",
    ],
    "asinh": [
        "0x1.fc26ef21ee8e2p-3",
        "0x1.f0b8c124e6e89p-3",
        "0x1.d8d30f5717de8p-3",
        "0x1.ee497710c9415p-3",
        "0x1.fed8aa05acfbep-3",
        "0x1.d8c922309f65ap-3",
        "0x1.ffe32852a04adp-3",
        "0x1.e275e24426284p-3",
    ],
    "acosh": [
        "0x1.07aab10e04cf9p+0",
        "0x1.06e36a9b33ec3p+0",
        "0x1.06e94bf1f007fp+0",
        "0x1.0784602ddfb54p+0",
        "0x1.06e88bce03e28p+0",
        "0x1.0798fa1034437p+0",
        "0x1.0716975746e0ap+0",
        "0x1.0735faa27bab5p+0",
    ],
    "atanh": [
        "0x1.efbbd8f2d3c5ap-3",
        "0x1.ea1112b303412p-3",
        "0x1.e17bf76ad129cp-3",
        "0x1.ec29cfd5ea466p-3",
        "0x1.eeaeed08b4fb8p-3",
        "0x1.d9bfe08a4926p-3",
        "0x1.f57c2991e3695p-3",
        "0x1.f0227ef55ce96p-3",
    ],
    "cbrt": [
        "0x1.71bc1bb141ef8p+0",
        "-0x1.7ebcf66c7b4e3p+249",
        "0x1.2e6088e9e9d5p-619",
        "0x1.071564dbe91c8p+113",
        "-0x1.3045a34e6230ap+3",
        "0x1.a0019f2623c98p+1",
        "-0x1.435f4b0b2c402p-51",
        "-0x1.2164276a6e106p+533",
    ],
    "gamma": [
        "-0x1.3f6472bb64f98p+0",
        "-0x1.2d83cbfe5aab4p+7",
        "-0x1.0cef1ae82194p+6",
        "-0x1.fb0c4331ebdd6p+6",
        "-0x1.fe14305309e3cp+5",
        "-0x1.21e1523d2bd14p+5",
        "-0x1.55d2d2ad058efp+7",
        "-0x1.ff05ee8f40cdap+6",
    ],
    "erf": [
        "0x1.b0b2618c38ap-5",
        "-0x1.b700ce84bbdp-6",
        "0x1.c1b18833ee02p-3",
        "0x1.c17a01915b6c7p-8",
        "0x1.464ed49ad124p-4",
        "-0x1.5a41b3f905cp-6",
        "-0x1.98c5713b7fbp-7",
        "-0x1.a8d0e1e5fa8p-6",
    ],
    "erfc": [
        "0x1.134587156b63bp-1",
        "0x1.12614e65e0f34p-1",
        "0x1.03d3542c15c9dp-1",
        "0x1.14b2058362db8p-1",
        "0x1.26f76db90e4ecp-1",
        "0x1.136c70966afa4p-1",
        "0x1.0e1965da4165cp-1",
        "0x1.22c5dc40478d6p-1",
    ],
    "pow": [
        ("0x1.f9055fd584c08p-15", "0x1.c7539924511f9p+3"),
        ("0x1.792320169d971p-87", "-0x1.fa88c47209b57p-1"),
        ("0x1.acc9b94dc2f15p-401", "-0x1.18f50df1b557fp+1"),
        ("0x1.53e92a7383a26p+5", "0x1.6b22300544e6dp+5"),
        ("0x1.6267eed5e4ba1p+0", "-0x1.b62b7dbd53268p+10"),
        ("0x1.a6602ae7d5cefp+2", "-0x1.a395122a01428p+0"),
        ("0x1.7b236bda96c4ap-130", "-0x1.e3a599fcc25f6p+0"),
        ("0x1.673fe30e783b8p-1", "0x1.c23392cb93a45p+10"),
    ],
}

# The same in single precision.
HARD_SINGLE = {
    "exp": [
        "-0x1.42916ap+6",
        "-0x1.ecd354p-3",
        "0x1.547746p+5",
    ],
    "log": [
        "0x1.67992cp+0",
        "0x1.0b21cp+0",
        "0x1.8c716cp-1",
    ],
    "log10": [
        "0x1.e72e74p+84",
        "0x1.42ffbcp+3",
        "0x1.00e1bp+0",
    ],
    "sin": [
        "0x1.7b3368p+1",
        "0x1.8d90cap+0",
        "0x1.dfbb1cp+18",
    ],
    "cos": [
        "-0x1.0862dp+18",
        "-0x1.9ac668p+2",
        "-0x1.73e046p+18",
    ],
    "tan": [
        "0x1.788f2p-1",
        "0x1.4317b6p+2",
        "0x1.ba8eeap+19",
    ],
    "asin": [
        "-0x1.cbf43cp-4",
        "0x1.4cc632p-1",
        "-0x1.eda4dep-3",
    ],
    "acos": [
        "0x1.02d204p-1",
        "0x1.e450b6p-2",
        "-0x1.0433ecp-1",
    ],
    "atan": [
        "0x1.c0db62p-2",
        "-0x1.3fcca8p+3",
        "0x1.3a5d3cp+1",
    ],
    "sinh": [
        "-0x1.fbe4bp-1",
        "0x1.cceafap-2",
        "-0x1.88db66p+0",
    ],
    "cosh": [
        "0x1.94159cp-2",
        "0x1.21fac2p+1",
        "0x1.cea44ep-2",
    ],
    "tanh": [
        "-0x1.2ff78ep+0",
        "0x1.79eecp+1",
        "-0x1.b62024p-5",
    ],
    "asinh": [
        "-0x1.cb11f6p+117",
        "-0x1.6e9618p+29",
        "0x1.250bf2p-11",
    ],
    "acosh": [
        "0x1.0e03b8p+0",
        "0x1.346ceep+124",
        "0x1.08776cp+0",
    ],
    "atanh": [
        "0x1.ef512ep-1",
        "-0x1.f570dp-3",
        "0x1.2a94e6p-2",
    ],
    "cbrt": [
        "-0x1.a82f42p+2",
        "0x1.ed09dap-47",
        "-0x1.ded8bp-85",
    ],
    "gamma": [
        "0x1.432f4ap+4",
        "-0x1.3288dp+2",
        "-0x1.1ac778p+2",
    ],
    "erf": [
        "0x1.b4384cp-1",
        "0x1.173446p-1",
        "-0x1.ae9464p-3",
    ],
    "erfc": [
        "0x1.1bea34p+1",
        "0x1.718a16p+1",
        "0x1.e0639ep-2",
    ],
    "pow": [
        ("0x1.0196a8p+6", "0x1.7d9d42p+2"),
        ("0x1.301394p+0", "-0x1.9fe2e4p+7"),
        ("0x1.da1f16p+0", "0x1.b2c55ep+6"),
    ],
}


class Format:
    def __init__(self, name, code, integer, digits, lowest):
        self.name, self.code, self.integer = name, code, integer
        self.digits, self.lowest = digits, lowest
        self.width = 2 * struct.calcsize(code)

    def bits(self, x):
        return struct.unpack("<" + self.integer, struct.pack("<" + self.code, x))[0]

    def nearest(self, x):
        """x, a double, in this format."""
        return struct.unpack("<" + self.code, struct.pack("<" + self.code, x))[0]

    def hex(self, x):
        return f"{self.bits(x):0{self.width}x}"


F64 = Format("f64", "d", "Q", 53, -1074)
F32 = Format("f32", "f", "I", 24, -149)


def rounded(form, exact):
    """The correctly rounded value and the remainder in units in the last place; None out of range."""
    if exact == 0:
        return 0.0, mp.mpf(0)
    _, exponent = mp.frexp(exact)
    unit_exponent = max(int(exponent) - form.digits, form.lowest)
    unit = mp.ldexp(1, unit_exponent)
    count = int(mp.nint(exact / unit))
    if count.bit_length() + unit_exponent > (1024 if form is F64 else 128):
        return None
    return math.ldexp(count, unit_exponent), exact / unit - count


def gamma(x):
    return mp.gamma(x)


def cbrt(x):
    return mp.cbrt(x) if x >= 0 else -mp.cbrt(-x)


FUNCTIONS = {
    "exp": (mp.exp, [(-745, 710, 2), (-1, 1, 1), "tiny"]),
    "log": (mp.log, ["positive", (0.5, 2, 2), (0, 100, 1)]),
    "log10": (mp.log10, ["positive", (0.5, 2, 2), (0, 100, 1)]),
    "sin": (mp.sin, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny", "wide"]),
    "cos": (mp.cos, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny", "wide"]),
    "tan": (mp.tan, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny", "wide"]),
    "asin": (mp.asin, [(-1, 1, 2), "tiny"]),
    "acos": (mp.acos, [(-1, 1, 2), "tiny"]),
    "atan": (mp.atan, [(-10, 10, 2), (-1e6, 1e6, 1), "tiny", "wide"]),
    "sinh": (mp.sinh, [(-3, 3, 2), (-700, 700, 1), "tiny"]),
    "cosh": (mp.cosh, [(-3, 3, 2), (-700, 700, 1), "tiny"]),
    "tanh": (mp.tanh, [(-3, 3, 2), (-20, 20, 1), "tiny"]),
    "asinh": (mp.asinh, [(-3, 3, 2), (-1e6, 1e6, 1), "tiny", "wide"]),
    "acosh": (mp.acosh, [(1, 3, 2), (1, 1e6, 1), (1, 1.1, 1)]),
    "atanh": (mp.atanh, [(-1, 1, 2), "tiny"]),
    "cbrt": (cbrt, [(-10, 10, 2), "positive", "tiny"]),
    "gamma": (gamma, [(0.01, 10, 2), (-10, 0, 1), (10, 170, 1), (-184, -10, 1), "tiny"]),
    "erf": (mp.erf, [(-3, 3, 2), (-6, 6, 1), "tiny"]),
    "erfc": (mp.erfc, [(-3, 3, 2), (-6, 26, 1)]),
}

OURS = ["exp", "log", "log10"]


def draw(form, kind, rng):
    largest = 1023 if form is F64 else 127
    if kind == "positive":
        return math.ldexp(rng.uniform(1, 2), rng.randint(form.lowest, largest))
    if kind == "wide":
        return rng.choice([-1, 1]) * math.ldexp(rng.uniform(1, 2), rng.randint(0, largest))
    if kind == "tiny":
        return rng.choice([-1, 1]) * math.ldexp(rng.uniform(1, 2), rng.randint(-60, -3))
    low, high, _ = kind
    if form is F32 and high > 100:
        low, high = low / 8, high / 8
    return rng.uniform(low, high)


def draw_pow(form, rng):
    kind = rng.randrange(4)
    reach = 745 if form is F64 else 103
    if kind == 0:
        x = rng.uniform(0.7, 1.42)
    elif kind == 1:
        return rng.uniform(0, 100), rng.uniform(-10, 10)
    elif kind == 2:
        return rng.uniform(-100, 100), float(rng.randint(-20, 20))
    else:
        x = draw(form, "positive", rng)
    x = form.nearest(x)
    return x, rng.uniform(-reach, reach) / math.log(x) if x != 1 else 1.0


def main():
    rng = random.Random(20)
    lines = [
        "# Exact values of functions; see make_math_reference.py, which wrote this file.",
        "# function precision argument... rounded remainder",
    ]
    for form in (F64, F32):
        for name, (function, kinds) in FUNCTIONS.items():
            count = (240 if name in OURS else 80) // (1 if form is F64 else 2)
            weighted = [kind for kind in kinds for _ in range(kind[2] if isinstance(kind, tuple) else 1)]
            points = [form.nearest(draw(form, weighted[i % len(weighted)], rng)) for i in range(count)]
            points += [float.fromhex(x) for x in (HARD if form is F64 else HARD_SINGLE)[name]]
            for x in points:
                result = rounded(form, function(mp.mpf(x)))
                if result is not None:
                    lines.append(f"{name} {form.name} {form.hex(x)} {form.hex(result[0])} {float(result[1]):.4f}")
        points = [draw_pow(form, rng) for _ in range(300 if form is F64 else 150)]
        hard = (HARD if form is F64 else HARD_SINGLE)["pow"]
        points += [tuple(float.fromhex(x) for x in pair) for pair in hard]
        for x, y in points:
            x, y = form.nearest(x), form.nearest(y)
            result = rounded(form, mp.power(mp.mpf(x), mp.mpf(y)))
            if result is not None:
                lines.append(
                    f"pow {form.name} {form.hex(x)} {form.hex(y)} {form.hex(result[0])} {float(result[1]):.4f}"
                )
    with open("math_reference.txt", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


main()
